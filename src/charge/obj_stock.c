/* SPDX-License-Identifier: MIT */
/*
 * The byte stock: a slot is one word, owner | free | held. Bytes are charged in whole pages; what an
 * object leaves of its last page waits in a slot for the next.
 *
 *   B1  A slot holds at most its room, which starts at two pages and doubles to eight as page slots' does; it
 *       is reserved like theirs (budget, an eighth of each limit).
 *   B2  What leaves a slot goes as whole pages to the page stock, or to the residue of its owner, which
 *       stays under a page: whole pages that it collects are given back at once. (A dead owner's do
 *       not: see objcg.c.)
 *   B3  Placement asks for permission as page slots do (stock_word.c, S1).
 *
 * An overflow keeps the part of a page and half the room, and a charge takes half the room at once, so
 * that small objects move pages seldom.
 */
#include "charge/obj_stock.h"

#include "charge/slot.h"
#include "group/slow.h"
#include "group/stat.h"

#define ATTEMPTS 8 /* commits that may fail before residue and counters are used instead */
#define PAGE ((size_t)MEMCG_PAGE_SIZE)

void bytes_count_pages(struct memcg_objcg *objcg, int64_t pages)
{
	uint32_t id = objcg_id(objcg);
	int attempt;

	memcg_mod_heap(objcg->memcg, pages);
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		unsigned int index = percpu_index();
		struct percpu_area *area = percpu_area(index);
		uint64_t *count = (uint64_t *)&area->owner_pages[id];
		uint64_t old = load_relaxed(count);

		percpu_touch(index);
		if (percpu_commit(index, area, count, old, old + (uint64_t)pages, percpu_gate(area)))
			return;
	}
	atomic_add(&objcg->moved_pages, pages);
}

static void pages_back(struct memcg_objcg *objcg, unsigned long pages)
{
	pages = objcg_may_give(objcg, pages);
	if (!pages)
		return;
	bytes_count_pages(objcg, -(int64_t)pages);
	if (!stock_refill(objcg->memcg, pages))
		stock_return(objcg->memcg, pages);
}

static void to_residue(struct memcg_objcg *objcg, size_t bytes)
{
	if (sim_fault(FAULT_DROP_REMAINDER))
		return;
	pages_back(objcg, objcg_add_residue(objcg, bytes));
}

/* A word that is out of its slot. Slow section since before it was read. */
static void settle(struct percpu_area *area, uint64_t word)
{
	struct memcg_objcg *objcg = id_lookup(&objcg_ids, (uint32_t)(word >> 32));
	unsigned long pages;

	memcg_assert(objcg);
	pages = objcg_add_residue(objcg, MEMCG_SLOT_HELD(word));
	if (pages) {
		/* Straight to the counters: it may be dying, and this may be a drain. */
		atomic_add(&objcg->moved_pages, -(int64_t)pages);
		memcg_mod_heap(objcg->memcg, -(long)pages);
		stock_uncharge(objcg->memcg, pages);
	}
	slot_release(area, &objcg->memcg->memory, MEMCG_SLOT_ROOM(word) / (unsigned int)PAGE);
}

static bool place(struct memcg_objcg *objcg)
{
	unsigned int index = percpu_index();
	struct percpu_area *area = percpu_area(index);
	struct page_counter *counter = &objcg->memcg->memory;
	uint64_t gate = percpu_gate(area), before;
	uint64_t *slot;
	bool placed;

	percpu_touch(index);
	if (load_seq(&objcg->dead) && !sim_fault(FAULT_NO_DYING_CHECK))
		return false;
	if (!slot_reserve(index, area, counter, BYTE_FIRST_ROOM, true))
		return false;
	slot = slot_choose(area, &objcg->fast, &area->byte_victim[objcg_id(objcg) % BYTE_SETS], &before);
	placed = percpu_commit(index, area, slot, before, byte_word(objcg, BYTE_FIRST_ROOM * PAGE, 0), gate);
	if (!placed)
		slot_release(area, counter, BYTE_FIRST_ROOM);
	else if (before)
		settle(area, before);
	return placed;
}

