/* SPDX-License-Identifier: MIT */
/* The library's own memory and time. */
#include "base/mem.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sim.h"

struct memcg_backing mem_backing = {
	.malloc = malloc,
	.calloc = calloc,
	.realloc = realloc,
	.aligned_alloc = aligned_alloc,
	.free = free,
};

void mem_ask(void)
{
	mem_backing.free(mem_backing.malloc(1));
}

#ifdef MEMCG_SIM

void *mem_zalloc(size_t size)
{
	void *ptr = sim_alloc(size, PAIR_SIZE);

	if (ptr)
		memset(ptr, 0, size);
	return ptr;
}

void mem_free(void *ptr)
{
	sim_free(ptr);
}

uint64_t clock_ns(void)
{
	return sim_clock_ns();
}

void clock_pause(unsigned int attempt, const void *polled)
{
	(void)attempt;
	sim_relax(polled);
}

#else

void *mem_zalloc(size_t size)
{
	size_t rounded = (size + PAIR_SIZE - 1) & ~(size_t)(PAIR_SIZE - 1);
	void *ptr = mem_backing.aligned_alloc(PAIR_SIZE, rounded);

	if (ptr)
		memset(ptr, 0, rounded);
	return ptr;
}

void mem_free(void *ptr)
{
	mem_backing.free(ptr);
}

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

void clock_pause(unsigned int attempt, const void *polled)
{
	struct timespec nap = { .tv_nsec = 50000 };

	(void)polled;
	if (attempt < 16)
		__asm__ __volatile__("" ::: "memory");
	else if (attempt < 64)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

#endif
