/* SPDX-License-Identifier: MIT */
/* Membership of threads. */
#ifndef GROUP_THREAD_H
#define GROUP_THREAD_H

#include <sys/types.h>

#include "group/group.h"

int thread_start(void);
void threads_lock(void);
void threads_unlock(void);
void thread_fork_prepare(void);
void thread_fork_parent(void);
void thread_fork_child(void);                        /* the other threads are not in the child: detaches them */
bool threads_forget_ended(const struct memcg *home); /* detach those that ended unseen; true: there were some */
int threads_list(struct memcg *memcg, void (*each)(pid_t tid, void *arg),
		 void *arg); /* attached ones; no lock may be taken by @each */

#endif
