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

/* What one call met: it counts once, in however many ways it tries. */
struct charge_tries {
	struct counter_refusal last; /* the last refusal; counter NULL: none */
	unsigned long asked;         /* pages, of that */
	bool raised;                 /* the max event was */
	bool later; /* no way's failure is the call's: it will call charge_refused(), with the level alive */
};

/* try_charge() as one way of a call. */
int charge_try(struct memcg *memcg, struct memcg *top, unsigned long nr, unsigned int flags,
	       struct charge_tries *tries);

/* Slow section: the part that never sleeps. */
bool charge_nowait(struct memcg *memcg, struct memcg *top, unsigned long nr, struct counter_refusal *refusal);

/* A limit was met: the max event, once a call. Context: nowait, as those below; the level is alive. */
void charge_met(struct charge_tries *tries, const struct counter_refusal *refusal, unsigned long nr);

/* One way failed. Returns -ENOMEM. */
int charge_failed(const struct charge_tries *tries);

/* The call did: note and count it, in memcg_last_refusal() and failcnt. */
void charge_refused(const struct charge_tries *tries);

#endif
