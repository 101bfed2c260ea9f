/* SPDX-License-Identifier: MIT */
/*
 * Per-CPU parts of statistics, in chunks.
 *
 * A chunk is one reserved range with a stripe for each index, STAT_STRIDE apart, and one more: what cannot be
 * counted in a CPU's own part goes to the last, by atomics (late index). A stripe is a head, then
 * a block for each of the chunk's slots, so a group's block on index i is at base + i * STAT_STRIDE. The
 * kernel commits a page when it is touched: an idle group costs its address space, and nothing at creation.
 *
 * Where overcommit_memory is 2 a chunk becomes usable in steps, as its slots are given out; else at once.
 *
 * A block is zero when it is given out: what was touched is zeroed before it is given back,
 * but for the count of updates (up to 63) of one whose own items were never touched: one report of its next user comes early.
 */
#ifndef STAT_PERCPU_H
#define STAT_PERCPU_H

#include "base/nodes.h"
#include "percpu/area.h"
#include "stat/items.h"

#ifdef MEMCG_SIM
#define STAT_STRIDE_SHIFT 13
#define STAT_CHUNKS 64U
#else
#define STAT_STRIDE_SHIFT 16 /* 64 KiB */
#define STAT_CHUNKS 32768U   /* most chunks; each has room for one to 63 blocks */
#endif
#define STAT_STRIDE ((size_t)1 << STAT_STRIDE_SHIFT)
#define STAT_SLOTS 63U /* most blocks in a stripe: one bit each in its mark word */

/* The head of a stripe. */
struct stat_stripe {
	uint64_t marks; /* bit per slot: updated since the last collection; atomic */
};

/* A block: a group's part on one index. What the flusher writes lies pairs apart from what updates write. */
struct stat_block {
	uint64_t mark;    /* the epoch under which it was last marked as updated */
	uint64_t updates; /* page units not yet reported to group_stat.updates; never reset by others */
	int64_t items[STAT_NR - STAT_NODE_END]; /* group items and events */
	int64_t node_items[][STAT_NR_NODE];     /* for each node; then the flushed values of all of these */
};

struct group_stat;

extern int stat_steps;             /* chunks become usable in steps: 1, 0; -1, the default: where the kernel wants it */
extern size_t stat_flushed_off;    /* from a block to the flushed values, the same items in the same order; constant */
extern unsigned int stat_nr_index; /* percpu_nr and the late index; constant after start */
extern char *stat_node_wide;       /* block on index 0 whose node items count for the whole node; constant */
extern struct stat_tops *stat_tops; /* per index; constant */

/* Which chunks have marks, two levels of bits; per index. */
#define STAT_TOP_WORDS (STAT_CHUNKS / 64U)
#define STAT_TOPMOST_WORDS ((STAT_TOP_WORDS + 63U) / 64U)
struct stat_tops {
	uint32_t used pair_aligned;           /* 1: this index has had marks; atomic */
	uint64_t topmost[STAT_TOPMOST_WORDS]; /* bit per word of top that has bits; atomic */
	uint64_t top[STAT_TOP_WORDS];         /* bit per chunk that has marks; atomic */
};

int stat_percpu_start(void); /* after percpu_start() and nodes_start(); -ENOMEM */
void stat_percpu_stop(void); /* undoes it, where the rest of the start fails */

/* Under the stat lock: a zeroed block; @base is where it is on index 0. -ENOMEM. */
int stat_block_alloc(struct group_stat *owner, uint32_t *number, char **base);
void stat_block_free(uint32_t number, const uint64_t *touched);         /* zeroes it where a bit of @touched is set */
struct group_stat *stat_block_owner(uint32_t chunk, unsigned int slot); /* NULL: none */
struct stat_stripe *stat_stripe_at(uint32_t chunk, unsigned int index); /* NULL: no such chunk */

#define STAT_BLOCK_CHUNK(number) ((number) / (STAT_SLOTS + 1U))
#define STAT_BLOCK_SLOT(number) ((number) % (STAT_SLOTS + 1U))

static inline struct stat_block *stat_block_at(char *base, unsigned int index)
{
	return (struct stat_block *)(void *)(base + ((size_t)index << STAT_STRIDE_SHIFT));
}

/* The stripe on @index that a block is in. */
static inline struct stat_stripe *stat_stripe_of(uint32_t number, char *base, unsigned int index)
{
	size_t off = PAIR_SIZE + (size_t)STAT_BLOCK_SLOT(number) * 2 * stat_flushed_off;

	return (struct stat_stripe *)(void *)(base - off + ((size_t)index << STAT_STRIDE_SHIFT));
}

/* From a block to an item in it; @node counts for node items only. */
static inline size_t stat_item_off(enum stat_item item, unsigned int node)
{
	if (item < STAT_NODE_END)
		return offsetof(struct stat_block, node_items) +
		       ((size_t)node * STAT_NR_NODE + (size_t)item) * sizeof(int64_t);
	return offsetof(struct stat_block, items) + (size_t)(item - STAT_NODE_END) * sizeof(int64_t);
}

static inline int64_t *stat_value_at(char *base, unsigned int index, size_t off)
{
	return (int64_t *)(void *)(base + ((size_t)index << STAT_STRIDE_SHIFT) + off);
}

static inline int64_t *stat_flushed_at(char *base, unsigned int index, size_t off)
{
	return stat_value_at(base, index, stat_flushed_off + off);
}

#endif
