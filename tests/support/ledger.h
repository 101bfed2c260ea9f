/* SPDX-License-Identifier: MIT */
/*
 * The ledger: what the areas really hold, by a walk over every slot, against what counters and
 * owners say. Exact only while nothing runs.
 */
#ifndef SUPPORT_LEDGER_H
#define SUPPORT_LEDGER_H

#include "base/mem.h"
#include "charge/obj_stock.h"
#include "charge/stock.h"
#include "group/group.h"
#include "group/objcg.h"
#include "percpu/area.h"
#include "support/child.h"

#define WORDS (MEMCG_STOCK == MEMCG_STOCK_RSEQ) /* the form of the stock that keeps accounts of room */

static inline unsigned long usage_of(const struct memcg *memcg)
{
	return page_counter_read(&memcg->memory);
}

/* One slot of an area, of either kind and of any variant. */
struct ledger_slot {
	uint32_t owner; /* number, 0: empty */
	uint32_t held;  /* pages or bytes */
	uint32_t room;  /* pages that are reserved for it */
};

static inline struct ledger_slot ledger_page_slot(const struct percpu_area *area, unsigned int i)
{
	struct ledger_slot slot = { 0 };
	uint64_t word;

	if (!WORDS) {
		if (i < KERNEL_SLOTS) {
			slot.owner = (uint32_t)(area->local.cached[i] >> 32);
			slot.held = area->local.held[i];
		}
		return slot;
	}
	word = load_relaxed(&area->page_slots[i]);
	slot.owner = (uint32_t)(word >> 32);
	slot.held = MEMCG_SLOT_HELD(word);
	slot.room = MEMCG_SLOT_ROOM(word);
	return slot;
}

static inline struct ledger_slot ledger_byte_slot(const struct percpu_area *area, unsigned int i)
{
	uint64_t word = load_relaxed(&area->byte_slots[i]);
	struct ledger_slot slot = { .owner = (uint32_t)(word >> 32), .held = MEMCG_SLOT_HELD(word) };

	slot.room = MEMCG_SLOT_ROOM(word) / (unsigned int)MEMCG_PAGE_SIZE;
	return slot;
}

/* Pages in page slots of @memcg itself, in all areas. */
static inline unsigned long ledger_stock(const struct memcg *memcg)
{
	unsigned long pages = 0;
	unsigned int i, k;

	for (i = 0; i < percpu_nr; i++) {
		for (k = 0; percpu_touched(i) && k < PAGE_SLOTS; k++) {
			struct ledger_slot slot = ledger_page_slot(percpu_area(i), k);

			pages += slot.owner == memcg->css.id ? slot.held : 0;
		}
	}
	return pages;
}

/* Bytes in byte slots of @objcg. */
static inline unsigned long ledger_bytes(const struct memcg_objcg *objcg)
{
	unsigned long bytes = 0;
	unsigned int i, k;

	for (i = 0; i < percpu_nr; i++) {
		for (k = 0; percpu_touched(i) && k < BYTE_SLOTS; k++) {
			struct ledger_slot slot = ledger_byte_slot(percpu_area(i), k);

			bytes += slot.owner == objcg_id(objcg) ? slot.held : 0;
		}
	}
	return bytes;
}

/* What @objcg's objects hold, as its own books have it: pages, less what waits in slots and residue. */
static inline int64_t ledger_live_bytes(const struct memcg_objcg *objcg)
{
	return objcg_pages(objcg) * (int64_t)MEMCG_PAGE_SIZE - (int64_t)ledger_bytes(objcg) - objcg->residue;
}

/* Pages that slots of one area have room for, and a look at each slot on the way. */
static inline unsigned long ledger_area_room(const struct percpu_area *area)
{
	unsigned long room = 0;
	unsigned int k;

	for (k = 0; k < PAGE_SLOTS; k++) {
		struct ledger_slot slot = ledger_page_slot(area, k);

		must(!slot.owner || memcg_by_number(slot.owner));
		must(slot.held <= (WORDS ? slot.room : MEMCG_STOCK_HIGH));
		room += slot.room;
	}
	for (k = 0; k < BYTE_SLOTS; k++) {
		struct ledger_slot slot = ledger_byte_slot(area, k);

		must(!slot.owner || id_lookup(&objcg_ids, slot.owner));
		must(slot.held <= BYTE_MOST_ROOM * MEMCG_PAGE_SIZE);
		room += slot.room;
	}
	return room;
}

/* Room of all slots in the subtree of @top. */
static inline unsigned long ledger_tree_room(const struct memcg *top)
{
	unsigned long room = 0;
	unsigned int i, k;

	for (i = 0; i < percpu_nr; i++) {
		for (k = 0; percpu_touched(i) && k < PAGE_SLOTS; k++) {
			struct ledger_slot slot = ledger_page_slot(percpu_area(i), k);
			const struct memcg *memcg = slot.owner ? memcg_by_number(slot.owner) : NULL;

			room += memcg && css_is_descendant(&memcg->css, &top->css) ? slot.room : 0;
		}
		for (k = 0; percpu_touched(i) && k < BYTE_SLOTS; k++) {
			struct ledger_slot slot = ledger_byte_slot(percpu_area(i), k);
			const struct memcg_objcg *objcg = slot.owner ? id_lookup(&objcg_ids, slot.owner) : NULL;

			room += objcg && css_is_descendant(&objcg->memcg->css, &top->css) ? slot.room : 0;
		}
	}
	return room;
}

static inline int ledger_check_group(struct memcg *memcg, void *arg)
{
	(void)arg;
	must(memcg->memory.room == ledger_tree_room(memcg));
	must((load_relaxed(&memcg->memory.word) & COUNTER_CLIMBS) == 0);
	must(counter_usage(load_relaxed(&memcg->memory.word)) >= 0);
	must((memcg->memory.pressure & ~PRESSURE_CLEAN) == 0);
	must(memcg->memory.underflows == 0);
	must(memcg->memory.watermark >= usage_of(memcg));
	if (WORDS)
		must(memcg->memory.room <= memcg->memory.limit / 8);
	return 0;
}

/* Every account of room and budget is what the slots add up to; nothing is negative or undecided. */
static inline void ledger_check(void)
{
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		const struct percpu_area *area = percpu_area(i);

		if (!percpu_touched(i))
			continue;
		must(ledger_area_room(area) == area->budget);
		must(area->budget <= percpu_budget);
		must((area->head.gate & 1) == 0);
		must(area->local.lock == 0);
	}
	must(memcg_walk(NULL, ledger_check_group, NULL) == 0);
}

/* All stock back, nothing dying: usage is what lives. Returns false while dead groups are kept by what lives. */
static inline bool ledger_settle(void)
{
	memcg_tick();
	memcg_tick();
	ledger_check();
	return memcg_root()->css.nr_dying == 0;
}

#endif
