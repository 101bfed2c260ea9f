/* SPDX-License-Identifier: MIT */
/*
 * Where a process ends: the report is written once, by the first of exit(), quick_exit(),
 * _exit(), _Exit() and abort(). The C library's own calls of abort(), signals and raw system
 * calls end a process unseen: then there is no report.
 *
 * Our destructor runs after the program's, and before the library's, on which we depend.
 */
#include "preload.h"
#include "report.h"
#include "run_env.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*next_abort)(void);
static void (*next_quick_exit)(int);
static bool reported; /* atomic */

/*
 * Not while this thread is in the library, as when a signal handler aborts: its locks may be
 * ours. Not in a child either, and so not in one of vfork().
 */
static void report_once(void)
{
	unsigned int phase;

	if (!start_done() || thread_self.phase == THREAD_BUSY || !run_env_is_reporter())
		return;
	if (__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		return;
	phase = thread_busy();
	report_write(run_env_report_fd(), run_env.report == RUN_REPORT_JSON);
	thread_self.phase = phase;
}

static void fork_child(void)
{
	run_env_close_inherited();
}

void exit_start(void)
{
	*(void **)&next_abort = start_next("abort");
	*(void **)&next_quick_exit = start_next("quick_exit");
	if (run_env.report != RUN_REPORT_NONE)
		pthread_atfork(NULL, NULL, fork_child);
}

__attribute__((destructor)) static void exit_destructor(void)
{
	report_once();
}

static _Noreturn void end_process(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	report_once();
	end_process(status);
}

EXPORT void _Exit(int status)
{
	report_once();
	end_process(status);
}

EXPORT void quick_exit(int status)
{
	report_once();
	if (next_quick_exit)
		next_quick_exit(status);
	end_process(status);
}

EXPORT void abort(void)
{
	report_once();
	if (next_abort)
		next_abort();
	__builtin_trap();
}
