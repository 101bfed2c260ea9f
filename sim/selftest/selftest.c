/* SPDX-License-Identifier: MIT */
/*
 * memcg-sim selftest: the tester is tested.
 *
 * Each litmus test is searched under a memory and by a scheduler, and must come out as
 * the table says: fail in the given way, or never. A failure must also shrink, and fail
 * the same way when its decisions are replayed.
 */
#include "explore/explore.h"
#include "selftest/litmus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TSO true
#define SC false

static const struct expectation {
	const struct sim_test *test;  /* what */
	bool tso;                     /* under which memory */
	enum sim_failure_kind kind;   /* SIM_OK: never fails */
	enum sim_scheduler scheduler; /* who looks */
	uint64_t count;               /* schedules of an exhaustive search; 0: any */
} expectations[] = {
	{ &litmus_sb, TSO, SIM_FAIL_ASSERT, SIM_SCHED_RANDOM, 0 },
	{ &litmus_sb, TSO, SIM_FAIL_ASSERT, SIM_SCHED_PCT, 0 },
	{ &litmus_sb, TSO, SIM_FAIL_ASSERT, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_sb, SC, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_sb, SC, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_sb_plain, TSO, SIM_FAIL_ASSERT, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_sb_plain, SC, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_sb_fence, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_sb_fence, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_mp, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_mp, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_2plus2w, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_count_plain, SC, SIM_FAIL_ASSERT, SIM_SCHED_MIX, 0 },
	{ &litmus_count_section, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_irq_plain, TSO, SIM_FAIL_ASSERT, SIM_SCHED_MIX, 0 },
	{ &litmus_irq_plain, SC, SIM_FAIL_ASSERT, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_irq_section, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_drain, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_drain, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_drain_unfenced, SC, SIM_FAIL_ASSERT, SIM_SCHED_MIX, 0 },
	{ &litmus_drain_unfenced, TSO, SIM_FAIL_ASSERT, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_drain_by_cid, TSO, SIM_FAIL_ASSERT, SIM_SCHED_MIX, 0 },
	{ &litmus_toy, SC, SIM_OK, SIM_SCHED_EXHAUSTIVE, 20 }, /* 6! / (3! 3!) */
	{ &litmus_toy, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 20 },
	{ &litmus_tls, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_rcu_early, TSO, SIM_FAIL_USE_AFTER_FREE, SIM_SCHED_MIX, 0 },
	{ &litmus_rcu_early, SC, SIM_FAIL_USE_AFTER_FREE, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_rcu, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_rcu, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_uaf, TSO, SIM_FAIL_USE_AFTER_FREE, SIM_SCHED_PCT, 0 },
	{ &litmus_double_free, TSO, SIM_FAIL_BAD_FREE, SIM_SCHED_MIX, 0 },
	{ &litmus_bounds, TSO, SIM_FAIL_OUT_OF_BOUNDS, SIM_SCHED_MIX, 0 },
	{ &litmus_deadlock, TSO, SIM_FAIL_DEADLOCK, SIM_SCHED_MIX, 0 },
	{ &litmus_deadlock, SC, SIM_FAIL_DEADLOCK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_mutex, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_mutex, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_livelock, TSO, SIM_FAIL_LIVELOCK, SIM_SCHED_MIX, 0 },
	{ &litmus_spin, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_sleep, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_fork, TSO, SIM_FAIL_DEADLOCK, SIM_SCHED_MIX, 0 },
	{ &litmus_fork_handled, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_fork_handled, TSO, SIM_OK, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &litmus_null, TSO, SIM_FAIL_BAD_ADDRESS, SIM_SCHED_MIX, 0 },
	{ &litmus_memcpy, TSO, SIM_OK, SIM_SCHED_MIX, 0 },
	{ &litmus_irq_sleeps, TSO, SIM_FAIL_MISUSE, SIM_SCHED_MIX, 0 },
	{ &litmus_closed, TSO, SIM_FAIL_MISUSE, SIM_SCHED_MIX, 0 },
	{ &litmus_closed, TSO, SIM_FAIL_MISUSE, SIM_SCHED_EXHAUSTIVE, 0 },
	{ &cost_of_reads, SC, SIM_OK, SIM_SCHED_EXHAUSTIVE, 1 },
};

