/* SPDX-License-Identifier: MIT */
/* The charge: what happens when the stock of this CPU does not serve. */
#ifndef CHARGE_TRY_CHARGE_H
#define CHARGE_TRY_CHARGE_H

#include "charge/stock.h"

#define CHARGE_FLAGS (MEMCG_MAY_SLEEP | MEMCG_FORCE | MEMCG_RESERVE)
#define CHARGE_PAGES_MAX COUNTER_PAGES_MAX

/*
 * Reclaim, registered by the reclaim floor: frees up to @nr pages in @over's subtree and returns
 * how many. NULL until then. May sleep.
 */
extern unsigned long (*charge_reclaim)(struct memcg *over, unsigned long nr);

/*
 * Charge @nr pages at @memcg and above, up to but excluding @top's level (NULL: all). Not in a slow
 * section; @memcg is referenced by the caller. 0; -ENOMEM, with the refusal noted and counted; -EINVAL for a force beyond all counting.
 */
int try_charge(struct memcg *memcg, struct memcg *top, unsigned long nr, unsigned int flags);

/* Slow section: the part that never sleeps. */
bool charge_nowait(struct memcg *memcg, struct memcg *top, unsigned long nr, struct counter_refusal *refusal);

/* Note and count a refusal: memcg_last_refusal(), failcnt, max event. Context: nowait. */
void charge_refused(const struct counter_refusal *refusal, unsigned long nr);

#endif
