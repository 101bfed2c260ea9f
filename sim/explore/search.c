/* SPDX-License-Identifier: MIT */
/*
 * Many schedules of one test, shared among processes.
 *
 * The first LEARNING schedules run here, with decisions at every point: they show which
 * words the threads share and how long a run is. Then worker processes take the rest in
 * chunks. Nothing that a schedule does depends on who runs it, and the failure that
 * counts is the one with the lowest number, so the result is the same for any --jobs.
 * A worker hands over the decisions of the lowest failure that it met; the parent then
 * replays them. Meanwhile the parent searches exhaustively, where the test is small.
 */
#include "explore/explore.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LEARNING = 64,
	CHUNK = 64,
	MAX_JOBS = 64,
	EXHAUSTIVE_MOST = 2000000
};

struct worker {
	uint64_t failed;            /* lowest schedule that failed; UINT64_MAX none */
	unsigned int nr_log;        /* its decisions */
	struct sim_failure failure; /* what it was */
	struct sim_logged log[SIM_LOG_MAX];
};

struct shared {
	_Atomic uint64_t next;   /* schedule that nobody has taken */
	_Atomic uint64_t failed; /* lowest that failed; UINT64_MAX none */
};

static void note_failure(struct worker *worker, uint64_t index)
{
	worker->failed = index;
	worker->nr_log = sim.nr_log;
	worker->failure = sim.failure;
	memcpy(worker->log, sim.log, sim.nr_log * sizeof(*sim.log));
}

static void work(struct shared *shared, struct worker *worker, const struct sim_test *test,
		 const struct sim_options *opts)
{
	uint64_t first;

	while ((first = atomic_fetch_add(&shared->next, CHUNK)) < opts->schedules)
		for (uint64_t i = first; i < first + CHUNK && i < opts->schedules; i++) {
			struct sim_schedule s;
			uint64_t lowest = atomic_load(&shared->failed);

			if (i >= lowest)
				return;
			sim_schedule_init(&s, test, opts, i);
			if (sim_schedule_execute(&s))
				continue;
			note_failure(worker, i);
			while (i < lowest && !atomic_compare_exchange_weak(&shared->failed, &lowest, i))
				;
			return;
		}
}

static void *share(size_t size)
{
	/* cppcheck-suppress invalidFunctionArg */
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "memcg-sim: out of memory\n");
		exit(2);
	}
	return p;
}

static void start_workers(struct shared *shared, struct worker *workers, unsigned int jobs, pid_t *pids,
			  const struct sim_test *test, const struct sim_options *opts)
{
	fflush(stdout);
	for (unsigned int i = 0; i < jobs; i++) {
		workers[i].failed = UINT64_MAX;
		pids[i] = fork();
		if (pids[i] < 0) {
			fprintf(stderr, "memcg-sim: cannot fork\n");
			exit(2);
		}
		if (!pids[i]) {
			work(shared, &workers[i], test, opts);
			_exit(0);
		}
	}
}

static void wait_workers(const pid_t *pids, unsigned int jobs)
{
	for (unsigned int i = 0; i < jobs; i++) {
		int status;

		if (waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		fprintf(stderr, "memcg-sim: a worker process died\n");
		exit(2);
	}
}

/* The rest of the seeded schedules, and the exhaustive search beside them. */
static void search_rest(const struct sim_test *test, const struct sim_options *opts, uint64_t first, int bound,
			struct sim_result *result)
{
	unsigned int jobs = opts->jobs < MAX_JOBS ? opts->jobs : MAX_JOBS;
	struct worker *workers = share(jobs * sizeof(*workers)), *lowest = NULL;
	struct shared *shared = share(sizeof(*shared));
	pid_t pids[MAX_JOBS];

	shared->next = first;
	shared->failed = UINT64_MAX;
	if (first < opts->schedules)
		start_workers(shared, workers, jobs, pids, test, opts);
	sim_schedule_init(&result->failing, test, opts, 0);
	if (bound && !sim_exhaustive_search(&result->failing, bound, EXHAUSTIVE_MOST, result)) {
		result->failed = true;
		shared->failed = 0; /* the workers may stop: this failure is the one reported */
	}
	if (first < opts->schedules)
		wait_workers(pids, jobs);
	for (unsigned int i = 0; i < jobs && first < opts->schedules; i++)
		if (workers[i].failed < (lowest ? lowest->failed : UINT64_MAX))
			lowest = &workers[i];
	result->schedules = result->failed ? 0 : opts->schedules;
	if (lowest && !result->failed) {
		result->failed = true;
		result->schedules = lowest->failed + 1;
		sim_schedule_init(&result->failing, test, opts, lowest->failed);
		sim.failure = lowest->failure;
		sim.nr_log = lowest->nr_log;
		memcpy(sim.log, lowest->log, lowest->nr_log * sizeof(*sim.log));
	}
	munmap(workers, jobs * sizeof(*workers));
	munmap(shared, sizeof(*shared));
}

/* The first schedules. False: one failed. */
static bool learn(const struct sim_test *test, const struct sim_options *opts, uint64_t nr, struct sim_result *result)
{
	struct sim_options random = *opts;
	struct sim_schedule *s = &result->failing;

	if (opts->scheduler == SIM_SCHED_EXHAUSTIVE)
		random.scheduler = SIM_SCHED_RANDOM;
	for (uint64_t i = 0; i < nr; i++) {
		sim_schedule_init(s, test, &random, i);
		s->learning = true;
		s->opts = opts;
		result->schedules = i + 1;
		if (!sim_schedule_execute(s))
			return false;
	}
	sim_conflict_freeze();
	return true;
}

/* After a failure its decisions are in sim.log, and it is in sim.failure. */
void sim_search(const struct sim_test *test, const struct sim_options *opts, struct sim_result *result)
{
	bool only = opts->scheduler == SIM_SCHED_EXHAUSTIVE;
	int bound = opts->bound ? opts->bound : test->exhaustive_bound;
	uint64_t nr = opts->schedules < LEARNING ? opts->schedules : LEARNING;

	*result = (struct sim_result){ .finished = true };
	sim_conflict_forget();
	result->failed = !learn(test, opts, nr, result);
	if (!only) {
		if (!result->failed)
			search_rest(test, opts, nr, opts->all || opts->bound ? bound : 0, result);
		return;
	}
	if (!bound)
		bound = SIM_UNBOUNDED;
	result->schedules = 0; /* what learning met, the search meets in its own order */
	sim_schedule_init(&result->failing, test, opts, 0);
	result->failed = !sim_exhaustive_search(&result->failing, bound, opts->schedules, result);
}
