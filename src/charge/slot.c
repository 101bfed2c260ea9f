/* SPDX-License-Identifier: MIT */
/* What page slots and byte slots share. */
#include "charge/slot.h"

uint64_t *slot_choose(struct percpu_area *area, const struct memcg_fast *fast, uint8_t *victim, uint64_t *word)
{
	uint64_t *set = (uint64_t *)(void *)((char *)area + fast->set);
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

static bool take_what_is_left(struct percpu_area *area, unsigned int pages)
{
	if (atomic_add(&area->budget, pages) <= percpu_budget)
		return true;
	atomic_sub(&area->budget, pages);
	return false;
}

bool slot_reserve(unsigned int index, struct percpu_area *area, struct page_counter *counter, unsigned int pages,
		  bool evict)
{
	if (!(evict ? stock_take_budget(index, area, pages) : take_what_is_left(area, pages)))
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
