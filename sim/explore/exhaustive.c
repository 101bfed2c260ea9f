/* SPDX-License-Identifier: MIT */
/*
 * Exhaustive search with bounded decisions: every schedule, once.
 *
 * A schedule is a path of choices. At a visible point (an access to a word that several
 * contexts touch and one writes, or a hook) the choices are: go on; another fibre first;
 * the oldest store of a CPU becomes visible; preempted, inside a section; interrupted.
 * Each but the first costs one of the bound's decisions. Where a fibre cannot go on, who
 * follows is a choice that costs nothing. The search is depth first and stateless: each
 * run follows the path found so far, and takes first choices beyond it.
 *
 * E1  A fibre that got its turn makes a visible access before it can lose it again, so
 *     two paths that differ have different orders of visible accesses.
 * E2  Words come to conflict while the search runs; it then starts anew with them known,
 *     until a whole search has met no new one. The count is that of the last search.
 */
#include "explore/explore.h"

enum {
	MAX_DEPTH = 1 << 16,
	MAX_OPTIONS = 64
};

static struct choice {
	uint8_t nr;    /* how many */
	uint8_t taken; /* which */
} path[MAX_DEPTH];
static unsigned int depth; /* choices of the current path */
static unsigned int at;    /* where this run is on it */
static int bound;          /* decisions allowed; SIM_UNBOUNDED */
static int spent;          /* in this run */

static unsigned int choose(unsigned int nr)
{
	if (nr < 2)
		return 0;
	if (at == MAX_DEPTH)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "a path of more than %d choices", MAX_DEPTH);
	if (at == depth)
		path[depth++] = (struct choice){ .nr = (uint8_t)nr };
	if (path[at].nr != nr)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "the code under test is not deterministic");
	return path[at++].taken;
}

static void begin(void)
{
	at = 0;
	spent = 0;
	sim.countdown = INT64_MIN / 2; /* ask always */
}

static unsigned int options(const struct sim_fibre *f, struct sim_action *list)
{
	unsigned int nr = 0;

	for (unsigned int i = 1; i < sim.nr_fibres && !f->resumed; i++) {
		const struct sim_fibre *g = &sim.fibres[i];

		if (g != f && g->state == SIM_RUNNABLE && g->cpu >= 0)
			list[nr++] = (struct sim_action){ .kind = SIM_ACT_RUN, .a = (uint8_t)i };
	}
	for (unsigned int i = 1; i < sim.nr_fibres && !f->resumed; i++)
		if (sim.fibres[i].state == SIM_RUNNABLE && sim.fibres[i].cpu < 0)
			list[nr++] =
				(struct sim_action){ .kind = SIM_ACT_PLACE, .a = (uint8_t)i, .b = (uint8_t)f->cpu };
	for (unsigned int i = 0; i < sim.run->nr_cpus; i++)
		if (sim.cpus[i].nr)
			list[nr++] = (struct sim_action){ .kind = SIM_ACT_DRAIN, .a = (uint8_t)i };
	if (f->in_section && !f->aborted)
		list[nr++] = (struct sim_action){ .kind = SIM_ACT_PREEMPT };
	if (sim.run->handler && !f->irq && sim.nr_irqs < (sim.run->max_irqs ? sim.run->max_irqs : 1))
		list[nr++] = (struct sim_action){ .kind = SIM_ACT_IRQ };
	return nr;
}

static bool next(struct sim_fibre *f, bool visible, struct sim_action *action)
{
	struct sim_action list[MAX_OPTIONS];
	unsigned int taken;

	if (!visible || (bound != SIM_UNBOUNDED && spent >= bound))
		return false;
	taken = choose(1 + options(f, list));
	if (!taken)
		return false;
	spent++;
	*action = list[taken - 1];
	return true;
}

static unsigned int pick(struct sim_fibre *f, const uint8_t *ids, unsigned int nr)
{
	(void)f;
	(void)ids;
	return choose(nr);
}

const struct sim_policy sim_exhaustive_policy = { .begin = begin, .next = next, .pick = pick };

/* The next path; false when there is none. */
static bool advance(void)
{
	while (depth && path[depth - 1].taken + 1 == path[depth - 1].nr)
		depth--;
	if (!depth)
		return false;
	path[depth - 1].taken++;
	return true;
}

/* True: no failure. At most @most schedules. */
bool sim_exhaustive_search(struct sim_schedule *s, int new_bound, uint64_t most, struct sim_result *result)
{
	bool ok, more;

	bound = new_bound;
	s->scheduler = SIM_SCHED_EXHAUSTIVE;
	do {
		depth = 0;
		result->exhaustive = 0;
		do {
			struct sim_run run;

			s->index = result->exhaustive++;
			sim_schedule_run(s, &sim_exhaustive_policy, false, &run);
			ok = sim_execute(&run);
			more = advance();
		} while (ok && more && !sim_conflict_freeze() && result->exhaustive < most);
	} while (ok && (more || sim_conflict_freeze()) && result->exhaustive < most);
	result->finished = ok && !more;
	return ok;
}
