/* SPDX-License-Identifier: MIT */
/*
 * The PCT scheduler: probabilistic concurrency testing.
 *
 * Each fibre has a random priority, and the highest that can go on does, until one of d
 * change points, drawn over the length of a run, lowers the running one below all. A
 * bug that needs d ordered events is found with a probability of at least
 * 1 / (fibres x length^(d-1)) a schedule (Burckhardt et al., ASPLOS 2010).
 *
 * Store buffers join in as follows: each CPU is eager (a store becomes visible at the
 * next point) or lazy (only what drains it does), and a change point may turn that
 * around, preempt or move the running fibre, or interrupt it.
 */
#include "explore/explore.h"

enum {
	MAX_CHANGES = 6
};

static uint64_t state;                /* of the generator */
static uint64_t seed;                 /* of this schedule */
static uint64_t length;               /* points that count in a usual run */
static int priority[SIM_MAX_FIBRES];  /* higher goes first */
static int lowest;                    /* below all given so far */
static uint64_t changes[MAX_CHANGES]; /* points between one change and the next */
static unsigned int nr_changes, change;

static unsigned int below(unsigned int n)
{
	return (unsigned int)(sim_random(&state) % n);
}

void sim_pct_config(uint64_t new_seed, uint64_t new_length)
{
	seed = new_seed;
	length = new_length ? new_length : 1;
}

static void draw_changes(void)
{
	nr_changes = 1 + below(MAX_CHANGES);
	for (unsigned int i = 0; i < nr_changes; i++) {
		uint64_t at = sim_random(&state) % length;
		unsigned int k = i;

		for (; k > 0 && changes[k - 1] > at; k--)
			changes[k] = changes[k - 1];
		changes[k] = at;
	}
	for (unsigned int i = nr_changes; i-- > 1;)
		changes[i] -= changes[i - 1];
	change = 0;
}

static void next_change(void)
{
	sim.countdown = change < nr_changes ? (int64_t)changes[change++] : INT64_MAX;
}

static void begin(void)
{
	state = seed;
	lowest = 0;
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		priority[i] = (int)below(1 << 20) * SIM_MAX_FIBRES + (int)i + 1;
	sim.eager = below(2) ? (uint32_t)sim_random(&state) : below(2) ? UINT32_MAX : 0;
	draw_changes();
	next_change();
}

/* A change point. True: it is an action. */
static bool change_now(struct sim_fibre *f, struct sim_action *action)
{
	unsigned int dice = below(16);

	next_change();
	if (sim.run->handler && dice < 4) {
		*action = (struct sim_action){ .kind = SIM_ACT_IRQ };
		return true;
	}
	if (dice == 4 || (f->in_section && dice < 7)) {
		*action = (struct sim_action){ .kind = SIM_ACT_PREEMPT };
		return true;
	}
	if (dice == 7) {
		*action = (struct sim_action){ .kind = SIM_ACT_PLACE,
					       .a = (uint8_t)f->id,
					       .b = (uint8_t)below(sim.run->nr_cpus) };
		return true;
	}
	if (dice < 10 && sim.tso) {
		sim.eager ^= 1U << f->cpu;
		return false;
	}
	priority[f->id] = --lowest;
	return false;
}

static bool next(struct sim_fibre *f, bool visible, struct sim_action *action)
{
	const struct sim_fibre *best = f;

	(void)visible;
	while (sim.countdown < 0)
		if (change_now(f, action))
			return true;
	for (unsigned int i = 0; i < sim.run->nr_cpus; i++) {
		if (!sim.cpus[i].nr || !(sim.eager >> i & 1))
			continue;
		*action = (struct sim_action){ .kind = SIM_ACT_DRAIN, .a = (uint8_t)i };
		return true;
	}
	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		const struct sim_fibre *g = &sim.fibres[i];

		if (g->state == SIM_RUNNABLE && g->cpu >= 0 && priority[i] > priority[best->id])
			best = g;
	}
	*action = (struct sim_action){ .kind = SIM_ACT_RUN, .a = (uint8_t)best->id };
	return best != f;
}

/* Who yields, spins or sleeps steps back behind all: else two could yield to each other for ever. */
static unsigned int pick(struct sim_fibre *f, const uint8_t *ids, unsigned int nr)
{
	unsigned int best = 0;

	if (f->id && f->state != SIM_DONE)
		priority[f->id] = --lowest;
	for (unsigned int i = 1; i < nr; i++)
		if (priority[ids[i]] > priority[ids[best]])
			best = i;
	return best;
}

static void woken(struct sim_fibre *f)
{
	(void)f;
	sim.resched = true;
}

const struct sim_policy sim_pct_policy = { .begin = begin, .next = next, .pick = pick, .woken = woken };
