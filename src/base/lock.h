/* SPDX-License-Identifier: MIT */
/*
 * A sleeping lock with a rank. A thread takes locks in rising rank; debug builds check it.
 * None of these locks is ever waited for on a fast or nowait path. Who holds one is not cancelled (pthread_cancel):
 * waiting for a grace period is a cancellation point, and malloc is none.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>

#include "base/compiler.h"

enum lock_rank {
	LOCK_RANK_START = 0,   /* start of the library: options, areas, root */
	LOCK_RANK_CONTROL = 1, /* the control socket's descriptors and state */
	LOCK_RANK_HOUSE = 2,   /* one housekeeper at a time; serialises offline work */
	LOCK_RANK_TREE = 3,    /* children lists, names, descendants counts, limits as written */
	LOCK_RANK_DRAIN = 4,   /* one drain at a time; pressure of all levels */
	LOCK_RANK_STAT = 5,    /* flushes of statistics, and their blocks */
	LOCK_RANK_THREADS = 6, /* which threads are attached where */
	LOCK_RANK_IDS = 7,     /* free lists of the id tables */
	LOCK_RANK_NOTIFY = 8,  /* who listens to which file */
	LOCK_RANK_WAKE = 9,    /* the housekeeping thread's bell */
	LOCK_RANK_NR,
};

struct lock {
	pthread_mutex_t mutex; /* the lock itself */
	enum lock_rank rank;   /* constant */
	int cancel_state;      /* of the holder, before it took this; under the lock itself */
};

#define LOCK_INIT(r)                                            \
	{                                                       \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (r) \
	}

void lock_take(struct lock *lock);
bool lock_try(struct lock *lock); /* false: it is held */
void lock_drop(struct lock *lock);
bool lock_try_nowait(struct lock *lock); /* from any context: no rank, nothing is taken after it */
void lock_drop_tried(struct lock *lock);
void lock_reinit(struct lock *lock); /* in the child of a fork, by the thread that held it */

#endif
