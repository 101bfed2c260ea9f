/* SPDX-License-Identifier: MIT */
/* What page slots and byte slots share. */
#include "charge/slot.h"

#include "base/sim.h"

/* An empty way of the owner's set, else the next victim. */
static void choose(struct slot_look *look, const struct memcg_fast *fast, uint8_t *victim)
{
	uint64_t *set = (uint64_t *)(void *)((char *)look->area + fast->set);
	unsigned int way;

	for (way = 0; way < MEMCG_STOCK_WAYS; way++) {
		look->slot = &set[way];
		look->word = load_relaxed(look->slot);
		if (!look->word)
			return;
	}
	way = load_relaxed(victim);
	store_relaxed(victim, (uint8_t)(way + 1));
	look->slot = &set[way % MEMCG_STOCK_WAYS];
	look->word = load_relaxed(look->slot);
}

/* From the area's budget, and at every level. */
static bool reserve(unsigned int index, struct percpu_area *area, struct page_counter *counter, unsigned int pages,
		    bool evict)
{
	if (!(evict ? stock_take_budget(index, area, pages) : stock_try_budget(area, pages)))
		return false;
	if (page_counter_reserve_room(counter, pages))
		return true;
	stock_put_budget(area, pages);
	return false;
}

void slot_release(struct percpu_area *area, struct page_counter *counter, unsigned int pages)
{
	page_counter_return_room(counter, pages);
	stock_put_budget(area, pages);
}

bool slot_place(struct slot_look *look, const struct slot_owner *owner, uint8_t *victim)
{
	uint64_t before;

	if (!reserve(look->index, look->area, owner->counter, owner->first, true))
		return false;
	choose(look, owner->fast, victim);
	before = look->word;
	if (sim_fault(FAULT_VICTIM_REREAD))
		look->word = load_relaxed(look->slot);
	if (!slot_commit(look, slot_word(owner->fast, (size_t)owner->first * owner->unit, 0))) {
		slot_release(look->area, owner->counter, owner->first);
		look->slot = NULL;
		return false;
	}
	look->word = before;
	return true;
}

bool slot_grow(const struct slot_look *look, const struct slot_owner *owner)
{
	unsigned int room = MEMCG_SLOT_ROOM(look->word), more = room / owner->unit;

	if (more >= owner->most || !reserve(look->index, look->area, owner->counter, more, false))
		return false;
	if (slot_commit(look, look->word + ((uint64_t)room << 16)))
		return true;
	slot_release(look->area, owner->counter, more);
	return false;
}

unsigned int slot_grow_low(const struct slot_look *look, const struct slot_owner *owner)
{
	unsigned int room = MEMCG_SLOT_ROOM(look->word) / owner->unit;

	return slot_grow(look, owner) ? room : room / 2;
}
