/* SPDX-License-Identifier: MIT */
/*
 * Drains: other CPUs' stock, taken exactly, and waited for.
 *
 *   1. lead the fast path to areas without slots, and close the gate of every area in use: no operation
 *      that begins now finds a slot, no commit that reads a gate now succeeds
 *   2. one fence: each commit that had read it open has been made, or never will be
 *   3. take what matches, give it back to the counters
 *   4. open the gates, two further than they were, and lead the fast path back
 *   5. a grace period: no slow section that began before has pages in hand
 *
 * Drains are serialised by the drain lock, so that none opens what another closed. Groups that do
 * not match keep their stock; their threads use the counters for the microseconds between
 * 1 and 4.
 *
 * G1  After pressure_begin(top) no page below top is in a slot, nor in hand on its way between
 *     slot and counter, until pressure_end(): a placement either asked before (then the
 *     gate has moved, and it fails) or sees the pressure.
 * G2  Every climb through top that is not decided is counted in top's word then: one that
 *     began before the grace period has ended, later ones see the pressure.
 *
 * Where the kernel refuses the fence since the start (a filter installed later), what is in use stays
 * closed for good and stock is not used any more; what a sequence under way at that instant commits
 * can no longer be excluded, but is waited for.
 */
#include "charge/drain.h"

#include <sched.h>
#include <time.h>

#include "base/mem.h"
#include "charge/obj_stock.h"
#include "group/house.h"
#include "group/slow.h"
#include "percpu/fence.h"

static struct lock drain_lock = LOCK_INIT(LOCK_RANK_DRAIN);
static bool fence_lost; /* the kernel refuses it: gates stay closed; drain lock */

/* What a drain takes. */
struct match {
	const struct memcg *top; /* groups below and this one; NULL: dying groups */
};

static bool match_group(const struct memcg *memcg, const void *arg)
{
	const struct match *match = arg;

	return match->top ? css_is_descendant(&memcg->css, &match->top->css) : memcg_dying(memcg);
}

static bool match_owner(const struct memcg_objcg *objcg, const void *arg)
{
	const struct match *match = arg;

	if (!match->top)
		return load_seq(&objcg->dead);
	return css_is_descendant(&objcg->memcg->css, &match->top->css);
}

static void close_gates(void)
{
	unsigned int i;

	percpu_close();
	for (i = 0; i < percpu_nr; i++) {
		if (percpu_touched(i))
			store_seq(&percpu_area(i)->head.gate, percpu_area(i)->head.gate | 1);
	}
}

/*
 * Did this drain close it? An area that came into use meanwhile was not closed, and is left alone: what is to be taken
 * may not be placed there (who asks sees why), and anything else in it is being changed.
 */
static bool closed(unsigned int i)
{
	return percpu_touched(i) && ((percpu_area(i)->head.gate & 1) || sim_fault(FAULT_EARLY_REOPEN));
}

static void open_gates(void)
{
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		struct percpu_area *area = percpu_area(i);

		if (percpu_touched(i) && (area->head.gate & 1))
			store_seq(&area->head.gate, area->head.gate + 1);
	}
	percpu_open();
}

static void drain_fence(void)
{
	struct timespec nap = { .tv_nsec = 50000000 };

	if (!fence_lost && fence_all() == 0)
		return;
	fence_lost = true;
	nanosleep(&nap, NULL);
}

static void take(const struct match *match)
{
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		if (!closed(i))
			continue;
		rcu_lock();
		bytes_drain_area(percpu_area(i), match_owner, match);
		stock_drain_area(percpu_area(i), match_group, match);
		rcu_unlock();
	}
}

/* Drain lock. */
static void drain(const struct match *match)
{
	close_gates();
	if (sim_fault(FAULT_EARLY_REOPEN))
		open_gates();
	drain_fence();
	take(match);
	if (!fence_lost)
		open_gates();
}

void drain_all(struct memcg *top)
{
	struct match match = { .top = top };

	lock_take(&drain_lock);
	drain(&match);
	lock_drop(&drain_lock);
}

static void drain_dying(void)
{
	struct match match = { .top = NULL };

	lock_take(&drain_lock);
	drain(&match);
	lock_drop(&drain_lock);
}

void pressure_begin(struct memcg *memcg)
{
	struct match match = { .top = memcg };

	lock_take(&drain_lock);
	store_seq(&memcg->memory.pressure, memcg->memory.pressure + 1);
	if (!memcg->memory.clean) {
		drain(&match);
		rcu_synchronize();
		memcg->memory.clean = 1;
	}
	lock_drop(&drain_lock);
}

void pressure_end(struct memcg *memcg)
{
	lock_take(&drain_lock);
	/* 0 in the child of a fork that a handler made in the middle of our wait. */
	if (memcg->memory.pressure)
		store_seq(&memcg->memory.pressure, memcg->memory.pressure - 1);
	if (!memcg->memory.pressure)
		memcg->memory.clean = 0;
	lock_drop(&drain_lock);
}

static bool match_any(const struct memcg *memcg, const void *arg)
{
	(void)memcg;
	(void)arg;
	return true;
}

static bool match_any_owner(const struct memcg_objcg *objcg, const void *arg)
{
	(void)objcg;
	(void)arg;
	return true;
}

/*
 * Concurrency ids compact: what a higher one holds, nobody uses. Areas with no slow path
 * since the last call are emptied; a busy one that only hits its stock pays one refill for it.
 */
static void drain_idle(void)
{
	unsigned int i;

	lock_take(&drain_lock);
	close_gates();
	drain_fence();
	for (i = 0; i < percpu_nr; i++) {
		struct percpu_area *area = percpu_area(i);

		if (!closed(i) || atomic_xchg(&area->busy, 0))
			continue;
		rcu_lock();
		bytes_drain_area(area, match_any_owner, NULL);
		stock_drain_area(area, match_any, NULL);
		rcu_unlock();
	}
	if (!fence_lost)
		open_gates();
	lock_drop(&drain_lock);
}

static void fork_prepare(void)
{
	lock_take(&drain_lock);
}

static void fork_parent(void)
{
	lock_drop(&drain_lock);
}

static void fork_child(void)
{
	/* The chargers that held pressure are not in the child, but for this thread, which holds none. */
	struct css *pos = NULL;
	struct memcg *root = memcg_root();
	unsigned int i;

	for (i = 0; i < percpu_nr; i++)
		stock_fork_child(percpu_area(i));
	while ((pos = css_next(pos, &root->css))) {
		memcg_of(pos)->memory.pressure = 0;
		memcg_of(pos)->memory.clean = 0;
	}
	lock_reinit(&drain_lock);
}

static int charge_nowait_step(struct memcg *memcg, unsigned long pages)
{
	return memcg_charge(memcg, pages, 0);
}

__attribute__((constructor)) static void register_steps(void)
{
	group_steps.drain_dying = drain_dying;
	group_steps.drain_idle = drain_idle;
	group_steps.charge = charge_nowait_step;
	group_steps.uncharge = memcg_uncharge;
	group_steps.fork_prepare = fork_prepare;
	group_steps.fork_parent = fork_parent;
	group_steps.fork_child = fork_child;
}
