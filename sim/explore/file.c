/* SPDX-License-Identifier: MIT */
/* Replay files are written, and replayed (docs/explore.md has their words). */
#include "explore/explore.h"

#include <inttypes.h>
#include <stdio.h>

const char *const sim_action_names[] = {
	[SIM_ACT_RUN] = "run",     [SIM_ACT_PLACE] = "place", [SIM_ACT_PREEMPT] = "preempt",
	[SIM_ACT_DRAIN] = "drain", [SIM_ACT_IRQ] = "irq",     [SIM_ACT_NEXT] = "next",
};

static void print_decision(FILE *out, const struct sim_logged *logged)
{
	char who[16];

	sim_fibre_name(logged->ctx / 2, logged->ctx % 2, who, sizeof(who));
	fprintf(out, "at %s %u: %s", who, logged->n, sim_action_names[logged->action.kind]);
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
	bool bad;

	if (!out)
		return false;
	fprintf(out, "%s\n", sim_file_header);
	fprintf(out, "test %s\n", s->test->name);
	fprintf(out, "seed %" PRIu64 "\n", s->seed);
	fprintf(out, "memory %s\n", s->opts->tso ? "tso" : "sc");
	fprintf(out, "cpus %u\n", s->opts->cpus ? s->opts->cpus : s->test->cpus);
	fprintf(out, "fault %s\n", sim_fault_name(s->opts->fault));
	for (unsigned int i = 0; i < nr; i++)
		print_decision(out, &log[i]);
	bad = ferror(out);
	bad |= fclose(out) != 0;
	if (bad)
		remove(path);
	return !bad;
}

enum {
	MOST_SAID = 5
};

/* How many decisions had no effect; the first of them are said. */
static unsigned int say_unused(const struct sim_file *file)
{
	unsigned int nr = 0;
	char what[64];

	for (unsigned int i = 0; i < file->nr; i++) {
		enum sim_fate fate = sim_replay_fate(i);

		if (fate == SIM_CARRIED_OUT || ++nr > MOST_SAID)
			continue;
		sim_describe_action(file->decisions[i].action, what, sizeof(what));
		sim_error("%s:%u: decision not carried out (%s): %s", file->path, file->lines[i], what,
			  fate == SIM_REFUSED ? "it does not apply at this point" :
						"the run did not come to this point");
	}
	if (nr > MOST_SAID)
		sim_error("%s: and %u more", file->path, nr - MOST_SAID);
	return nr;
}

/*
 * 1 when the replay fails as it should, 0 when it does not, 2 for a file that is bad or
 * does not fit. With another memory than the file's, decisions need not fit.
 */
int sim_file_replay(const char *path, struct sim_options *opts)
{
	struct sim_file file = { .path = path };
	struct sim_schedule s;
	bool ok, other;

	if (!sim_file_read(&file))
		return 2;
	other = opts->own_memory && opts->tso != file.tso;
	if (!other)
		opts->tso = file.tso;
	opts->cpus = file.cpus;
	opts->fault = file.fault;
	sim.fault = opts->fault;
	sim_schedule_init(&s, file.test, opts, 0);
	s.seed = file.seed;
	s.scheduler = SIM_SCHED_REPLAY;
	ok = sim_schedule_replay(&s, file.decisions, file.nr, true);
	if (ok) {
		printf("replay: test %s: no failure\n", file.test->name);
	} else {
		sim_print_failure(&s);
		sim_print_steps(&s);
	}
	fflush(stdout);
	if (say_unused(&file) && !other)
		return 2;
	return ok ? 0 : 1;
}
