/* SPDX-License-Identifier: MIT */
/* Drains and pressure: how a level gets to know what really lives below it. */
#ifndef CHARGE_DRAIN_H
#define CHARGE_DRAIN_H

#include "charge/stock.h"

/*
 * Pressure at a level: while it is held, no stock exists or appears below, and each climb is
 * counted in the level's word until it is decided. The begin may sleep. Context: thread.
 */
void pressure_begin(struct memcg *memcg);
void pressure_end(struct memcg *memcg);
void pressure_linger(struct memcg *memcg); /* instead of pressure_end(): soon there may be the next of its kind */

/* All stock at and below a level, back to the counters, once. Context: thread; may sleep. */
static inline void drain_stock(struct memcg *top)
{
	pressure_begin(top);
	pressure_end(top);
}

#endif
