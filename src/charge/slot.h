/* SPDX-License-Identifier: MIT */
/* What page slots and byte slots share: where a slot goes, and the room that it is given. */
#ifndef CHARGE_SLOT_H
#define CHARGE_SLOT_H

#include "charge/stock.h"

/* An empty way of the owner's set, else the next victim; @word receives what is in it. */
uint64_t *slot_choose(struct percpu_area *area, const struct memcg_fast *fast, uint8_t *victim, uint64_t *word);

/*
 * Room for a slot, from the area's budget and at every level. A placement may evict others for it, a slot that only
 * grows may not. False: the counters serve.
 */
bool slot_reserve(unsigned int index, struct percpu_area *area, struct page_counter *counter, unsigned int pages,
		  bool evict);
void slot_release(struct percpu_area *area, struct page_counter *counter, unsigned int pages);

#endif
