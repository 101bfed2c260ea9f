/* SPDX-License-Identifier: MIT */
/* One schedule of a test: everything about it follows from --seed and its number. */
#include "explore/explore.h"

enum {
	MAX_STEPS = 400000
};

static uint64_t usual_length = 1; /* most points that a schedule of this test took while learning */

static uint64_t mix(uint64_t seed, uint64_t index)
{
	uint64_t state = seed * 0x2545f4914f6cdd1dULL + index;

	sim_random(&state);
	return sim_random(&state);
}

void sim_schedule_init(struct sim_schedule *s, const struct sim_test *test, const struct sim_options *opts,
		       uint64_t index)
{
	*s = (struct sim_schedule){
		.test = test,
		.opts = opts,
		.scheduler = opts->scheduler,
		.index = index,
		.seed = mix(opts->seed, index),
	};
	if (opts->scheduler == SIM_SCHED_MIX)
		s->scheduler = s->seed % 8 < 5 ? SIM_SCHED_RANDOM : SIM_SCHED_PCT;
}

void sim_schedule_run(const struct sim_schedule *s, const struct sim_policy *policy, bool trace, struct sim_run *run)
{
	const struct sim_test *test = s->test;

	*run = (struct sim_run){
		.policy = policy,
		.threads = test->threads,
		.nr_cpus = s->opts->cpus ? s->opts->cpus : test->cpus,
		.setup = test->setup,
		.check = test->check,
		.invariant = test->invariant,
		.handler = test->handler,
		.invariant_every = test->invariant_every,
		.max_irqs = test->max_irqs,
		.seed = s->seed,
		.max_steps = MAX_STEPS,
		.tso = s->opts->tso,
		.trace = trace,
		.count_shared = !s->learning && (s->seed >> 8) % 4 != 0,
	};
	while (test->threads[run->nr_threads])
		run->nr_threads++;
}

bool sim_schedule_execute(const struct sim_schedule *s)
{
	bool pct = s->scheduler == SIM_SCHED_PCT;
	struct sim_run run;
	bool ok;

	if (pct)
		sim_pct_config(s->seed ^ 1, usual_length);
	else
		sim_random_config(s->seed ^ 1);
	sim_schedule_run(s, pct ? &sim_pct_policy : &sim_random_policy, false, &run);
	ok = sim_execute(&run);
	if (s->learning && !s->index)
		usual_length = 1;
	if (s->learning && sim.steps > usual_length)
		usual_length = sim.steps;
	return ok;
}

bool sim_schedule_replay(const struct sim_schedule *s, const struct sim_logged *log, unsigned int nr, bool trace)
{
	struct sim_run run;
	bool ok;

	sim_replay_config(log, nr);
	sim_schedule_run(s, &sim_replay_policy, trace, &run);
	sim_trace_on(trace);
	ok = sim_execute(&run);
	return ok;
}
