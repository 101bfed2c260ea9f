/* SPDX-License-Identifier: MIT */
/*
 * How long a stress test runs: MEMCG_STRESS_SECONDS, or what the test asks for, less under a
 * sanitizer. A watchdog ends what dead-locks.
 */
#ifndef SUPPORT_STRESS_H
#define SUPPORT_STRESS_H

#include <sys/syscall.h>
#include <time.h>

#include "base/mem.h"
#include "support/forms.h"

/* Forms that differ where threads meet. Each stress test runs in all of them. */
static const struct form forms_stress[] = {
	{ "default", MEMCG_INDEX_AUTO, 0, 0, 0 },
	{ "portable", MEMCG_INDEX_AUTO, MEMCG_INIT_PORTABLE, 0, 0 },
	{ "threads on one CPU, small budget", MEMCG_INDEX_THREAD, 0, 1, 200 },
};

static bool stress_first; /* the first form runs in full, the others shorter */

static inline int stress_main(int (*run)(void))
{
	int err;

	stress_first = true;
	err = forms_run(forms_stress, 1, FORM_FLAGS, run);
	stress_first = false;
	return forms_run(forms_stress + 1, array_size(forms_stress) - 1, FORM_FLAGS, run) || err;
}

static inline double stress_seconds(double full)
{
	const char *env = getenv("MEMCG_STRESS_SECONDS");

	if (env)
		return atof(env);
	return SANITIZED ? full / 5 : full;
}

static inline uint64_t stress_until(double full)
{
	return clock_ns() + (uint64_t)(stress_seconds(full) * 1e9);
}

static inline bool stress_goes_on(uint64_t until)
{
	return clock_ns() < until;
}

/* Signals the calling thread with SIGUSR1 ten thousand times a second. */
static inline timer_t stress_timer(void)
{
	struct itimerspec every = { .it_interval = { 0, 100000 }, .it_value = { 0, 100000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	must(timer_settime(timer, 0, &every, NULL) == 0);
	return timer;
}

static inline void stress_watchdog(void)
{
	alarm(600);
}

#endif
