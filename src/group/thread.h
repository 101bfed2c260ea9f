/* SPDX-License-Identifier: MIT */
/* Membership of threads. */
#ifndef GROUP_THREAD_H
#define GROUP_THREAD_H

#include <sys/types.h>

#include "group/group.h"
#include "percpu/thread.h"

int thread_start(void);
void threads_lock(void);
void threads_unlock(void);
bool threads_trylock(void); /* nowait */
void threads_untry(void);
void thread_fork_prepare(void);
void thread_fork_parent(void);
void thread_fork_child(void); /* the other threads are not in the child: detaches them */

/* member.c. Context: thread. */

/*
 * Makes @group the home of another thread of this process. 0; 1 when that thread learns of it when it next asks for
 * its group, or in its next slow section; -ESRCH, -ENODEV, -ENOMEM.
 */
int thread_move(struct memcg *group, pid_t tid);
bool threads_populated(struct memcg *memcg); /* cgroup.events: is any thread at home here or below? */
void threads_settle(void);                   /* forgets moved threads that have ended */
bool threads_forget_ended(
	const struct memcg *home); /* all that ended and are still there; NULL: everywhere; true: some */

/* Context: nowait. */
bool threads_unowned(void);                  /* are there threads that must look whether they were moved? */
bool thread_look(struct thread_state *self); /* the calling one does; false: it has to again */

/* The threads at home in @memcg; the root has those that are nowhere else. @each may take no lock. Returns how many. */
int threads_list(struct memcg *memcg, void (*each)(pid_t tid, void *arg), void *arg);

#endif
