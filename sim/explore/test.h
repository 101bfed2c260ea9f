/* SPDX-License-Identifier: MIT */
/*
 * A test of explore: a few threads, what must hold, and how to set the stage.
 *
 * Setup and check run alone, in a thread of their own ("main"), on CPU 0; check begins
 * when all threads have ended. The invariant is looked at after each change of memory
 * that all see; it must only read, take no lock and call nothing that may. A test keeps
 * its state in static variables: they are reset before each schedule.
 */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include "runtime/hooks.h"

enum {
	SIM_TEST_THREADS = 8,
	SIM_UNBOUNDED = -1
};

struct sim_test {
	const char *name;                            /* as in --test */
	const char *about;                           /* one line, for --list */
	unsigned int cpus;                           /* fewer than threads: preemption and migration */
	void (*threads[SIM_TEST_THREADS + 1])(void); /* ends with NULL */
	void (*setup)(void);                         /* may be NULL */
	void (*check)(void);                         /* may be NULL */
	void (*invariant)(void);                     /* may be NULL */
	unsigned int invariant_every;                /* changes between two looks; 0 is 1 */
	void (*handler)(void);                       /* interrupt handler; may be NULL */
	unsigned int max_irqs;                       /* interrupts a schedule; 0 is 1 */
	int exhaustive_bound;                        /* decisions in an exhaustive search; 0: too large for one */
};

extern const struct sim_test *const sim_tests[];        /* of the library; ends with NULL */
extern const struct sim_test *const sim_litmus_tests[]; /* of the simulator itself */

#endif