static const struct sim_test *const reused = &litmus_aba; /* fails in two ways, by reuse */

const struct sim_test *const sim_litmus_tests[] = {
	&litmus_sb,          &litmus_sb_plain,    &litmus_sb_fence,       &litmus_mp,
	&litmus_2plus2w,     &litmus_count_plain, &litmus_count_section,  &litmus_irq_plain,
	&litmus_irq_section, &litmus_drain,       &litmus_drain_unfenced, &litmus_drain_by_cid,
	&litmus_toy,         &litmus_tls,         &litmus_rcu_early,      &litmus_rcu,
	&litmus_uaf,         &litmus_double_free, &litmus_bounds,         &litmus_aba,
	&litmus_deadlock,    &litmus_mutex,       &litmus_livelock,       &litmus_spin,
	&litmus_sleep,       &litmus_fork,        &litmus_fork_handled,   &litmus_null,
	&litmus_memcpy,      &litmus_irq_sleeps,  &litmus_closed,         NULL,
};

bool sim_litmus_fails(const struct sim_test *test)
{
	for (unsigned int i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		if (expectations[i].test == test && expectations[i].kind)
			return true;
	return test == reused;
}

enum {
	SCHEDULES = 4000,
	EXHAUSTIVE = 500000
};

static unsigned int passed, failed;

static void verdict(const struct expectation *e, const char *problem, uint64_t schedules)
{
	printf("%s %s %s %s: ", problem ? "FAIL" : "ok  ", e->test->name, e->tso ? "tso" : "sc",
	       sim_scheduler_name(e->scheduler));
	if (problem)
		printf("%s after %" PRIu64 " schedules\n", problem, schedules);
	else
		printf("%s, %" PRIu64 " schedules\n", e->kind ? "caught" : "holds", schedules);
	passed += !problem;
	failed += problem != NULL;
}

/* Shrinks the failure in sim.log; it must be no longer, and come back when replayed. */
static const char *shrinks(const struct sim_schedule *s, enum sim_failure_kind kind)
{
	unsigned int before = sim.nr_log, nr;
	struct sim_logged *log = malloc((before + 1) * sizeof(*log));
	const char *problem = NULL;

	if (!log)
		abort();
	memcpy(log, sim.log, before * sizeof(*log));
	nr = sim_shrink(s, log, before);
	sim_schedule_replay(s, log, nr, false);
	if (nr > before)
		problem = "shrinking made it longer";
	else if (sim.failure.kind != kind)
		problem = "the replay does not fail";
	else if (nr > 8)
		problem = "shrinking left more than 8 decisions";
	free(log);
	return problem;
}

static void run_one(const struct expectation *e, const struct sim_options *base)
{
	struct sim_options opts = *base;
	struct sim_result result;
	const char *problem = NULL;

	opts.tso = e->tso;
	opts.scheduler = e->scheduler;
	opts.schedules = e->scheduler == SIM_SCHED_EXHAUSTIVE ? EXHAUSTIVE : SCHEDULES;
	sim_search(e->test, &opts, &result);
	if (!result.failed && e->kind)
		problem = "was not caught";
	else if (result.failed && sim.failure.kind != e->kind)
		problem = "fails in another way";
	else if (!e->kind && !result.finished)
		problem = "the search did not finish";
	else if (e->count && result.exhaustive != e->count)
		problem = "wrong count of schedules";
	else if (e->kind)
		problem = shrinks(&result.failing, e->kind);
	verdict(e, problem, result.schedules + result.exhaustive);
}

int sim_selftest(void)
{
	struct sim_options opts = { .seed = 1, .jobs = 1, .tso = true };
	struct sim_result result;

	for (unsigned int i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		run_one(&expectations[i], &opts);
	opts.schedules = SCHEDULES;
	sim_search(reused, &opts, &result);
	verdict(&(struct expectation){ reused, TSO, SIM_FAIL_ASSERT, SIM_SCHED_MIX, 0 },
		result.failed ? NULL : "was not caught", result.schedules);
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
