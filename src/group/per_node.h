/* SPDX-License-Identifier: MIT */
/*
 * What a group has on each memory node, and the lruvec in it.
 *
 * Four parts, by who touches them: read-mostly (every update reads it), cold (reparenting only), the lruvec (under its
 * lock), write-hot (counts and the shared iterator of reclaim). Machines that prefetch pairs of lines make
 * neighbours of them; MEMCG_LAYOUT (base/variant.h) says which:
 *
 *   base      read-mostly | lruvec | write-hot | cold, on lines of 64 bytes: the list heads pair with the line
 *             that every update reads
 *   paired    read-mostly | cold | lruvec | write-hot, still on lines: right for an object that begins a pair; one that
 *             begins in the middle pairs its read-mostly line with the end of its neighbour
 *   aligned   the same order on pairs, and so each object: no pair is shared, wherever it lands (E1). The lruvec's
 *             node pointer, which is only read, has left the lines of the lock
 */
#ifndef GROUP_PER_NODE_H
#define GROUP_PER_NODE_H

#include <urcu/list.h>

#include "base/compiler.h"
#include "base/nodes.h"
#include "base/variant.h"

#define LINE_SIZE 64

#if MEMCG_LAYOUT == MEMCG_LAYOUT_ALIGNED
#define part_aligned __attribute__((aligned(PAIR_SIZE)))
#define seldom_aligned part_aligned
#else
#define part_aligned __attribute__((aligned(LINE_SIZE)))
#define seldom_aligned
#endif

/* The lists of an lruvec. The last one is counted, and has no order. */
enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	LRU_NR,
};

#define LRU_TYPES 2 /* anon, file */
#define LRU_ZONES 1 /* a process cannot tell zones apart */

struct memcg;
struct memcg_objcg;
struct memory_node;
struct node_stats;

struct lruvec {
	struct cds_list_head lists[LRU_NR];               /* folios, oldest last; lru lock */
	uint32_t lock;                                    /* the lru lock: 0 free, 1 held, 2 held and waited for */
	uint32_t flags;                                   /* lru lock */
	unsigned long anon_cost;                          /* of reclaiming anon folios; lru lock */
	unsigned long file_cost;                          /* of reclaiming file folios; lru lock */
	unsigned long nonresident_age;                    /* evictions and activations so far; atomic */
	unsigned long refaults[LRU_TYPES] seldom_aligned; /* activations at the end of the last reclaim; relaxed */
	struct memory_node *node;                         /* where it is; set again when the node comes back; relaxed */
};

/* Where the walkers of a subtree go on. */
struct reclaim_iter {
	uint64_t position;   /* id of the last group, with its generation; 0: none; atomic */
	uint32_t generation; /* rounds completed; atomic */
};

struct per_node_read {
	struct memcg *memcg;       /* whose; constant */
	char *percpu;              /* its node items on CPU index 0; constant */
	struct node_stats *stats;  /* what is flushed of them; constant */
	void *shrinker_info;       /* which shrinkers have objects here; RCU */
	struct memcg_objcg *objcg; /* payer of folios here, NULL once reparented; RCU */
};

struct per_node_cold {
	struct memcg_objcg *orig_objcg;  /* what objcg was at first; constant */
	struct cds_list_head objcg_list; /* payers inherited from children; under the owners' lock */
};

struct per_node_hot {
	unsigned long lru_zone_size[LRU_ZONES][LRU_NR]; /* pages; written under the lru lock */
	struct reclaim_iter iter;                       /* of walks that begin at this group */
};

struct mem_cgroup_per_node {
	struct per_node_read read part_aligned;
#if MEMCG_LAYOUT == MEMCG_LAYOUT_BASE
	struct lruvec lruvec part_aligned;
	struct per_node_hot hot part_aligned;
	struct per_node_cold cold part_aligned;
#else
	struct per_node_cold cold __attribute__((aligned(LINE_SIZE)));
	struct lruvec lruvec part_aligned;
	struct per_node_hot hot part_aligned;
#endif
};

/* A node itself: what is on it and belongs to no group. */
struct memory_node {
	struct lruvec lruvec; /* of what has no group */
	unsigned int id;      /* constant */
};

_Static_assert(sizeof(struct per_node_read) <= LINE_SIZE, "an update reads one line");
_Static_assert(sizeof(struct per_node_cold) <= LINE_SIZE, "the cold part completes the pair");
#define per_node_pair(field) (offsetof(struct mem_cgroup_per_node, field) / PAIR_SIZE)
#if MEMCG_LAYOUT == MEMCG_LAYOUT_BASE
_Static_assert(per_node_pair(read) == per_node_pair(lruvec.lists), "the list heads are next to what updates read");
#else
_Static_assert(offsetof(struct mem_cgroup_per_node, cold) == LINE_SIZE, "the cold part is next to what updates read");
_Static_assert(offsetof(struct mem_cgroup_per_node, lruvec) == PAIR_SIZE, "the lruvec begins the next pair");
#endif
#if MEMCG_LAYOUT == MEMCG_LAYOUT_ALIGNED
_Static_assert(_Alignof(struct mem_cgroup_per_node) == PAIR_SIZE, "each object begins a pair");
_Static_assert(sizeof(struct mem_cgroup_per_node) % PAIR_SIZE == 0, "and ends one");
_Static_assert(per_node_pair(hot) > per_node_pair(lruvec.node), "what is counted is a pair apart");
_Static_assert(per_node_pair(lruvec.node) > per_node_pair(lruvec.nonresident_age), "the node is apart from the lock");
#endif

extern struct memory_node *memory_nodes; /* nodes_nr of them; constant after start */

int per_node_start(void);                     /* the nodes' own; -ENOMEM */
void per_node_stop(void);                     /* undoes it, where the rest of the start fails */
int per_node_create(struct memcg *memcg);     /* a part for each node; -ENOMEM */
void per_node_set_owner(struct memcg *memcg); /* before others see the group */
void per_node_free(struct memcg *memcg);      /* NULL parts are ignored */

/* Is @lruvec a node's own, of what has no group? */
static inline bool lruvec_is_node(const struct lruvec *lruvec)
{
	uintptr_t at = (uintptr_t)lruvec - (uintptr_t)memory_nodes;

	return at < nodes_nr * sizeof(*memory_nodes);
}

/* The per-node part that an lruvec is in. Not for a node's own. */
static inline struct mem_cgroup_per_node *lruvec_per_node(struct lruvec *lruvec)
{
	return container_of(lruvec, struct mem_cgroup_per_node, lruvec);
}

/*
 * The lruvec of a group on a node; the node's own where nothing is accounted (@memcg NULL, or the unaccounted one).
 * Its node may have come after the group was made, or gone and come back: it is set on the way.
 */
struct lruvec *memcg_lruvec(struct memcg *memcg, unsigned int node);

#endif
