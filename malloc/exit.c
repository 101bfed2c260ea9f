/* SPDX-License-Identifier: MIT */
/*
 * Where a process ends: the report is written once, by the first of exit(), quick_exit(),
 * _exit(), _Exit() and abort(). The C library's own calls of abort(), signals and raw system
 * calls end a process unseen: then there is no report.
 *
 * Who comes second waits until it is written, so that the process does not end amid it. At most WAIT_NS: the first may be
 * held up for good, by a pipe that nobody reads or by a lock of the library that the second one has. On the writer's own
 * thread nothing can come second: signals that have handlers wait, and it is not cancelled. One whose default
 * action ends the process still does.
 *
 * Our destructor runs after the program's, and before the library's, on which we depend.
 */
#include "control.h"
#include "preload.h"
#include "report.h"
#include "run_env.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 2000000000L

static void (*next_abort)(void);
static void (*next_quick_exit)(int);
static struct thread *writer; /* who reports; NULL: nobody yet. Atomic */
static bool written;          /* the report is; atomic */

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void wait_written(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	long until = now_ns() + WAIT_NS;

	/* Pairs with the store in report_here(). */
	while (!__atomic_load_n(&written, __ATOMIC_ACQUIRE) && now_ns() < until)
		nanosleep(&nap, NULL);
}

/* What must reach its handler at once: a fault that comes while it is blocked kills. */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP || sig == SIGSYS;
}

/* SIGPIPE too: that nobody reads the report is not the program's end. */
static void hold_signals(sigset_t *old)
{
	struct sigaction action;
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGPIPE);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (!is_fault(sig) && !sigaction(sig, NULL, &action) && action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&held, sig);
	}
	pthread_sigmask(SIG_BLOCK, &held, old);
}

static bool pipe_signal_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGPIPE) == 1;
}

static void report_here(void)
{
	const struct timespec at_once = { 0 };
	struct thread *nobody = NULL;
	bool pending_before;
	sigset_t old, pipe;

	hold_signals(&old);
	pending_before = pipe_signal_pending();
	if (__atomic_compare_exchange_n(&writer, &nobody, &thread_self, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		unsigned int phase = thread_busy();

		report_write(run_env_report_fd(), run_env.report == RUN_REPORT_JSON);
		thread_self.phase = phase;
		__atomic_store_n(&written, true, __ATOMIC_RELEASE);
	}
	if (!pending_before && pipe_signal_pending()) {
		sigemptyset(&pipe);
		sigaddset(&pipe, SIGPIPE);
		sigtimedwait(&pipe, NULL, &at_once);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * Not while this thread is in the library, as when a signal handler aborts: its locks may be
 * ours. Not in a child either, and so not in one of vfork().
 */
static void report_once(void)
{
	const struct thread *who;
	int state;

	if (!start_done() || !run_env_is_reporter())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!__atomic_load_n(&writer, __ATOMIC_RELAXED) && thread_self.phase != THREAD_BUSY)
		report_here();
	who = __atomic_load_n(&writer, __ATOMIC_RELAXED);
	if (who && who != &thread_self)
		wait_written();
	pthread_setcancelstate(state, NULL);
}

static void fork_child(void)
{
	run_env_close_inherited();
}

void exit_start(void)
{
	*(void **)&next_abort = start_next("abort");
	*(void **)&next_quick_exit = start_next("quick_exit");
	if (run_env.report != RUN_REPORT_NONE && pthread_atfork(NULL, NULL, fork_child))
		start_fail("report", ENOMEM);
}

__attribute__((destructor)) static void exit_destructor(void)
{
	report_once();
}

/* The library's own destructor takes the control socket's name away, where exit() has it run. */
static _Noreturn void end_process(int status)
{
	control_end();
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
	control_end();
	if (next_quick_exit)
		next_quick_exit(status);
	end_process(status);
}

EXPORT void abort(void)
{
	report_once();
	control_end();
	if (next_abort)
		next_abort();
	__builtin_trap();
}
