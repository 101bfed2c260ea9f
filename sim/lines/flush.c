/* SPDX-License-Identifier: MIT */
/* memcg-sim flush: the command. */
#include "lines/lines.h"

#include <stdio.h>

#include "runtime/runtime.h"

static void nothing(void)
{
}

static void begin(void)
{
}

static bool next(struct sim_fibre *f, bool visible, struct sim_action *action)
{
	(void)f;
	(void)visible;
	(void)action;
	return false;
}

static unsigned int pick(struct sim_fibre *f, const uint8_t *ids, unsigned int nr)
{
	(void)f;
	(void)ids;
	(void)nr;
	return 0;
}

/* All of it is setup: alone, on one CPU. */
static int count(const char *key, const char *side, void (*work)(void))
{
	static const struct sim_policy policy = { .begin = begin, .next = next, .pick = pick };
	void (*const threads[])(void) = { nothing };
	const struct sim_run run = {
		.policy = &policy,
		.threads = threads,
		.nr_threads = 1,
		.nr_cpus = 1,
		.setup = work,
		.max_steps = 1000,
	};

	if (!sim_execute(&run) || !sim_noted(LINES_GROUPS)) {
		fprintf(stderr, "memcg-sim flush: %s: %s\n", key, sim.failure.text);
		return 1;
	}
	printf("%s.%s=%.2f\n", key, side, (double)sim_noted(LINES_WRITTEN) / (double)sim_noted(LINES_GROUPS));
	return 0;
}

int sim_flush(void)
{
	return count("flush.lines_written", "kept", lines_kept_reader) ||
	       count("flush.lines_written", "skipped", lines_skipped_reader) ||
	       count("flush.lines_written.worker", "kept", lines_kept_worker) ||
	       count("flush.lines_written.worker", "skipped", lines_skipped_worker);
}
