/* SPDX-License-Identifier: MIT */
/* Housekeeping: what becomes of destroyed groups and last references. */
#ifndef GROUP_HOUSE_H
#define GROUP_HOUSE_H

#include "group/group.h"

int house_start(bool threads);                    /* may threads be started? */
bool house_threads(void);                         /* as it was told */
void house_queue_offline(struct memcg *memcg);    /* tree lock: destroyed, its remains wait here */
void house_queue_unborn(struct memcg *memcg);     /* was never linked: gone after a grace period */
void house_released(struct memcg *memcg);         /* the last reference is gone; context: fast */
void house_free_objcg(struct memcg_objcg *objcg); /* the same for an owner */
void house_born(void);   /* a group was made: the thread flushes its statistics; thread context */
void house_wake(void);   /* there is work; starts the thread; thread context */
void house_run(void);    /* does it now; thread context, no lock held, not in a read section */
void house_settle(void); /* the owners that are dead now are settled; context as house_run() */
void house_fork_prepare(void);
void house_fork_parent(void);
void house_fork_child(void);
void house_fork_lock_wake(void); /* innermost of the locks that fork holds */
void house_fork_unlock_wake(void);

/* After an uncharge at the own level of a dying group: was that the last that kept it? */
void house_check_zombie(struct memcg *memcg);

/* fork.c: what pthread_atfork() calls. */
void group_fork_prepare(void);
void group_fork_parent(void);
void group_fork_child(void);

int root_create(struct memcg **root);
void root_undo(struct memcg *root);      /* of a start that failed: nobody has seen it */
void group_release(struct memcg *memcg); /* frees; after the grace period */

#endif
