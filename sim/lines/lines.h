/* SPDX-License-Identifier: MIT */
/*
 * memcg-sim flush: how many cache lines a flush writes, with the group-wide local arrays and without (S4).
 *
 * What is counted are the 64-byte lines of allocated memory that the library's own code stores to in a flush,
 * each once. It does not depend on the machine: that is why the simulator counts them.
 */
#ifndef SIM_LINES_H
#define SIM_LINES_H

#include <stdbool.h>

enum { /* accounts of the ledger */
	LINES_WRITTEN,
	LINES_GROUPS, /* flushed */
};

/* The instrumented side: starts the library, works, flushes while lines are counted; results in the ledger. */
void lines_kept_reader(void);
void lines_skipped_reader(void);
void lines_kept_worker(void);
void lines_skipped_worker(void);

int sim_flush(void); /* the command: exit code */

#endif
