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

static struct slot_owner owner_of(const struct memcg_objcg *objcg)
{
	return (struct slot_owner){ &objcg->fast, &objcg->memcg->memory, (unsigned int)PAGE, BYTE_FIRST_ROOM,
				    BYTE_MOST_ROOM };
}

/* Give the owner a slot on this CPU, after a look that found none. */
static bool place(struct memcg_objcg *objcg, struct slot_look *look)
{
	const struct slot_owner owner = owner_of(objcg);

	percpu_touch(look->index);
	if (load_seq(&objcg->dead) && !sim_fault(FAULT_NO_DYING_CHECK))
		return false;
	if (!slot_place(look, &owner, &look->area->byte_victim[objcg_id(objcg) % BYTE_SETS]))
		return false;
	if (look->word)
		settle(look->area, look->word);
	return true;
}

unsigned long bytes_batch(struct memcg_objcg *objcg, unsigned long pages)
{
	const struct slot_owner owner = owner_of(objcg);
	struct slot_look look;
	unsigned long low;

	if (pages > BYTE_MOST_ROOM)
		return pages;
	slot_look(&look, &objcg->fast);
	if (look.closed)
		return pages;
	if (look.slot)
		low = slot_grow_low(&look, &owner);
	else
		low = place(objcg, &look) ? BYTE_FIRST_ROOM / 2 : 0;
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
static bool trim(struct memcg_objcg *objcg, const struct slot_look *look, size_t size)
{
	size_t sum = MEMCG_SLOT_HELD(look->word) + size;
	size_t room = MEMCG_SLOT_ROOM(look->word);
	size_t keep = sum % PAGE + room / 2;

	if (!slot_commit(look, slot_word(&objcg->fast, room, keep)))
		return false;
	pages_back(objcg, (sum - keep) / PAGE);
	return true;
}

void bytes_return(struct memcg_objcg *objcg, size_t size)
{
	const struct slot_owner owner = owner_of(objcg);
	int attempt;

	if (size > BYTE_MOST_ROOM * PAGE) {
		pages_back(objcg, size / PAGE);
		size %= PAGE;
	}
	for (attempt = 0; size && attempt < ATTEMPTS; attempt++) {
		struct slot_look look;

		slot_look(&look, &objcg->fast);
		if (look.closed)
			break;
		if (!look.slot) {
			if (!place(objcg, &look))
				break;
		} else if (size <= MEMCG_SLOT_FREE(look.word)) {
			if (slot_commit(&look, look.word - size * MEMCG_SLOT_UNIT))
				return;
		} else if (!slot_grow(&look, &owner) && trim(objcg, &look, size)) {
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
