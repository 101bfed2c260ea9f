/* SPDX-License-Identifier: MIT */
/*
 * The byte stock: a slot is one word, owner | free | held. Bytes are charged in whole pages; what an
 * object leaves of its last page waits in a slot for the next.
 *
 *   B1  A slot holds at most BYTE_ROOM bytes, and its pages are reserved like those of page
 *       slots (budget, an eighth of each limit).
 *   B2  What leaves a slot goes as whole pages to the page stock, or to the residue of its owner, which
 *       stays under a page: whole pages that it collects are given back at once. (A dead owner's do
 *       not: see objcg.c.)
 *   B3  Placement asks for permission as page slots do (stock_word.c, S1).
 *
 * An overflow keeps the part of a page and one page, so that a swing of small objects does
 * not move pages.
 */
#include "charge/obj_stock.h"

#include "group/slow.h"

#define ATTEMPTS 8 /* commits that may fail before residue and counters are used instead */
#define PAGE ((size_t)MEMCG_PAGE_SIZE)

void bytes_count_pages(struct memcg_objcg *objcg, int64_t pages)
{
	uint32_t id = objcg_id(objcg);
	int attempt;

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
		stock_uncharge(objcg->memcg, pages);
	}
	page_counter_return_room(&objcg->memcg->memory, BYTE_ROOM_PAGES);
	stock_put_budget(area, BYTE_ROOM_PAGES);
}

/* An empty way of the set, else the next victim. */
static uint64_t *choose_way(struct percpu_area *area, const struct memcg_objcg *objcg, uint64_t *word)
{
	uint64_t *set = (uint64_t *)(void *)((char *)area + objcg->fast.set);
	uint8_t *victim = &area->byte_victim[objcg_id(objcg) % BYTE_SETS];
	unsigned int way;

	for (way = 0; way < MEMCG_STOCK_WAYS; way++) {
		*word = load_relaxed(&set[way]);
		if (!*word)
			return &set[way];
	}
	way = load_relaxed(victim);
	store_relaxed(victim, (uint8_t)(way + 1));
	way %= MEMCG_STOCK_WAYS;
	*word = load_relaxed(&set[way]);
	return &set[way];
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
	if (!stock_take_budget(index, area, BYTE_ROOM_PAGES))
		return false;
	if (!page_counter_reserve_room(counter, BYTE_ROOM_PAGES)) {
		stock_put_budget(area, BYTE_ROOM_PAGES);
		return false;
	}
	slot = choose_way(area, objcg, &before);
	placed = percpu_commit(index, area, slot, before, byte_word(objcg, 0), gate);
	if (!placed) {
		page_counter_return_room(counter, BYTE_ROOM_PAGES);
		stock_put_budget(area, BYTE_ROOM_PAGES);
	} else if (before) {
		settle(area, before);
	}
	return placed;
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

/* The slot is too full for @size: keep part of a page and one page of the sum. */
static bool trim(struct memcg_objcg *objcg, unsigned int index, uint64_t *slot, uint64_t word, size_t size)
{
	struct percpu_area *area = percpu_area(index);
	size_t sum = MEMCG_SLOT_HELD(word) + size;
	size_t keep = sum % PAGE + PAGE;

	if (!percpu_commit(index, area, slot, word, byte_word(objcg, keep), percpu_gate(area)))
		return false;
	pages_back(objcg, (sum - keep) / PAGE);
	return true;
}

void bytes_return(struct memcg_objcg *objcg, size_t size)
{
	int attempt;

	if (size > BYTE_ROOM) {
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
		} else if (size > BYTE_ROOM - MEMCG_SLOT_HELD(word) && trim(objcg, index, slot, word, size)) {
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
