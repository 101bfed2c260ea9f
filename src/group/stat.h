/* SPDX-License-Identifier: MIT */
/*
 * Statistics of groups: what upper floors count with.
 *
 * An item per node counts for the node as a whole first, always, outside any read section; then for
 * the group, if there is one. MEMCG_STAT_PATH (base/variant.h) chooses the way to the group's part:
 *
 *   direct    (group, node) as the caller has them
 *   lruvec    by the lruvec, whose node pointer lies beside what reclaim writes (S1, before)
 *
 * Both entry points exist in both: what differs is which one is the wrapper.
 * Context of all: fast, and nowait where a look again is needed; from signal handlers too (B4). The caller keeps the group.
 */
#ifndef GROUP_STAT_H
#define GROUP_STAT_H

#include "group/group.h"
#include "stat/add.h"

/* A node item of what has no group, @memcg NULL or unaccounted, counts for the node only. */
void memcg_mod_node(struct memcg *memcg, unsigned int node, enum stat_item item, long nr);
void memcg_mod_lruvec(struct lruvec *lruvec, enum stat_item item, long nr);

/*
 * Heap: @pages more (or fewer) hold bytes that nothing can take back. Where the kernel puts them is not known: they
 * count on node 0.
 */
void memcg_mod_heap(struct memcg *memcg, long pages);

void memcg_mod_state(struct memcg *memcg, enum stat_item item, long nr);             /* an item of the group alone */
void memcg_count_event(struct memcg *memcg, enum stat_item event, unsigned long nr); /* or an event */

#endif
