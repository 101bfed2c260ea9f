/* SPDX-License-Identifier: MIT */
/*
 * Test cases in a process of their own: the library starts once in a process, asserts end it,
 * filters cannot be taken back.
 *
 *   child_run   forks, and gives the exit code, or 128 + signal
 *   child_exec  the same by exec of this program, which then runs the case of that name
 *   must        an assert for children and for threads: one line, and the process ends
 */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZE_ADDRESS 1
#endif
#endif

#if defined(SANITIZE_ADDRESS) || defined(SANITIZE_THREAD)
#define SANITIZED 1 /* shadow memory, and system calls that the test did not make */
#else
#define SANITIZED 0
#endif

#define CHILD_SKIP 77    /* exit code: this machine cannot do it */
#define CHILD_NO_EXEC 78 /* the program cannot be started again: an emulator without binfmt */
#define CHILD_SIGNAL(sig) (128 + (sig))

__attribute__((noreturn)) static inline void must_failed(const char *expr, const char *file, int line)
{
	dprintf(STDERR_FILENO, "%s:%d: not true: %s\n", file, line, expr);
	_exit(1);
}

#define must(expr) ((expr) ? (void)0 : must_failed(#expr, __FILE__, __LINE__))

#if defined(SANITIZE_ADDRESS)
/*
 * The allocator of this sanitizer, as it was before it knew of fork(): what another thread has locked in it stays locked
 * in the child. So it is locked around each fork, as other allocators do it themselves; by a handler older than
 * the library's, whose work is done before. Where the runtime does not show these two it does that itself.
 */
extern void asan_lock(void) __asm__("_ZN6__asan18asan_mz_force_lockEv") __attribute__((weak));
extern void asan_unlock(void) __asm__("_ZN6__asan20asan_mz_force_unlockEv") __attribute__((weak));

__attribute__((constructor(101))) static void asan_fork(void)
{
	if (asan_lock && asan_unlock)
		must(pthread_atfork(asan_lock, asan_unlock, asan_unlock) == 0);
}
#endif

/* exit() so that coverage is kept; not where it would look for leaks. */
__attribute__((noreturn)) static inline void child_end(int code)
{
	if (SANITIZED)
		_exit(code);
	exit(code);
}

static inline int child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		must(errno == EINTR);
	return WIFSIGNALED(status) ? CHILD_SIGNAL(WTERMSIG(status)) : WEXITSTATUS(status);
}

static inline pid_t child_fork(void)
{
	static const int caught[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS, SIGABRT };
	const struct rlimit no_core = { 0, 0 };
	pid_t pid;
	size_t i;

	fflush(NULL);
	pid = fork();
	must(pid >= 0);
	if (pid)
		return pid;
	/* cmocka's handlers would go on with the next test in the child. */
	for (i = 0; i < array_size(caught); i++)
		signal(caught[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	return 0;
}

static inline int child_run(void (*body)(const void *arg), const void *arg)
{
	pid_t pid = child_fork();

	if (!pid) {
		body(arg);
		child_end(0);
	}
	return child_wait(pid);
}

static inline int child_exec(const char *name, const char *env)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid;

	must(len > 0);
	self[len] = '\0';
	pid = child_fork();
	if (!pid) {
		char *const argv[] = { self, (char *)(uintptr_t) "--case", (char *)(uintptr_t)name, NULL };

		if (env)
			putenv((char *)(uintptr_t)env);
		execv(self, argv);
		_exit(CHILD_NO_EXEC);
	}
	return child_wait(pid);
}

/* What a test does with the code of a child that should succeed. */
static inline void child_expect_ok(int code)
{
	if (code == CHILD_SKIP || code == CHILD_NO_EXEC)
		skip();
	assert_int_equal(code, 0);
}

struct child_case {
	const char *name;   /* as child_exec() gives it */
	void (*body)(void); /* ends by returning, or by must() */
};

/* At the head of main: runs the case of the command line, and does not return then. */
static inline void child_main(int argc, char **argv, const struct child_case *cases, size_t nr)
{
	size_t i;

	if (argc != 3 || strcmp(argv[1], "--case") != 0)
		return;
	for (i = 0; i < nr; i++) {
		if (!strcmp(argv[2], cases[i].name)) {
			cases[i].body();
			child_end(0);
		}
	}
	_exit(2);
}

#endif
