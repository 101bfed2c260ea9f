/* SPDX-License-Identifier: MIT */
/*
 * The page stock of a CPU: pages that are charged to a group, and held here for its next
 * charges. Two shapes have this interface: words (stock_word.c, the default) and the
 * kernel's (stock_local.c, variants locked and deferred).
 *
 * Bound (A2). All slots of a CPU together have room for at most percpu_budget pages, and the slots
 * of all CPUs below a level for at most an eighth of its limit. Nothing is held above room.
 */
#ifndef CHARGE_STOCK_H
#define CHARGE_STOCK_H

#include "base/variant.h"
#include "group/group.h"
#include "percpu/area.h"

/*
 * From and to what this CPU holds; false: not, or look again. The fast forms are for the first look,
 * the others for slow sections and for the portable form.
 */
#if MEMCG_STOCK == MEMCG_STOCK_RSEQ
static inline bool stock_consume(struct memcg *memcg, unsigned long nr)
{
	return memcg_general_(&memcg_percpu, &memcg->fast, nr, 1);
}

static inline bool stock_refill(struct memcg *memcg, unsigned long nr)
{
	return memcg_general_(&memcg_percpu, &memcg->fast, nr, 0);
}
static inline bool stock_consume_fast(struct memcg *memcg, unsigned long nr)
{
	return memcg_fast_(&memcg_percpu, &memcg->fast, nr, 1);
}

static inline bool stock_refill_fast(struct memcg *memcg, unsigned long nr)
{
	return memcg_fast_(&memcg_percpu, &memcg->fast, nr, 0);
}
#else
#define stock_consume_fast(memcg, nr) stock_consume(memcg, nr)
#define stock_refill_fast(memcg, nr) stock_refill(memcg, nr)
bool stock_consume(struct memcg *memcg, unsigned long nr);
bool stock_refill(struct memcg *memcg, unsigned long nr);
#endif

/*
 * Slow section: another look at the stock, which counts why the first failed. False: not from there, and @batch is how many pages the charge should
 * take from the counters, >= @nr. What is more goes to stock_return().
 */
bool stock_take(struct memcg *memcg, unsigned long nr, unsigned long *batch);

/* Slow section: @nr charged pages that nobody uses any more: into the stock, or back to the counters. */
void stock_return(struct memcg *memcg, unsigned long nr);

/* Drain, area closed (words) or locked (local): give back what @match says yes to. */
typedef bool (*stock_match)(const struct memcg *memcg, const void *arg);
void stock_drain_area(struct percpu_area *area, stock_match match, const void *arg);

/* The child of a fork: what a thread that is not there had locked. */
#if MEMCG_STOCK == MEMCG_STOCK_RSEQ
static inline void stock_fork_child(struct percpu_area *area)
{
	(void)area;
}
#else
void stock_fork_child(struct percpu_area *area);
#endif

/* May there be stock below this level? */
static inline bool stock_below(const struct memcg *memcg)
{
	return MEMCG_STOCK != MEMCG_STOCK_RSEQ || load_seq(&memcg->memory.room) > 0;
}

/* Slow section: budget for a slot of either kind in an area; what is left of it, or by evicting page slots if it must. */
bool stock_try_budget(struct percpu_area *area, unsigned int pages);
bool stock_take_budget(unsigned int index, struct percpu_area *area, unsigned int pages);
void stock_put_budget(struct percpu_area *area, unsigned int pages);

/* What the areas counted, in sum (percpu/area.h). A charge that waits counts each time it looks. */
struct stock_counters {
	uint64_t of[STOCK_COUNT_NR];
};
void stock_counters_read(struct stock_counters *counters);

/* Slow section: pages straight to the counters of a group that may be dying. */
void stock_uncharge(struct memcg *memcg, unsigned long nr);

#endif
