/* SPDX-License-Identifier: MIT */
/* The table of attached threads: what thread.c and member.c share. */
#ifndef GROUP_MEMBER_H
#define GROUP_MEMBER_H

#include <sys/types.h>

#include "base/lifeline.h"
#include "group/group.h"
#include "percpu/thread.h"

/* A group that a thread was moved out of by another. */
struct kept {
	struct kept *next;   /* of the same thread; threads lock */
	struct memcg *group; /* holds a reference; constant */
};

struct attached {
	struct attached *next;      /* in its bucket; threads lock */
	struct memcg *home;         /* holds a reference; threads lock */
	struct thread_state *words; /* the thread's own, whose exit takes the entry out; NULL: nobody's; threads lock */
	struct kept *kept;          /* what may be in its hands; threads lock */
	uint64_t start;             /* task_start() of the thread; constant */
	pid_t tid;                  /* of the thread; constant */
	struct lifeline lifeline;   /* of the thread whose own the entry is */
	bool seen;                  /* the thread has taken a home from here; threads lock */
};

/* Under the threads lock. */
struct attached *member_find(pid_t tid);                     /* NULL: none */
void member_add(struct attached *entry, struct memcg *home); /* into the table; takes a reference */
struct memcg *member_del(struct attached *entry);            /* out of it; the home's reference is the caller's */
struct memcg *member_rehome(struct attached *entry, struct memcg *home); /* as both, without a moment between */
struct attached *member_any(void);                                       /* NULL: the table is empty */

bool member_sweep_due(void); /* are there so many that the ended ones should be looked for? Threads lock */

void kept_put(struct kept *list); /* thread context */

#endif
