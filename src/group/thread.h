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
bool thread_can_look(void);                  /* can a thread find out by itself that it was moved? */
bool thread_look(struct thread_state *self); /* slow section: was it moved? False: ask again */
void thread_fork_prepare(void);
void thread_fork_parent(void);
void thread_fork_child(void); /* the other threads are not in the child: detaches them */

/* member.c. Context: thread. */

/*
 * Makes @group the home of another thread of this process. 0; 1 when that thread learns of it when it next
 * asks for its group, or in its next slow section; -ESRCH, -ENODEV, -ENOMEM; -EOPNOTSUPP where a thread that never attached cannot be told.
 */
int thread_move(struct memcg *group, pid_t tid);
bool threads_populated(struct memcg *memcg); /* cgroup.events: is any thread at home here or below? */
void threads_settle(void);                   /* forgets moved threads that have ended */
bool threads_unknown(void);                  /* are there moved threads that do not know it yet? Any context */
/* The threads at home in @memcg; the root has those that are nowhere else. @each may take no lock. Returns how many. */
int threads_list(struct memcg *memcg, void (*each)(pid_t tid, void *arg), void *arg);

#endif
