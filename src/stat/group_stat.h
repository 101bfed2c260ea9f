/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a group: what is flushed, and where its per-CPU parts are.
 *
 * Three arrays for each kind of item:
 *
 *   state     the group and all below it, as of the last flush
 *   local     the group alone. Per node always (the limit of shadow nodes reads it); of the whole group only where v1
 *             files exist, which alone read it (S4)
 *   pending   what flushes of children added, and this group's has not taken yet
 */
#ifndef STAT_GROUP_STAT_H
#define STAT_GROUP_STAT_H

#include "base/lock.h"
#include "stat/percpu.h"

#ifndef MEMCG_V1
#define MEMCG_V1 1
#endif

/* Node items of a group on a node. */
struct node_stats {
	int64_t state[STAT_NR_NODE];   /* stat lock; read anywhere */
	int64_t local[STAT_NR_NODE];   /* the same */
	int64_t pending[STAT_NR_NODE]; /* stat lock */
};

struct group_locals {
	int64_t local[STAT_NR]; /* stat lock; read anywhere */
};

struct group_stat {
	/* What updates read. */
	char *base;                /* its block on index 0; constant while not dead */
	struct group_stat *parent; /* NULL: the root; constant */
	uint32_t dead;             /* 1: its group is destroyed, updates go to the nearest living one above; set once */
	uint32_t number;           /* of its block; constant */

	/* What updates write, seldom. */
	int64_t updates pair_aligned; /* page units reported since the last flush; atomic */

	/* What flushes write; stat lock. */
	struct group_stat *children pair_aligned; /* those of its children that are to be flushed */
	struct group_stat *next;                  /* in the parent's list of these */
	struct group_stat **link;                 /* what points to it there; NULL: not in it */
	bool linked;                              /* it, or one below it, is to be flushed; read anywhere */
	bool freed;                               /* its block is given back */
	uint64_t *updated;                        /* bit per index: marked since the last flush */
	uint64_t *touched;                        /* bit per index: ever marked */
	struct group_locals *locals;              /* NULL: no v1 files */
	int64_t state[STAT_NR];                   /* read anywhere */
	int64_t pending[STAT_NR];                 /* from children */
	struct node_stats nodes[];                /* nodes_nr of them; then the bits */
};

/* E1 */
_Static_assert(offsetof(struct group_stat, updates) % PAIR_SIZE == 0,
	       "reports are a pair apart from what updates read");
_Static_assert(offsetof(struct group_stat, children) % PAIR_SIZE == 0, "flushes are a pair apart from reports");

extern struct lock stat_lock; /* flushes, blocks, what is to be flushed */
extern bool stat_v1;          /* the files of v1 exist; constant after start */

int stat_start(bool v1);
void stat_stop(void); /* undoes it, where the rest of the start fails */

int group_stat_create(struct group_stat *parent, struct group_stat **out); /* -ENOMEM; thread context */
size_t group_stat_bytes(void);                 /* of the library's memory for one, but for its block */
void group_stat_free(struct group_stat *stat); /* after the grace period; NULL is ignored */

/* From here on updates go to the parent's, once the next fence and grace period are over. */
static inline void group_stat_kill(struct group_stat *stat)
{
	store_seq(&stat->dead, 1);
}

#endif
