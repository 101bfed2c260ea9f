/* SPDX-License-Identifier: MIT */
/* What both shapes of the page stock share. */
#include "charge/stock.h"

#include "group/house.h"

bool stock_try_budget(struct percpu_area *area, unsigned int pages)
{
	if (atomic_add(&area->budget, pages) <= percpu_budget)
		return true;
	atomic_sub(&area->budget, pages);
	return false;
}

void stock_put_budget(struct percpu_area *area, unsigned int pages)
{
	uint32_t left = atomic_sub(&area->budget, pages);

	/* Above the budget while another's take is on its way back; never below nothing. */
	memcg_debug((int32_t)left >= 0);
	(void)left;
}

void stock_uncharge(struct memcg *memcg, unsigned long nr)
{
	page_counter_uncharge(&memcg->memory, NULL, nr);
	if (memcg_dying(memcg))
		house_check_zombie(memcg);
}

void stock_counters_read(struct stock_counters *counters)
{
	unsigned int i, which;

	*counters = (struct stock_counters){ 0 };
	for (i = 0; i < percpu_nr; i++) {
		for (which = 0; percpu_touched(i) && which < STOCK_COUNT_NR; which++)
			counters->of[which] += load_relaxed(&percpu_area(i)->counts[which]);
	}
}
