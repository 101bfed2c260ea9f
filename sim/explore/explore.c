/* SPDX-License-Identifier: MIT */
/* memcg-sim explore: which tests, their results, the exit code. */
#include "explore/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

const struct sim_test *sim_find_test(const char *name)
{
	const struct sim_test *const *lists[] = { sim_tests, sim_litmus_tests };

	for (unsigned int i = 0; i < 2; i++)
		for (const struct sim_test *const *test = lists[i]; *test; test++)
			if (strcmp((*test)->name, name) == 0)
				return *test;
	return NULL;
}

static void list(void)
{
	for (const struct sim_test *const *test = sim_tests; *test; test++)
		printf("%-28s %s\n", (*test)->name, (*test)->about);
	for (const struct sim_test *const *test = sim_litmus_tests; *test; test++)
		printf("%-28s %s [selftest%s]\n", (*test)->name, (*test)->about,
		       sim_litmus_fails(*test) ? ", fails by design" : "");
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void run_test(const struct sim_test *test, const struct sim_options *opts, struct sim_result *result)
{
	double start = seconds(), took;

	sim_search(test, opts, result);
	if (result->failed)
		sim_report(&result->failing);
	took = seconds() - start;
	printf("test %s: %" PRIu64 " schedules", test->name, result->schedules + result->exhaustive);
	if (result->exhaustive)
		printf(" (%" PRIu64 " exhaustive%s)", result->exhaustive,
		       result->finished ? ", finished" :
		       result->failed   ? "" :
					  ", not finished");
	printf(", %s\n", result->failed ? "FAILED" : "ok");
	if (fflush(stdout))
		return; /* sim_finish() says it */
	fprintf(stderr, "%s: %.2f s, %.0f schedules/s\n", test->name, took,
		(double)(result->schedules + result->exhaustive) / (took > 0 ? took : 1));
}

int sim_explore(const struct sim_options *opts)
{
	unsigned int tests = 0, failures = 0;
	uint64_t schedules = 0;
	struct sim_result result;

	if (opts->list) {
		list();
		return 0;
	}
	sim.fault = opts->fault;
	if (opts->replay) {
		struct sim_options own = *opts;

		return sim_file_replay(opts->replay, &own);
	}
	for (const struct sim_test *const *test = sim_tests; opts->all && *test && !ferror(stdout); test++) {
		run_test(*test, opts, &result);
		tests++;
		failures += result.failed;
		schedules += result.schedules + result.exhaustive;
	}
	if (!opts->all) {
		run_test(sim_find_test(opts->test), opts, &result);
		tests++;
		failures += result.failed;
		schedules += result.schedules + result.exhaustive;
	}
	printf("explore: %u tests, %" PRIu64 " schedules, %u failures\n", tests, schedules, failures);
	return failures ? 1 : 0;
}
