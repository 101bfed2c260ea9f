/* SPDX-License-Identifier: MIT */
/* A template, compiled once per side: the pair loop of bench charge with both calls inlined. */
#include <memcg/charge.h>

#ifdef INLINE_ATOMIC_TREE
#include "peers/tracker.h"

static inline int charge(struct memcg *group, unsigned long nr_pages)
{
	return tracker_charge((struct tracker *)group, (long)nr_pages);
}

static inline void uncharge(struct memcg *group, unsigned long nr_pages)
{
	tracker_uncharge((struct tracker *)group, NULL, (long)nr_pages);
}
#else
#include <memcg/inline.h>

static inline int charge(struct memcg *group, unsigned long nr_pages)
{
	return memcg_inline_charge(group, nr_pages, 0);
}

static inline void uncharge(struct memcg *group, unsigned long nr_pages)
{
	memcg_inline_uncharge(group, nr_pages);
}
#endif

MEMCG_API int bench_inline_pairs(struct memcg *group, unsigned long nr_pages, unsigned long pairs);

int bench_inline_pairs(struct memcg *group, unsigned long nr_pages, unsigned long pairs)
{
	int err = 0;

	for (; pairs; pairs--) {
		err |= charge(group, nr_pages);
		uncharge(group, nr_pages);
	}
	return err;
}