/* Double the room of a slot that proved too small. */
static bool grow(struct memcg_objcg *objcg, unsigned int index, struct percpu_area *area, uint64_t *slot, uint64_t word,
		 uint64_t gate)
{
	struct page_counter *counter = &objcg->memcg->memory;
	unsigned int more = MEMCG_SLOT_ROOM(word) / (unsigned int)PAGE;

	if (more >= BYTE_MOST_ROOM || !slot_reserve(index, area, counter, more, false))
		return false;
	if (percpu_commit(index, area, slot, word, word + ((uint64_t)(more * PAGE) << 16), gate))
		return true;
	slot_release(area, counter, more);
	return false;
}

unsigned long bytes_batch(struct memcg_objcg *objcg, unsigned long pages)
{
	unsigned int index = percpu_index();
	struct percpu_area *area = percpu_area(index);
	struct memcg_area *head;
	uint64_t word, *slot;
	unsigned long low;

	if (pages > BYTE_MOST_ROOM)
		return pages;
	slot = memcg_slot_(&memcg_percpu, &objcg->fast, index, &head, &word);
	if (slot) {
		grow(objcg, index, area, slot, word, percpu_gate(area));
		low = MEMCG_SLOT_ROOM(word) / (unsigned int)PAGE / 2;
	} else {
		low = place(objcg) ? BYTE_FIRST_ROOM / 2 : 0;
	}
	return low > pages ? low : pages;
}

bool bytes_take(struct memcg_objcg *objcg, size_t size)
{
	int64_t residue;

	if (bytes_consume(objcg, size))
		return true;
	residue = load_relaxed(&objcg->residue);
	while (residue >= (int64_t)size) {
		if (atomic_cas(&objcg->residue, &residue, residue - (int64_t)size))
			return true;
	}
	return false;
}

/* The slot is too full for @size: keep part of a page and half its room of the sum. */
static bool trim(struct memcg_objcg *objcg, unsigned int index, uint64_t *slot, uint64_t word, size_t size)
{
	struct percpu_area *area = percpu_area(index);
	size_t sum = MEMCG_SLOT_HELD(word) + size;
	size_t room = MEMCG_SLOT_ROOM(word);
	size_t keep = sum % PAGE + room / 2;

	if (!percpu_commit(index, area, slot, word, byte_word(objcg, room, keep), percpu_gate(area)))
		return false;
	pages_back(objcg, (sum - keep) / PAGE);
	return true;
}

void bytes_return(struct memcg_objcg *objcg, size_t size)
{
	int attempt;

	if (size > BYTE_MOST_ROOM * PAGE) {
		pages_back(objcg, size / PAGE);
		size %= PAGE;
	}
	for (attempt = 0; size && attempt < ATTEMPTS; attempt++) {
		unsigned int index = percpu_index();
		struct memcg_area *head;
		uint64_t word, *slot;

		if (bytes_refill(objcg, size))
			return;
		slot = memcg_slot_(&memcg_percpu, &objcg->fast, index, &head, &word);
		if (!slot) {
			if (!place(objcg))
				break;
		} else if (size > MEMCG_SLOT_FREE(word) &&
			   !grow(objcg, index, percpu_area(index), slot, word, percpu_gate(percpu_area(index))) &&
			   trim(objcg, index, slot, word, size)) {
			return;
		}
	}
	if (size)
		to_residue(objcg, size);
}

void bytes_drain_area(struct percpu_area *area, bytes_match match, const void *arg)
{
	unsigned int i;

	for (i = 0; i < BYTE_SLOTS; i++) {
		uint64_t word = load_relaxed(&area->byte_slots[i]);

		while (word && match(id_lookup(&objcg_ids, (uint32_t)(word >> 32)), arg)) {
			if (!atomic_cas(&area->byte_slots[i], &word, 0))
				continue;
			settle(area, word);
			break;
		}
	}
}
