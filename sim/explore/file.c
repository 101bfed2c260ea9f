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

#define HEADER "memcg-sim replay 1\n"

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
	fputs(HEADER, out);
	fprintf(out, "test %s\n", s->test->name);
	fprintf(out, "seed %" PRIu64 "\n", s->seed);
	fprintf(out, "memory %s\n", s->opts->tso ? "tso" : "sc");
	fprintf(out, "cpus %u\n", s->opts->cpus ? s->opts->cpus : s->test->cpus);
	fprintf(out, "fault %s\n", sim_fault_name(s->opts->fault));
	for (unsigned int i = 0; i < nr; i++)
		print_decision(out, &log[i]);
	return !fclose(out);
}

static bool is(const char *word, const char *name)
{
	return word && strcmp(word, name) == 0;
}

static bool parse_number(const char *word, unsigned long below, unsigned long *number)
{
	char *end;

	if (!word || *word < '0' || *word > '9')
		return false;
	*number = strtoul(word, &end, 10);
	return !*end && *number < below;
}

/* "main", "T2", "T2/irq". */
static bool parse_who(char *who, uint8_t *ctx)
{
	char *irq = who ? strstr(who, "/irq") : NULL;
	unsigned long id;

	*ctx = 0;
	if (is(who, "main"))
		return true;
	if (irq)
		*irq = '\0';
	if (!who || who[0] != 'T' || !parse_number(who + 1, SIM_MAX_FIBRES, &id) || !id)
		return false;
	*ctx = (uint8_t)(id * 2 + (irq != NULL));
	return true;
}

static void add_decision(struct sim_logged logged)
{
	if (replay.nr == replay.room) {
		replay.room = replay.room ? replay.room * 2 : 64;
		replay.log = realloc(replay.log, replay.room * sizeof(*replay.log));
		if (!replay.log)
			abort();
	}
	replay.log[replay.nr++] = logged;
}

/* What follows "at": who, point, what, and up to two numbers. */
static bool parse_decision(char **rest)
{
	char *who = strtok_r(NULL, " ", rest), *point = strtok_r(NULL, " :", rest);
	char *what = strtok_r(NULL, " \n", rest), *first = strtok_r(NULL, " \n", rest);
	char *second = strtok_r(NULL, " \n", rest);
	struct sim_logged logged = { .n = 0 };
	unsigned long n, a = 0, b = 0;

	if (!parse_who(who, &logged.ctx) || !parse_number(point, UINT32_MAX, &n))
		return false;
	while (logged.action.kind <= SIM_ACT_NEXT && !is(what, action_names[logged.action.kind]))
		logged.action.kind++;
	if (logged.action.kind > SIM_ACT_NEXT ||
	    (first && !parse_number(first + (*first == 'T'), SIM_MAX_FIBRES, &a)) ||
	    (second && !parse_number(second, SIM_MAX_CPUS, &b)))
		return false;
	logged.n = (uint32_t)n;
	logged.action.a = (uint8_t)a;
	logged.action.b = (uint8_t)b;
	add_decision(logged);
	return true;
}

static bool parse_line(char *line, struct sim_options *opts)
{
	char *rest, *key = strtok_r(line, " \n", &rest), *value;
	unsigned long number = 0;

	if (is(key, "at"))
		return parse_decision(&rest);
	value = strtok_r(NULL, " \n", &rest);
	if (!value)
		return false;
	if (is(key, "test")) {
		snprintf(replay.test, sizeof(replay.test), "%s", value);
	} else if (is(key, "seed")) {
		replay.seed = strtoull(value, NULL, 10);
	} else if (is(key, "memory")) {
		opts->tso = is(value, "tso");
		return opts->tso || is(value, "sc");
	} else if (is(key, "cpus")) {
		bool good = parse_number(value, SIM_MAX_CPUS + 1, &number);

		opts->cpus = (unsigned int)number;
		return good;
	} else {
		return is(key, "fault") && sim_fault_find(value, &opts->fault);
	}
	return true;
}

static bool parse(const char *path, struct sim_options *opts)
{
	FILE *in = fopen(path, "r");
	char line[256];
	bool good = in && fgets(line, sizeof(line), in) && is(line, HEADER);

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
