/* SPDX-License-Identifier: MIT */
/* The byte stock of a CPU: what objects left of the pages charged for them. */
#ifndef CHARGE_OBJ_STOCK_H
#define CHARGE_OBJ_STOCK_H

#include "charge/stock.h"
#include "group/objcg.h"

#define BYTE_ROOM (2 * MEMCG_PAGE_SIZE) /* most bytes that one slot holds */
#define BYTE_ROOM_PAGES (BYTE_ROOM / (uint32_t)MEMCG_PAGE_SIZE)

#define BYTE_HELD(word) ((uint32_t)(word))

/* Take @size bytes from this CPU's slot. False: look again in a slow section. */
static inline bool bytes_consume(const struct memcg_objcg *objcg, size_t size)
{
	uint32_t index = percpu_index();
	struct memcg_area *area;
	uint64_t word;
	uint64_t *slot = memcg_slot_(&memcg_percpu, &objcg->fast, index, &area, &word);

	if (!slot || size > BYTE_HELD(word))
		return false;
	return percpu_commit(index, (struct percpu_area *)area, slot, word, word - size,
			     percpu_gate((struct percpu_area *)area));
}

/* Put @size bytes into this CPU's slot, where there is room. False: as above. */
static inline bool bytes_refill(const struct memcg_objcg *objcg, size_t size)
{
	uint32_t index = percpu_index();
	struct memcg_area *area;
	uint64_t word;
	uint64_t *slot = memcg_slot_(&memcg_percpu, &objcg->fast, index, &area, &word);

	if (!slot || size > BYTE_ROOM - BYTE_HELD(word))
		return false;
	return percpu_commit(index, (struct percpu_area *)area, slot, word, word + size,
			     percpu_gate((struct percpu_area *)area));
}

/* Slow section, @objcg living: bytes that nobody uses any more, into a slot, the residue, or as pages back. */
void bytes_return(struct memcg_objcg *objcg, size_t size);

/* Slow section, @objcg living: @size bytes without pages of their own, from slot or residue. */
bool bytes_take(struct memcg_objcg *objcg, size_t size);

/* Slow section, @objcg living: note @pages more (or fewer) charged for its bytes. */
void bytes_count_pages(struct memcg_objcg *objcg, int64_t pages);

typedef bool (*bytes_match)(const struct memcg_objcg *objcg, const void *arg);
void bytes_drain_area(struct percpu_area *area, bytes_match match, const void *arg);

#endif
