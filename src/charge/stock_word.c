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

static uint64_t slot_word(const struct memcg *memcg, unsigned int room, unsigned int held)
{
	return memcg->fast.owner | (uint64_t)(room - held) << 16 | held;
}

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

		if (atomic_add(&area->budget, pages) <= percpu_budget)
			return true;
		atomic_sub(&area->budget, pages);
		hand = load_relaxed(&area->page_hand);
		store_relaxed(&area->page_hand, hand + 1);
		evict(index, area, &area->page_slots[hand % PAGE_SLOTS], gate);
	}
	return false;
}

/* Give the group a slot on this CPU. False: not now; the counters serve. */
static bool place(struct memcg *memcg)
{
	unsigned int index = percpu_index();
	struct percpu_area *area = percpu_area(index);
	uint64_t gate = percpu_gate(area), before, expected;
	uint64_t *slot;
	bool placed;

	percpu_touch(index);
	if (memcg_dying(memcg) && !sim_fault(FAULT_NO_DYING_CHECK))
		return false;
	if (!slot_reserve(index, area, &memcg->memory, FIRST_ROOM, true))
		return false;
	slot = slot_choose(area, &memcg->fast, &area->page_victim[memcg->css.id % PAGE_SETS], &before);
	expected = sim_fault(FAULT_VICTIM_REREAD) ? load_relaxed(slot) : before;
	placed = percpu_commit(index, area, slot, expected, slot_word(memcg, FIRST_ROOM, 0), gate);
	if (!placed)
		slot_release(area, &memcg->memory, FIRST_ROOM);
	else if (before)
		settle(area, before);
	return placed;
}

/* Double the room of a slot that proved too small. */
static bool grow(struct memcg *memcg, unsigned int index, struct percpu_area *area, uint64_t *slot, uint64_t word,
		 uint64_t gate)
{
	unsigned int more = MEMCG_SLOT_ROOM(word);

	if (more >= MEMCG_STOCK_HIGH || !slot_reserve(index, area, &memcg->memory, more, false))
		return false;
	if (percpu_commit(index, area, slot, word, word + ((uint64_t)more << 16), gate))
		return true;
	slot_release(area, &memcg->memory, more);
	return false;
}

bool stock_take(struct memcg *memcg, unsigned long nr, unsigned long *batch)
{
	unsigned int index = percpu_index();
	struct percpu_area *area = percpu_area(index);
	struct memcg_area *head;
	uint64_t word, *slot;
	unsigned long low;

	*batch = nr;
	if (nr > MEMCG_STOCK_HIGH)
		return false;
	slot = memcg_slot_(&memcg_percpu, &memcg->fast, index, &head, &word);
	if (!slot) {
		low = place(memcg) ? FIRST_ROOM / 2 : 0;
	} else {
		uint64_t gate = percpu_gate(area);
		unsigned int room = MEMCG_SLOT_ROOM(word);

		if (nr <= MEMCG_SLOT_HELD(word) &&
		    percpu_commit(index, area, slot, word, word + nr * MEMCG_SLOT_UNIT, gate))
			return true;
		low = grow(memcg, index, area, slot, word, gate) ? room : room / 2;
	}
	*batch = low > nr ? low : nr;
	return false;
}

/* The slot is too full for @nr: fall to the low mark. */
static bool trim(struct memcg *memcg, unsigned int index, uint64_t *slot, uint64_t word, unsigned long nr)
{
	struct percpu_area *area = percpu_area(index);
	unsigned int room = MEMCG_SLOT_ROOM(word);
	unsigned long held = MEMCG_SLOT_HELD(word) + nr;

	if (held <= room)
		return false;
	if (!percpu_commit(index, area, slot, word, slot_word(memcg, room, room / 2), percpu_gate(area)))
		return false;
	stock_uncharge(memcg, held - room / 2);
	return true;
}

void stock_return(struct memcg *memcg, unsigned long nr)
{
	int attempt;

	for (attempt = 0; attempt < ATTEMPTS && nr <= MEMCG_STOCK_HIGH; attempt++) {
		unsigned int index = percpu_index();
		struct percpu_area *area = percpu_area(index);
		struct memcg_area *head;
		uint64_t word, *slot, gate = percpu_gate(area);

		slot = memcg_slot_(&memcg_percpu, &memcg->fast, index, &head, &word);
		if (!slot) {
			if (!place(memcg))
				break;
		} else if (nr <= MEMCG_SLOT_FREE(word)) {
			if (percpu_commit(index, area, slot, word, word - nr * MEMCG_SLOT_UNIT, gate))
				return;
		} else if (!grow(memcg, index, area, slot, word, gate) && trim(memcg, index, slot, word, nr)) {
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
