/* SPDX-License-Identifier: MIT */
/* The byte stock of a CPU: what objects left of the pages charged for them. */
#ifndef CHARGE_OBJ_STOCK_H
#define CHARGE_OBJ_STOCK_H

#include "charge/stock.h"
#include "group/objcg.h"

#define BYTE_FIRST_ROOM 2U /* pages' worth of bytes that a slot has room for at first */
#define BYTE_MOST_ROOM 8U  /* the same at last */

_Static_assert(BYTE_MOST_ROOM *MEMCG_PAGE_SIZE <= UINT16_MAX, "a slot's word has 16 bits for it");

/* Take @size bytes from this CPU's slot, or put them there; false: not, or look again. For slow sections and the portable form. */
static inline bool bytes_consume(const struct memcg_objcg *objcg, size_t size)
{
	return memcg_general_(&memcg_percpu, &objcg->fast, size, 1);
}

static inline bool bytes_refill(const struct memcg_objcg *objcg, size_t size)
{
	return memcg_general_(&memcg_percpu, &objcg->fast, size, 0);
}

/* The same for the first look. */
static inline bool bytes_consume_fast(const struct memcg_objcg *objcg, size_t size)
{
	return memcg_fast_(&memcg_percpu, &objcg->fast, size, 1);
}

static inline bool bytes_refill_fast(const struct memcg_objcg *objcg, size_t size)
{
	return memcg_fast_(&memcg_percpu, &objcg->fast, size, 0);
}

/* Slow section, @objcg living: bytes that nobody uses any more, into a slot, the residue, or as pages back. */
void bytes_return(struct memcg_objcg *objcg, size_t size);

/* Slow section, @objcg living: @size bytes without pages of their own, from slot or residue. */
bool bytes_take(struct memcg_objcg *objcg, size_t size);

/* Slow section, @objcg living: how many pages to charge where @pages are needed, >= @pages. What is more goes to bytes_return(). */
unsigned long bytes_batch(struct memcg_objcg *objcg, unsigned long pages);

/* Slow section, @objcg living: note @pages more (or fewer) charged for its bytes. */
void bytes_count_pages(struct memcg_objcg *objcg, int64_t pages);

typedef bool (*bytes_match)(const struct memcg_objcg *objcg, const void *arg);
void bytes_drain_area(struct percpu_area *area, bytes_match match, const void *arg);

#endif
