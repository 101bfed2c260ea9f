/* SPDX-License-Identifier: MIT */
/*
 * Replay files: text, one "key value" a line, then one decision a line:
 *
 *	at T2 41: run T1
 *	at T1/irq 3: drain 0
 *	at main 0: next T2
 */
#include "explore/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const action_names[] = {
	[SIM_ACT_RUN] = "run",     [SIM_ACT_PLACE] = "place", [SIM_ACT_PREEMPT] = "preempt",
	[SIM_ACT_DRAIN] = "drain", [SIM_ACT_IRQ] = "irq",     [SIM_ACT_NEXT] = "next",
};

static struct replay {
	char test[128];         /* name */
	uint64_t seed;          /* of the schedule */
	struct sim_logged *log; /* decisions */
	unsigned int nr;        /* how many */
	unsigned int room;      /* of log */
} replay;

static void print_decision(FILE *out, const struct sim_logged *logged)
{
	char who[16];

	sim_fibre_name(logged->ctx / 2, logged->ctx % 2, who, sizeof(who));
	fprintf(out, "at %s %u: %s", who, logged->n, action_names[logged->action.kind]);
	switch ((enum sim_action_kind)logged->action.kind) {
	case SIM_ACT_RUN:
	case SIM_ACT_NEXT:
		fprintf(out, " T%u\n", logged->action.a);
		break;
	case SIM_ACT_PLACE:
		fprintf(out, " T%u %u\n", logged->action.a, logged->action.b);
		break;
	case SIM_ACT_DRAIN:
		fprintf(out, " %u\n", logged->action.a);
		break;
	case SIM_ACT_PREEMPT:
	case SIM_ACT_IRQ:
		fprintf(out, "\n");
		break;
	}
}

bool sim_file_write(const char *path, const struct sim_schedule *s, const struct sim_logged *log, unsigned int nr)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return false;
	fprintf(out, "memcg-sim replay 1\n");
	fprintf(out, "test %s\n", s->test->name);
	fprintf(out, "seed %" PRIu64 "\n", s->seed);
	fprintf(out, "memory %s\n", s->opts->tso ? "tso" : "sc");
	fprintf(out, "cpus %u\n", s->opts->cpus ? s->opts->cpus : s->test->cpus);
	fprintf(out, "fault %s\n", sim_fault_name(s->opts->fault));
	for (unsigned int i = 0; i < nr; i++)
		print_decision(out, &log[i]);
	return !fclose(out);
}

static bool parse_who(const char *who, uint8_t *ctx)
{
	unsigned int id;
	char rest[8] = "";

	if (!strcmp(who, "main")) {
		*ctx = 0;
		return true;
	}
	if (sscanf(who, "T%u%7s", &id, rest) < 1 || !id || id >= SIM_MAX_FIBRES || (*rest && strcmp(rest, "/irq")))
		return false;
	*ctx = (uint8_t)(id * 2 + (*rest != '\0'));
	return true;
}

static bool parse_decision(const char *line)
{
	char who[16], what[16], arg[16] = "";
	struct sim_logged logged = { .n = 0 };
	unsigned int b = 0;

	if (sscanf(line, "at %15s %u: %15s %15s %u", who, &logged.n, what, arg, &b) < 3 || !parse_who(who, &logged.ctx))
		return false;
	while (logged.action.kind <= SIM_ACT_NEXT && strcmp(what, action_names[logged.action.kind]))
		logged.action.kind++;
	if (logged.action.kind > SIM_ACT_NEXT)
		return false;
	logged.action.a = (uint8_t)strtoul(arg[0] == 'T' ? arg + 1 : arg, NULL, 10);
	logged.action.b = (uint8_t)b;
	if (logged.action.a >= SIM_MAX_FIBRES || b >= SIM_MAX_CPUS)
		return false;
	if (replay.nr == replay.room) {
		replay.room = replay.room ? replay.room * 2 : 64;
		replay.log = realloc(replay.log, replay.room * sizeof(*replay.log));
		if (!replay.log)
			abort();
	}
	replay.log[replay.nr++] = logged;
	return true;
}

static bool parse_line(const char *line, struct sim_options *opts)
{
	char key[16], value[100];

	if (!strncmp(line, "at ", 3))
		return parse_decision(line);
	if (sscanf(line, "%15s %99s", key, value) != 2)
		return false;
	if (!strcmp(key, "test"))
		snprintf(replay.test, sizeof(replay.test), "%s", value);
	else if (!strcmp(key, "seed"))
		replay.seed = strtoull(value, NULL, 10);
	else if (!strcmp(key, "memory"))
		opts->tso = !strcmp(value, "tso");
	else if (!strcmp(key, "cpus"))
		opts->cpus = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(key, "fault"))
		return sim_fault_find(value, &opts->fault);
	else
		return !strcmp(line, "memcg-sim replay 1\n");
	return true;
}

static bool parse(const char *path, struct sim_options *opts)
{
	FILE *in = fopen(path, "r");
	char line[256];
	bool good = in && fgets(line, sizeof(line), in) && !strcmp(line, "memcg-sim replay 1\n");

	while (good && fgets(line, sizeof(line), in))
		good = line[0] == '\n' || line[0] == '#' || parse_line(line, opts);
	if (in)
		fclose(in);
	return good && opts->cpus >= 1 && opts->cpus <= SIM_MAX_CPUS;
}

/* The exit code: 1 when the replay fails as it should, 0 when it does not, 2 for a bad file. */
int sim_file_replay(const char *path, struct sim_options *opts)
{
	struct sim_schedule s;
	const struct sim_test *test;

	if (!parse(path, opts) || !(test = sim_find_test(replay.test))) {
		fprintf(stderr, "memcg-sim: %s is no replay file\n", path);
		return 2;
	}
	sim.fault = opts->fault;
	sim_schedule_init(&s, test, opts, 0);
	s.seed = replay.seed;
	s.scheduler = SIM_SCHED_REPLAY;
	if (sim_schedule_replay(&s, replay.log, replay.nr, true)) {
		printf("replay: test %s: no failure\n", test->name);
		return 0;
	}
	sim_print_failure(&s);
	sim_print_steps(&s);
	return 1;
}
