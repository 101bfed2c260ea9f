/* SPDX-License-Identifier: MIT */
/* Bytes: the slow paths that the heap shares. */
#ifndef CHARGE_BYTES_H
#define CHARGE_BYTES_H

#include "charge/obj_stock.h"

int bytes_charge_slow(struct memcg_objcg *objcg, size_t size, unsigned int flags);
void bytes_uncharge_slow(struct memcg_objcg *objcg, size_t size);

static inline int bytes_charge(struct memcg_objcg *objcg, size_t size, unsigned int flags)
{
	if (likely(bytes_consume_fast(objcg, size)))
		return 0;
	return bytes_charge_slow(objcg, size, flags);
}

static inline void bytes_uncharge(struct memcg_objcg *objcg, size_t size)
{
	if (likely(bytes_refill_fast(objcg, size)))
		return;
	bytes_uncharge_slow(objcg, size);
}

#endif
