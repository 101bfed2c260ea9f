/* SPDX-License-Identifier: MIT */
/*
 * The page stock in the kernel's shape: seven slots per CPU under a local trylock, for the
 * variants locked and deferred (source S2).
 *
 *   locked    an overflow or a replaced slot is given back to the counters while the lock is
 *             held: what interrupts that, on this CPU, fails its trylock and walks them too
 *   deferred  decided and stored under the lock, given back after it is released
 *
 * The lock is a word of the area. A thread that is preempted or migrated while it holds it
 * blocks that CPU's stock for others, who use the counters meanwhile: nobody waits for it
 * but a drain. These variants keep no room accounts: they hold at most 7 * 128 pages a CPU,
 * and no fraction of a small limit bounds them.
 */
#include "charge/stock.h"

#if MEMCG_STOCK != MEMCG_STOCK_RSEQ

#include "base/mem.h"
#include "group/slow.h"

#define LOCAL_HIGH MEMCG_STOCK_HIGH
#define LOCAL_LOW (MEMCG_STOCK_HIGH / 2)

/* Pages on their way back to the counters. */
struct leftover {
	struct memcg *memcg; /* whose; NULL: none */
	unsigned long nr;    /* pages */
};

static bool local_trylock(struct percpu_area *area)
{
	if (likely(!atomic_xchg(&area->local.lock, 1)))
		return true;
	percpu_count(area, STOCK_TRYLOCK_FAILURES);
	return false;
}

static void local_unlock(struct percpu_area *area)
{
	store_release(&area->local.lock, 0);
}

static void give_back(const struct leftover *leftover)
{
	if (leftover->memcg && leftover->nr)
		stock_uncharge(leftover->memcg, leftover->nr);
}

/* Lock held. The variant decides on which side of the unlock the counters are walked. */
static void unlock_and_give_back(struct percpu_area *area, const struct leftover *leftover)
{
	if (MEMCG_STOCK == MEMCG_STOCK_LOCKED)
		give_back(leftover);
	local_unlock(area);
	if (MEMCG_STOCK == MEMCG_STOCK_DEFERRED)
		give_back(leftover);
}

static int find(const struct local_stock *local, uint64_t owner)
{
	unsigned int i;

	for (i = 0; i < KERNEL_SLOTS; i++) {
		if (local->cached[i] == owner)
			return (int)i;
	}
	return -1;
}

/* Take @nr pages from this CPU's slot. STOCK_AGAIN: done; else why not. */
static inline enum stock_count consume(struct memcg *memcg, unsigned long nr, struct percpu_area *area)
{
	enum stock_count ret = STOCK_MISS;
	int i;

	if (nr - 1 >= LOCAL_HIGH)
		return STOCK_TOO_LARGE;
	if (!local_trylock(area))
		return STOCK_LOCKED;
	i = find(&area->local, memcg->fast.owner);
	if (i >= 0) {
		ret = STOCK_EMPTY;
		if (area->local.held[i] >= nr) {
			area->local.held[i] -= (uint32_t)nr;
			ret = STOCK_AGAIN;
		}
	}
	local_unlock(area);
	return ret;
}

bool stock_consume(struct memcg *memcg, unsigned long nr)
{
	return consume(memcg, nr, percpu_area(percpu_index())) == STOCK_AGAIN;
}

bool stock_refill(struct memcg *memcg, unsigned long nr)
{
	struct percpu_area *area = percpu_area(percpu_index());
	bool done = false;
	int i;

	if (nr - 1 >= LOCAL_HIGH || !local_trylock(area))
		return false;
	i = find(&area->local, memcg->fast.owner);
	if (i >= 0 && area->local.held[i] + nr <= LOCAL_HIGH) {
		area->local.held[i] += (uint32_t)nr;
		done = true;
	}
	local_unlock(area);
	return done;
}

/* Lock held: the lowest empty slot, else the next victim, whose pages are @leftover. */
static unsigned int free_slot(struct local_stock *local, struct leftover *leftover)
{
	int empty = find(local, 0);
	unsigned int i;

	if (empty >= 0)
		return (unsigned int)empty;
	i = local->victim++ % KERNEL_SLOTS;
	leftover->memcg = memcg_by_number((uint32_t)(local->cached[i] >> 32));
	leftover->nr = local->held[i];
	return i;
}

/* Lock held. False: the group may have no stock. */
static bool put(struct percpu_area *area, struct memcg *memcg, unsigned long nr, struct leftover *leftover)
{
	struct local_stock *local = &area->local;
	int i = find(local, memcg->fast.owner);

	if (i < 0) {
		if (memcg_dying(memcg) || page_counter_pressed(&memcg->memory))
			return false;
		i = (int)free_slot(local, leftover);
		local->cached[i] = memcg->fast.owner;
		local->held[i] = (uint32_t)nr;
		return true;
	}
	local->held[i] += (uint32_t)nr;
	if (local->held[i] > LOCAL_HIGH) {
		leftover->memcg = memcg;
		leftover->nr = local->held[i] - LOCAL_LOW;
		local->held[i] = LOCAL_LOW;
	}
	return true;
}

void stock_return(struct memcg *memcg, unsigned long nr)
{
	unsigned int index = percpu_index();
	struct percpu_area *area = percpu_area(index);
	struct leftover leftover = { 0 };

	percpu_touch(index);
	if (nr > LOCAL_HIGH || !local_trylock(area)) {
		stock_uncharge(memcg, nr);
		return;
	}
	if (!put(area, memcg, nr, &leftover)) {
		leftover.memcg = memcg;
		leftover.nr = nr;
	}
	unlock_and_give_back(area, &leftover);
}

bool stock_take(struct memcg *memcg, unsigned long nr, unsigned long *batch)
{
	struct percpu_area *area = percpu_area(percpu_index());
	enum stock_count why = consume(memcg, nr, area);

	*batch = nr;
	if (why != STOCK_AGAIN && nr < LOCAL_LOW) {
		if (page_counter_pressed(&memcg->memory))
			why = STOCK_PRESSED;
		else if (!memcg_dying(memcg))
			*batch = LOCAL_LOW;
		else if (why == STOCK_MISS)
			why = STOCK_UNPLACED;
	}
	percpu_count(area, why);
	return why == STOCK_AGAIN;
}

void stock_drain_area(struct percpu_area *area, stock_match match, const void *arg)
{
	struct local_stock *local = &area->local;
	unsigned int i, attempt = 0;

	while (atomic_xchg(&local->lock, 1))
		clock_pause(attempt++, &local->lock);
	for (i = 0; i < KERNEL_SLOTS; i++) {
		struct memcg *memcg = memcg_by_number((uint32_t)(local->cached[i] >> 32));

		if (!local->cached[i] || !match(memcg, arg))
			continue;
		if (local->held[i])
			stock_uncharge(memcg, local->held[i]);
		local->held[i] = 0;
		local->cached[i] = 0;
	}
	local_unlock(area);
}

/* The fast path holds the lock outside slow sections, so that fork does not wait for it; it changes one number, or not yet. */
void stock_fork_child(struct percpu_area *area)
{
	if (load_relaxed(&area->local.lock)) /* also in an area that nothing was placed in yet */
		store_relaxed(&area->local.lock, 0);
}

bool stock_take_budget(unsigned int index, struct percpu_area *area, unsigned int pages)
{
	(void)index; /* no page slot has a part of it: there is none to evict */
	return stock_try_budget(area, pages);
}

#endif
