/* SPDX-License-Identifier: MIT */
/*
 * fork (B5).
 *
 * A plain fork copies the levels of other threads' climbs as they are, and the child's
 * tree disagrees with itself. So the forking thread closes the gate of the slow
 * section and waits for those under way by a grace period; it holds every lock of the
 * library in rank order, so that no drain has a gate closed. The fast path needs nothing: a slot
 * changes by one store.
 *
 * Signals are blocked in the forking thread from before the gate until after the fork: a
 * handler there would wait for its own thread. A fork out of a handler that interrupted a
 * slow section of the same thread cannot wait for that one: its child may find a climb
 * half done. fork() in such handlers is not supported with charges in them.
 *
 * Who meets the gate may hold what the fork waits for next: after these handlers fork takes the
 * locks of malloc, and of handlers that were registered earlier, and a signal handler may charge
 * amid malloc. Neither can know of the other. So the wait ends: after GATE_NS the waiting thread
 * opens the gate, and this one child may find a climb half done; nobody dead-locks.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "base/mem.h"
#include "group/group.h"
#include "group/house.h"
#include "group/slow.h"
#include "group/thread.h"
#include "percpu/area.h"
#include "stat/rstat.h"

struct thread_state *slow_gate;

#define GATE_NS 1000000000U /* longest wait for a fork */

static struct thread_state *forker; /* from prepare to the end, by that thread, whatever becomes of the gate */
static sigset_t saved_mask;         /* of the forking thread; held by the house lock */
static uint64_t gate_nr;            /* forks so far; written under the house lock, before the gate */

void thread_begin(void)
{
	struct thread_state *self = thread_self();
	uint32_t moves = load_acquire(&thread_moves);

	if (!self->started) {
		self->started = 1;
		percpu_thread_start(&self->index);
	}
	if (thread_look(self))
		self->looked = moves;
}

bool slow_forking(void)
{
	return load_relaxed(&forker) == thread_self();
}

void slow_wait(void)
{
	uint64_t nr = load_seq(&gate_nr), since = clock_ns();
	struct thread_state *forking;
	unsigned int attempt = 0;

	while ((forking = load_seq(&slow_gate)) && forking != thread_self() && load_seq(&gate_nr) == nr) {
		if (clock_ns() - since > GATE_NS) {
			atomic_cas(&slow_gate, &forking, NULL);
			return;
		}
		clock_pause(attempt++, &slow_gate);
	}
}

void slow_gate_met(void)
{
	struct thread_state *forking;

	while ((forking = load_seq(&slow_gate)) && forking != thread_self()) {
		rcu_unlock();
		/* Nested, in a handler that interrupted a slow section: the fork waits for us. */
		if (rcu_inside()) {
			rcu_lock();
			return;
		}
		slow_wait();
		rcu_lock();
	}
}

void group_fork_prepare(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	house_fork_prepare();
	saved_mask = mask;
	store_relaxed(&forker, thread_self());
	lock_take(&tree_lock);
	if (group_steps.fork_prepare)
		group_steps.fork_prepare();
	rstat_fork_prepare();
	thread_fork_prepare();
	id_lock_fork();
	notify_fork_prepare();
	house_fork_lock_wake();
	store_seq(&gate_nr, gate_nr + 1);
	store_seq(&slow_gate, thread_self());
	if (!rcu_inside())
		rcu_synchronize();
	rcu_before_fork();
}

void group_fork_parent(void)
{
	sigset_t mask = saved_mask;

	rcu_after_fork_parent();
	store_seq(&slow_gate, NULL);
	house_fork_unlock_wake();
	notify_fork_parent();
	id_unlock_parent();
	thread_fork_parent();
	rstat_fork_parent();
	if (group_steps.fork_parent)
		group_steps.fork_parent();
	lock_drop(&tree_lock);
	store_relaxed(&forker, NULL);
	house_fork_parent();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void group_fork_child(void)
{
	sigset_t mask = saved_mask;

	rcu_after_fork_child();
	store_seq(&slow_gate, NULL);
	notify_fork_child();
	id_unlock_child();
	thread_fork_child();
	rstat_fork_child();
	if (group_steps.fork_child)
		group_steps.fork_child();
	lock_reinit(&tree_lock);
	store_relaxed(&forker, NULL);
	house_fork_child();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
