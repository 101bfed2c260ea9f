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
 * G3  Both stay true while the word of pressure is not 0. So they are made true once, and a charge that is
 *     refused again and again at a level finds them so: pressure_linger(). Its drains are one in
 *     PRESSURE_LINGER_NS at most, whoever is refused: they cost all other threads of the process too.
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

/* What a drain takes: of which areas, and of whom. */
struct drain {
	bool (*area)(struct percpu_area *area); /* NULL: of all */
	stock_match group;                      /* page slots of these */
	bytes_match owner;                      /* byte slots of these */
	const struct memcg *top;                /* what both are given */
};

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

static void take(const struct drain *drain)
{
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		struct percpu_area *area = percpu_area(i);

		if (!closed(i) || (drain->area && !drain->area(area)))
			continue;
		rcu_lock();
		bytes_drain_area(area, drain->owner, drain->top);
		stock_drain_area(area, drain->group, drain->top);
		rcu_unlock();
	}
}

/* Drain lock. */
static void run_drain(const struct drain *drain)
{
	close_gates();
	if (sim_fault(FAULT_EARLY_REOPEN))
		open_gates();
	drain_fence();
	take(drain);
	if (!fence_lost)
		open_gates();
}

static bool group_below(const struct memcg *memcg, const void *top)
{
	return css_is_descendant(&memcg->css, &((const struct memcg *)top)->css);
}

static bool owner_below(const struct memcg_objcg *objcg, const void *top)
{
	return group_below(objcg->memcg, top);
}

/* Drain lock: all stock at and below a level. */
static void drain_below(const struct memcg *top)
{
	const struct drain drain = { NULL, group_below, owner_below, top };

	run_drain(&drain);
}

static bool group_dying(const struct memcg *memcg, const void *unused)
{
	(void)unused;
	return memcg_dying(memcg);
}

static bool owner_dead(const struct memcg_objcg *objcg, const void *unused)
{
	(void)unused;
	return load_seq(&objcg->dead);
}

static void drain_dying(void)
{
	const struct drain drain = { NULL, group_dying, owner_dead, NULL };

	lock_take(&drain_lock);
	run_drain(&drain);
	lock_drop(&drain_lock);
}

static bool area_idle(struct percpu_area *area)
{
	return !atomic_xchg(&area->busy, 0);
}

static bool any_group(const struct memcg *memcg, const void *unused)
{
	(void)memcg;
	(void)unused;
	return true;
}

static bool any_owner(const struct memcg_objcg *objcg, const void *unused)
{
	(void)objcg;
	(void)unused;
	return true;
}

/*
 * Concurrency ids compact: what a higher one holds, nobody uses. Areas with no slow path
 * since the last call are emptied; a busy one that only hits its stock pays one refill for it.
 */
static void drain_idle(void)
{
	const struct drain drain = { area_idle, any_group, any_owner, NULL };

	lock_take(&drain_lock);
	run_drain(&drain);
	lock_drop(&drain_lock);
}

void pressure_begin(struct memcg *memcg)
{
	if (page_counter_hold(&memcg->memory))
		return;
	lock_take(&drain_lock);
	/* Another may have been faster. */
	if (!(load_seq(&memcg->memory.pressure) & PRESSURE_CLEAN)) {
		drain_below(memcg);
		rcu_synchronize();
		page_counter_clean(&memcg->memory);
	}
	lock_drop(&drain_lock);
}

void pressure_end(struct memcg *memcg)
{
	page_counter_let_go(&memcg->memory, false);
}

void pressure_linger(struct memcg *memcg)
{
	page_counter_let_go(&memcg->memory, true);
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
	while ((pos = css_next(pos, &root->css)))
		memcg_of(pos)->memory.pressure = 0;
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
