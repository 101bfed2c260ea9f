/* SPDX-License-Identifier: MIT */
/*
 * What page slots and byte slots share: a look at this CPU's slot, where a new one goes, and the room that it is given.
 * A unit is a page, or one of the MEMCG_PAGE_SIZE bytes of a page: what a slot's word counts in.
 */
#ifndef CHARGE_SLOT_H
#define CHARGE_SLOT_H

#include "charge/stock.h"

/* One look. What is decided by it is committed only if all of it is still so. */
struct slot_look {
	unsigned int index;       /* this thread's area */
	struct percpu_area *area; /* the same */
	uint64_t gate;            /* as a commit expects it; read before anything else */
	bool closed;              /* it was not so: a drain is at work, no commit will succeed */
	uint64_t *slot;           /* the owner's slot there; NULL: it has none */
	uint64_t word;            /* what the slot held */
};

static inline void slot_look(struct slot_look *look, const struct memcg_fast *fast)
{
	struct memcg_area *head;

	look->index = percpu_index();
	look->area = percpu_area(look->index);
	look->gate = load_relaxed(&look->area->head.gate);
	look->closed = look->gate & 1;
	look->gate &= ~1ULL;
	look->slot = memcg_slot_(&memcg_percpu, fast, look->index, &head, &look->word);
}

static inline bool slot_commit(const struct slot_look *look, uint64_t after)
{
	return percpu_commit(look->index, look->area, look->slot, look->word, after, look->gate);
}

static inline uint64_t slot_word(const struct memcg_fast *fast, size_t room, size_t held)
{
	return fast->owner | (uint64_t)(room - held) << 16 | held;
}

/* Who gets a slot, and of what size. */
struct slot_owner {
	const struct memcg_fast *fast; /* its number and set */
	struct page_counter *counter;  /* the level whose room it takes, and that of those above */
	unsigned int unit;             /* units of a page */
	unsigned int first;            /* pages of room that a new slot has */
	unsigned int most;             /* pages of room that a slot grows to */
};

/*
 * A new slot, empty, after a look that found none. May evict others. True: @look is at it, and its word is what was
 * there before, which is the caller's to settle. False: @look still is at none, and the counters serve.
 */
bool slot_place(struct slot_look *look, const struct slot_owner *owner, uint8_t *victim);

/* Double the room of a slot that proved too small, if budget and limits allow; never evicts. */
bool slot_grow(const struct slot_look *look, const struct slot_owner *owner);

/* The same for a charge. Returns the low mark in pages, to which a batch fills it: half its room. */
unsigned int slot_grow_low(const struct slot_look *look, const struct slot_owner *owner);

/* The room of a slot that is gone. */
void slot_release(struct percpu_area *area, struct page_counter *counter, unsigned int pages);

#endif
