/* SPDX-License-Identifier: MIT */
/*
 * Shrinking a failure: the fewest decisions that still show it.
 *
 * Delta debugging: replay with a chunk of the decisions left out, keep what still fails
 * the same way, halve the chunks, until no single decision can be left out. "The same
 * way" is the same kind of failure at the same place in the code, so that shrinking
 * does not wander off to another bug.
 */
#include "explore/explore.h"

#include <stdlib.h>

enum {
	MAX_REPLAYS = 20000,
	MAX_STEPS = 20000000
}; /* patience */

static const struct sim_schedule *schedule;
static struct sim_failure wanted;
static unsigned int replays;
static uint64_t steps;

static bool same_failure(void)
{
	bool anywhere = wanted.kind == SIM_FAIL_DEADLOCK || wanted.kind == SIM_FAIL_LIVELOCK;

	return sim.failure.kind == wanted.kind && (anywhere || sim.failure.pc == wanted.pc);
}

static bool still_fails(const struct sim_logged *log, unsigned int nr)
{
	replays++;
	sim_schedule_replay(schedule, log, nr, false);
	steps += sim.steps;
	return same_failure();
}

/* Leaves out [at, at + len) if that still fails; the new number of decisions. */
static unsigned int try_without(struct sim_logged *log, unsigned int nr, unsigned int at, unsigned int len,
				struct sim_logged *spare)
{
	memcpy(spare, log, at * sizeof(*log));
	memcpy(spare + at, log + at + len, (nr - at - len) * sizeof(*log));
	if (!still_fails(spare, nr - len))
		return nr;
	/* what was carried out: decisions that no longer fit are gone too */
	if (sim.nr_log <= nr - len) {
		memcpy(log, sim.log, sim.nr_log * sizeof(*log));
		return sim.nr_log;
	}
	memcpy(log, spare, (nr - len) * sizeof(*log));
	return nr - len;
}

/* @log becomes the shortest found; its length is returned. */
unsigned int sim_shrink(const struct sim_schedule *s, struct sim_logged *log, unsigned int nr)
{
	struct sim_logged *spare = malloc((nr + 1) * sizeof(*spare));
	unsigned int len = nr > 1 ? (nr + 1) / 2 : 1;

	schedule = s;
	wanted = sim.failure;
	replays = 0;
	steps = 0;
	while (spare && nr && replays < MAX_REPLAYS && steps < MAX_STEPS) {
		unsigned int before = nr;

		for (unsigned int end = nr; end > 0 && replays < MAX_REPLAYS && steps < MAX_STEPS;) {
			unsigned int at = end > len ? end - len : 0;
			unsigned int left = try_without(log, nr, at, end - at, spare);

			nr = left;
			end = at < nr ? at : nr;
		}
		if (len == 1 && nr == before)
			break;
		if (nr == before || len > nr)
			len = len > 1 ? len / 2 : 1;
	}
	free(spare);
	sim.failure = wanted;
	return nr;
}
