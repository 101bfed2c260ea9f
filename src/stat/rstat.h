/* SPDX-License-Identifier: MIT */
/* Which groups were updated where, and their flush. */
#ifndef STAT_RSTAT_H
#define STAT_RSTAT_H

#include "stat/group_stat.h"

#define RSTAT_BATCH 64                      /* page units that an index may keep to itself, per group */
#define RSTAT_PERIOD_NS 2000000000ULL       /* of the periodic flush */
#define RSTAT_LATE_NS (2 * RSTAT_PERIOD_NS) /* a periodic flush is one full cycle late */

/* What every update reads and a flush writes. */
struct rstat {
	uint64_t epoch pair_aligned;   /* of marks; a collection begins the next */
	int64_t threshold;             /* page units reported by which a group is due: RSTAT_BATCH an index in use */
	uint64_t flushes pair_aligned; /* that were made; relaxed */
	uint64_t flushed_groups;       /* by them; relaxed */
	uint32_t running;              /* 1: a flush has begun to reset reports, and is not done; atomic */
	uint64_t last;                 /* when the root was last flushed; clock_ns(); relaxed */
};
extern struct rstat rstat
	__attribute__((visibility("hidden"))); /* without a register, in sequences that have none to spare */

/* What a flush costs, for memcg-bench flush, which compiles the library for it (RSTAT_TICKS); else nothing. */
struct rstat_ticks {
	uint64_t whole;     /* in flush_one() */
	uint64_t aggregate; /* of that, in the items of the whole group */
	uint64_t groups;    /* flushed */
	uint64_t items;     /* that had changed */
};

#ifdef RSTAT_TICKS
extern struct rstat_ticks rstat_ticks; /* since it was last zeroed; stat lock */
#endif

void rstat_start(void);

/* The group's block on @index holds what no flush has seen. Read section, group not dead. */
void rstat_mark(struct group_stat *stat, unsigned int index);

void rstat_flush(struct group_stat *top);        /* exact for what returned before; thread context, no read section */
void rstat_flush_if_due(struct group_stat *top); /* if more is reported than may lag, or it is 2 s old */
void rstat_flush_ratelimited(struct group_stat *top); /* if the periodic flush is late */
void rstat_flush_periodic(struct group_stat *root);   /* if RSTAT_PERIOD_NS have passed, and there is something */
bool rstat_dirty(void);                               /* is anything marked? May miss what is being marked */

/*
 * Groups that died: after group_stat_kill() and a grace period, children before parents. Their last counts
 * go up, what they had alone goes to the parent, per-CPU parts are given back.
 */
void rstat_retire_begin(void);
void rstat_retire(struct group_stat *stat);
void rstat_retire_end(void);

void rstat_forget(struct group_stat *stat); /* one that was never used */

void rstat_fork_prepare(void);
void rstat_fork_parent(void);
void rstat_fork_child(void);

#endif
