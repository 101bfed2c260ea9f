/* SPDX-License-Identifier: MIT */
/*
 * The fence of drains. After it every commit that had read an open gate before has been made
 * or never will be, on every CPU, and what comes later sees what was written before.
 *
 *   rseq form      membarrier(2) restarts the sequences that are under way
 *   portable form  commits into empty slots are made in read sections: a grace period
 *                  waits for them. Commits into a slot in use are compare-and-exchange,
 *                  which the drain's exchange of the same word orders
 */
#ifndef PERCPU_FENCE_H
#define PERCPU_FENCE_H

int fence_start(void); /* registers the process; negative errno where the kernel refuses (old, seccomp) */
int fence_all(void);   /* sleeps; negative errno where the kernel refuses it since the start */

#endif
