/* SPDX-License-Identifier: MIT */
/*
 * The page stock as words: owner | free | held (include/memcg/inline.h has the fast path).
 *
 * A slot is placed empty, with room, before anything is put in it; only a placed slot ever
 * receives pages. So whoever must know that a group has no stock stops placements, and then
 * drains:
 *
 *   S1  A placement reads the area's gate first, then asks for permission (not dying, no
 *       pressure at any level, room below an eighth of each limit), then commits on
 *       condition that the gate is as read. A drain moves every gate after the
 *       permission was withdrawn: a commit that asked before it fails.
 *   S2  Room is reserved before the commit and returned after the slot is gone, so the sum of
 *       what slots can hold never exceeds what was reserved.
 *   S3  A victim is settled from the word that the commit replaced, never from a second
 *       look: a handler may have changed the slot in between, and then the commit fails.
 *
 * Tolerated: a handler that places the same group between our scan and our commit leaves two
 * slots of one owner in a set. Both are bounded, drained and counted; the second only
 * waits to be evicted.
 *
 * Room starts at FIRST_ROOM and doubles each time the slot proves too small, up to
 * MEMCG_STOCK_HIGH, while the budget has some left: a CPU that serves one group gives it 128
 * pages, one that serves 100 gives each 16. The low mark is half of room: a batch fills to it, an
 * overflow falls back to it, so that a swing costs one walk per half room.
 */
#include "charge/stock.h"

#if MEMCG_STOCK == MEMCG_STOCK_RSEQ

#include "charge/slot.h"
#include "group/slow.h"

#define FIRST_ROOM 16U
#define ATTEMPTS 8 /* commits that may fail before the counters are used instead */

static uint32_t word_owner(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* A word that is out of its slot: what it held and its room go back. Slow section, since before the word was read. */
static void settle(struct percpu_area *area, uint64_t word)
{
	struct memcg *memcg = memcg_by_number(word_owner(word));

	memcg_assert(memcg);
	if (MEMCG_SLOT_HELD(word))
		stock_uncharge(memcg, MEMCG_SLOT_HELD(word));
	slot_release(area, &memcg->memory, MEMCG_SLOT_ROOM(word));
}

static bool evict(unsigned int index, struct percpu_area *area, uint64_t *slot, uint64_t gate)
{
	uint64_t word = load_relaxed(slot);

	if (!word || !percpu_commit(index, area, slot, word, 0, gate))
		return false;
	settle(area, word);
	return true;
}

bool stock_take_budget(unsigned int index, struct percpu_area *area, unsigned int pages)
{
	uint64_t gate = percpu_gate(area);
	unsigned int tries;

	for (tries = 0; tries < PAGE_SLOTS; tries++) {
		unsigned int hand;

		if (stock_try_budget(area, pages))
			return true;
		hand = load_relaxed(&area->page_hand);
		store_relaxed(&area->page_hand, hand + 1);
		evict(index, area, &area->page_slots[hand % PAGE_SLOTS], gate);
	}
	return false;
}

static struct slot_owner owner_of(struct memcg *memcg)
{
	return (struct slot_owner){ &memcg->fast, &memcg->memory, 1, FIRST_ROOM, MEMCG_STOCK_HIGH };
}

/* Give the group a slot on this CPU, after a look that found none. False: not now; the counters serve. */
static bool place(struct memcg *memcg, struct slot_look *look)
{
	const struct slot_owner owner = owner_of(memcg);

	percpu_touch(look->index);
	if (memcg_dying(memcg) && !sim_fault(FAULT_NO_DYING_CHECK))
		return false;
	if (!slot_place(look, &owner, &look->area->page_victim[memcg->css.id % PAGE_SETS]))
		return false;
	if (look->word)
		settle(look->area, look->word);
	return true;
}

bool stock_take(struct memcg *memcg, unsigned long nr, unsigned long *batch)
{
	const struct slot_owner owner = owner_of(memcg);
	enum stock_count why;
	struct slot_look look;
	unsigned long low = 0;
	bool done = false;

	slot_look(&look, &memcg->fast);
	if (nr > MEMCG_STOCK_HIGH) {
		why = STOCK_TOO_LARGE;
	} else if (look.closed) {
		why = STOCK_CLOSED;
	} else if (!look.slot && place(memcg, &look)) {
		why = STOCK_MISS;
		low = FIRST_ROOM / 2;
	} else if (!look.slot) {
		why = page_counter_pressed(&memcg->memory) ? STOCK_PRESSED : STOCK_UNPLACED;
	} else if (nr <= MEMCG_SLOT_HELD(look.word)) {
		why = STOCK_AGAIN;
		done = slot_commit(&look, look.word + nr * MEMCG_SLOT_UNIT);
	} else {
		why = STOCK_EMPTY;
		low = slot_grow_low(&look, &owner);
	}
	percpu_count(look.area, why);
	*batch = low > nr ? low : nr;
	return done;
}

/* The slot is too full for @nr: fall to the low mark. */
static bool trim(struct memcg *memcg, const struct slot_look *look, unsigned long nr)
{
	unsigned int room = MEMCG_SLOT_ROOM(look->word), low = room / 2;

	if (!slot_commit(look, slot_word(&memcg->fast, room, low)))
		return false;
	stock_uncharge(memcg, MEMCG_SLOT_HELD(look->word) + nr - low);
	return true;
}

void stock_return(struct memcg *memcg, unsigned long nr)
{
	const struct slot_owner owner = owner_of(memcg);
	int attempt;

	for (attempt = 0; attempt < ATTEMPTS && nr <= MEMCG_STOCK_HIGH; attempt++) {
		struct slot_look look;

		slot_look(&look, &memcg->fast);
		if (look.closed)
			break;
		if (!look.slot) {
			if (!place(memcg, &look))
				break;
		} else if (nr <= MEMCG_SLOT_FREE(look.word)) {
			if (slot_commit(&look, look.word - nr * MEMCG_SLOT_UNIT))
				return;
		} else if (!slot_grow(&look, &owner) && trim(memcg, &look, nr)) {
			return;
		}
	}
	stock_uncharge(memcg, nr);
}

void stock_drain_area(struct percpu_area *area, stock_match match, const void *arg)
{
	unsigned int i;

	for (i = 0; i < PAGE_SLOTS; i++) {
		uint64_t word = load_relaxed(&area->page_slots[i]);

		/* Portable form: consume and refill go on by exchange; take what is there now. */
		while (word && match(memcg_by_number(word_owner(word)), arg)) {
			if (!atomic_cas(&area->page_slots[i], &word, 0))
				continue;
			settle(area, word);
			break;
		}
	}
}

#endif
