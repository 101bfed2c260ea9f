/* SPDX-License-Identifier: MIT */
/*
 * Timed slices of work by threads that exist already.
 *
 * A pool holds its threads asleep between slices, so that pools of 1, 2 and 64
 * threads can take turns within one process.
 */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include <stdbool.h>
#include <stdint.h>

enum measure {
	CPU_NS,    /* of an operation: a thread's CPU time, mean over the threads */
	WALL_NS,   /* of an operation: mean over the threads; for what sleeps */
	CPU_RATE,  /* operations of all threads per second of their CPU time */
	WALL_RATE, /* operations of all threads per second */
	CPU_SHARE, /* of the CPUs that the threads could use */
	NR_MEASURES,
};

struct sample {
	double v[NR_MEASURES];
};

/* What the threads do; embedded in what describes the work further. */
struct work {
	/* In the thread that will run, before its clock starts; may be NULL. 0 or a negative errno. */
	int (*prepare)(const struct work *work, unsigned int worker);
	/* @ops operations. 0 or a negative errno, which ends the bench. */
	int (*run)(const struct work *work, unsigned int worker, unsigned long ops);
	unsigned long chunk; /* operations between two looks at the clock: some 10 us or more */
};

struct pool;

/* @pin: one thread per allowed CPU, where there are enough. 0 or a negative errno. */
int pool_open(unsigned int workers, bool pin, struct pool **pool);
void pool_close(struct pool *pool);

/*
 * All threads work from a common start for @seconds. With several threads, and no more than
 * CPUs, a slice in which one was preempted is taken again, a few times, and the least
 * disturbed counts. @seconds 0 is one chunk, once. 0, or the first error of prepare() and
 * run().
 */
int pool_slice(struct pool *pool, const struct work *work, double seconds, struct sample *out);

unsigned int pool_cpus(void);       /* CPUs that this process may use */
unsigned long pool_disturbed(void); /* slices that stayed disturbed until now */
uint64_t pool_clock_ns(void);

#endif
