/* SPDX-License-Identifier: MIT */
/*
 * The slow section: what walks counters, places or evicts slots, or follows an owner.
 *
 * It is an RCU read section. Three things wait for those under way by a grace period:
 * who frees groups, who needs to know that no page is between a slot and a counter
 * (drains, offline), and fork, which also keeps new ones from starting: the levels of
 * the child's tree agree (B5). It never sleeps; a thread that meets a fork waits until
 * the fork is done, as it would on its next page fault, or for GATE_NS (fork.c).
 */
#ifndef GROUP_SLOW_H
#define GROUP_SLOW_H

#include "base/mem.h"
#include "base/rcu.h"
#include "percpu/area.h"
#include "percpu/thread.h"

extern struct thread_state *slow_gate; /* the thread that forks, NULL: none; seq_cst */

bool slow_forking(void); /* this thread is amid a fork: it holds every lock of the library */
void slow_wait(void);    /* until no other thread forks, or it does so for too long: then its gate is opened */
void thread_begin(void); /* a thread's first slow section, or the first after threads were moved */

extern uint32_t thread_moves; /* moves of threads that do not know of it yet, from 1; never 0 */

/* The gate is met. Returns inside a read section, when this thread may go on. */
void slow_gate_met(void);

static inline void slow_enter(void)
{
	if (unlikely(thread_self()->looked != load_relaxed(&thread_moves)))
		thread_begin();
	rcu_lock();
	if (unlikely(load_seq(&slow_gate)))
		slow_gate_met();
	store_relaxed(&percpu_area(percpu_index())->busy, 1);
}

static inline void slow_leave(void)
{
	rcu_unlock();
}

#endif
