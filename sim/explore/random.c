/* SPDX-License-Identifier: MIT */
/*
 * The random scheduler: a decision after every so many points that count.
 *
 * How many is drawn once for a schedule (2 to 64 on average): few decisions find what
 * needs a long stretch undisturbed, many what needs a tight interleaving.
 */
#include "explore/explore.h"

static uint64_t state;           /* of the generator */
static uint64_t seed;            /* of this schedule */
static unsigned int gap;         /* mean points between two decisions */
static unsigned int drain_share; /* of 16 decisions, while stores are buffered */

static unsigned int below(unsigned int n)
{
	return (unsigned int)(sim_random(&state) % n);
}

void sim_random_config(uint64_t new_seed)
{
	seed = new_seed;
}

static void begin(void)
{
	state = seed;
	gap = 2U << below(6);
	drain_share = 1U << below(4);
	sim.countdown = below(2 * gap + 1);
}

static bool choose_drain(struct sim_action *action)
{
	uint8_t cpus[SIM_MAX_CPUS];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < sim.run->nr_cpus; i++)
		if (sim.cpus[i].nr)
			cpus[nr++] = (uint8_t)i;
	if (!nr)
		return false;
	*action = (struct sim_action){ .kind = SIM_ACT_DRAIN, .a = cpus[below(nr)] };
	return true;
}

static bool choose_run(const struct sim_fibre *f, struct sim_action *action)
{
	uint8_t ids[SIM_MAX_FIBRES];
	unsigned int nr = 0;
	bool early = below(8) == 0; /* time passes: who sleeps or spins may wake */

	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		const struct sim_fibre *g = &sim.fibres[i];

		if (g != f && sim_can_run(g) && (early || g->state == SIM_RUNNABLE))
			ids[nr++] = (uint8_t)i;
	}
	if (!nr)
		return false;
	*action = (struct sim_action){ .kind = SIM_ACT_RUN, .a = ids[below(nr)] };
	return true;
}

static bool next(struct sim_fibre *f, bool visible, struct sim_action *action)
{
	unsigned int dice = below(16);

	(void)visible;
	if (sim.countdown >= 0)
		return false;
	sim.countdown = below(2 * gap + 1);
	if (sim.run->handler && dice < 3) {
		*action = (struct sim_action){ .kind = SIM_ACT_IRQ };
		return true;
	}
	if (dice == 3 || (f->in_section && dice < 6)) {
		*action = (struct sim_action){ .kind = SIM_ACT_PREEMPT };
		return true;
	}
	if (dice == 6) {
		*action = (struct sim_action){ .kind = SIM_ACT_PLACE,
					       .a = (uint8_t)(1 + below(sim.nr_fibres - 1)),
					       .b = (uint8_t)below(sim.run->nr_cpus) };
		return true;
	}
	if (below(16) < drain_share && choose_drain(action))
		return true;
	return choose_run(f, action);
}

static unsigned int pick(struct sim_fibre *f, const uint8_t *ids, unsigned int nr)
{
	(void)f;
	(void)ids;
	return below(nr);
}

const struct sim_policy sim_random_policy = { .begin = begin, .next = next, .pick = pick };
