/* SPDX-License-Identifier: MIT */
/*
 * The RCU facade: the only file that names liburcu, so that a host can give its own
 * epoch scheme. The bulletproof flavour: threads register themselves.
 *
 * A read section of this library also is what fork and drains wait for: every slow path
 * is one (group/slow.h). No callback, no sleep and no grace-period wait inside one.
 */
#ifndef BASE_RCU_H
#define BASE_RCU_H

#include "base/compiler.h"
#include "base/sim.h"

#ifdef MEMCG_SIM

#define rcu_lock() sim_rcu_read_lock()
#define rcu_unlock() sim_rcu_read_unlock()
#define rcu_inside() sim_rcu_read_ongoing()
#define rcu_synchronize() sim_synchronize_rcu()
#define rcu_before_fork() ((void)0)
#define rcu_after_fork_parent() ((void)0)
#define rcu_after_fork_child() ((void)0)

#else

#include <urcu/urcu-bp.h>

/*
 * ThreadSanitizer does not see into liburcu: tell it the two edges that a grace period
 * gives, from each unlock to the end of a synchronize, and from there to later locks.
 */
#ifdef SANITIZE_THREAD
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
extern char rcu_edge_readers, rcu_edge_updater;
#define rcu_tsan_lock() __tsan_acquire(&rcu_edge_updater)
#define rcu_tsan_unlock() __tsan_release(&rcu_edge_readers)
#define rcu_tsan_begin() __tsan_release(&rcu_edge_updater)
#define rcu_tsan_end() __tsan_acquire(&rcu_edge_readers)
#else
#define rcu_tsan_lock() ((void)0)
#define rcu_tsan_unlock() ((void)0)
#define rcu_tsan_begin() ((void)0)
#define rcu_tsan_end() ((void)0)
#endif

static inline void rcu_lock(void)
{
	urcu_bp_read_lock();
	rcu_tsan_lock();
}

static inline void rcu_unlock(void)
{
	rcu_tsan_unlock();
	urcu_bp_read_unlock();
}

/* Is this thread, or what it interrupted, inside a read section? */
static inline bool rcu_inside(void)
{
	return urcu_bp_read_ongoing();
}

static inline void rcu_synchronize(void)
{
	rcu_tsan_begin();
	urcu_bp_synchronize_rcu();
	rcu_tsan_end();
}

#define rcu_before_fork() urcu_bp_before_fork()
#define rcu_after_fork_parent() urcu_bp_after_fork_parent()
#define rcu_after_fork_child() urcu_bp_after_fork_child()

#endif
#endif
