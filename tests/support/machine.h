/* SPDX-License-Identifier: MIT */
/* What a machine can show. An emulator and valgrind lack some of it; a test passes over that part alone. */
#ifndef SUPPORT_MACHINE_H
#define SUPPORT_MACHINE_H

#include <sys/mman.h>

#include "support/child.h"

/* Set for cross builds, whose tests qemu-user runs. */
#ifndef EMULATED
#define EMULATED 0
#endif

/*
 * May a child that was forked among threads start a thread? ThreadSanitizer forbids it; qemu-user 7.2 aborts, its
 * list of CPUs still holds those of the threads that are gone.
 */
#define MACHINE_THREADS_AFTER_FORK (!SANITIZED && !EMULATED)

/* Valgrind loads a library of its own into each program. */
static inline bool machine_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

/* Are system calls and memory that the kernel sees the program's own and no other's? */
static inline bool machine_own_only(void)
{
	return !SANITIZED && !machine_valgrind();
}

/* Does mincore(2) tell what is resident, of a range whose end has no access? */
static inline bool machine_mincore(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char before[2] = { 1, 1 }, after[2] = { 0, 0 };
	char *range = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool told;

	must(range != MAP_FAILED);
	must(mprotect(range, size, PROT_READ | PROT_WRITE) == 0);
	told = mincore(range, 2 * size, before) == 0;
	*(volatile char *)range = 1;
	told = told && mincore(range, 2 * size, after) == 0;
	munmap(range, 2 * size);
	return told && !(before[0] & 1) && !(before[1] & 1) && (after[0] & 1) && !(after[1] & 1);
}

/*
 * Signals that come from outside, as a mask of /proc has them. What a thread's own fault raises is not among them, nor what the
 * C library keeps: valgrind and an emulator unblock these while they run a thread's code.
 */
static inline uint64_t machine_signals(void)
{
	static const int others[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	uint64_t signals = (1ULL << 31) - 1;
	size_t i;

	for (i = 0; i < array_size(others); i++)
		signals &= ~(1ULL << (others[i] - 1));
	return signals;
}

/* Bytes of what RLIMIT_AS or RLIMIT_DATA limits that the process has. */
static inline size_t machine_has(int resource)
{
	unsigned long space, resident, shared, text, libraries, data;
	FILE *file = fopen("/proc/self/statm", "r");

	must(file &&
	     fscanf(file, "%lu %lu %lu %lu %lu %lu", &space, &resident, &shared, &text, &libraries, &data) == 6);
	fclose(file);
	return (resource == RLIMIT_AS ? space : data) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Sets the limit of either, and tells whether it holds. */
static inline bool machine_limit(int resource, size_t bytes)
{
	struct rlimit limit;

	must(getrlimit(resource, &limit) == 0);
	limit.rlim_cur = bytes;
	must(setrlimit(resource, &limit) == 0);
	must(getrlimit(resource, &limit) == 0);
	return limit.rlim_cur == bytes;
}

static inline void machine_limit_none(int resource)
{
	struct rlimit limit;

	must(getrlimit(resource, &limit) == 0);
	limit.rlim_cur = limit.rlim_max;
	must(setrlimit(resource, &limit) == 0);
}

#endif
