/* SPDX-License-Identifier: MIT */
/*
 * A memory tracker as databases write them: one shared number per level.
 *
 * A charge adds at every level from the leaf up, and takes all of it back when one
 * of them is over its limit; uncharge subtracts at every level. This is the best
 * form of the idea that we could write:
 * - fetch-and-add, not compare-exchange: it never has to be repeated;
 * - relaxed order: the numbers guard nothing;
 * - the peak is read first and written only when it rises, which is seldom;
 * - what is only read stands apart from what is written, 128 bytes each.
 * Tolerated, as the originals do: usage shows a charge that is about to be refused,
 * and the peak can keep it.
 */
#ifndef BENCH_PEERS_TRACKER_H
#define BENCH_PEERS_TRACKER_H

#include <errno.h>

struct tracker {
	long usage __attribute__((aligned(128)));             /* pages; everybody */
	long peak;                                            /* pages; written when exceeded */
	struct tracker *parent __attribute__((aligned(128))); /* NULL at the root; fixed */
	long max;                                             /* pages; set before it is used */
};

static inline void tracker_uncharge(struct tracker *leaf, struct tracker *end, long n)
{
	struct tracker *t;

	for (t = leaf; t != end; t = t->parent)
		__atomic_fetch_sub(&t->usage, n, __ATOMIC_RELAXED);
}

static inline void tracker_peak(struct tracker *t, long usage)
{
	long peak = __atomic_load_n(&t->peak, __ATOMIC_RELAXED);

	while (__builtin_expect(usage > peak, 0) &&
	       !__atomic_compare_exchange_n(&t->peak, &peak, usage, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline int tracker_charge(struct tracker *leaf, long n)
{
	struct tracker *t;

	for (t = leaf; t; t = t->parent) {
		long usage = __atomic_add_fetch(&t->usage, n, __ATOMIC_RELAXED);

		if (__builtin_expect(usage > t->max, 0)) {
			tracker_uncharge(leaf, t->parent, n);
			return -ENOMEM;
		}
		tracker_peak(t, usage);
	}
	return 0;
}

#endif
