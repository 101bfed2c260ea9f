/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the library share: a tree on the stage, a ledger of what is charged
 * to whom, and the guarantees (docs/guarantees.md) as checks.
 */
#ifndef SIM_STAGE_H
#define SIM_STAGE_H

#include <memcg/charge.h>
#include <memcg/files.h>
#include <memcg/heap.h>

#include "explore/test.h"

enum {
	STAGE_GROUPS = 8
};

extern struct memcg *stage[STAGE_GROUPS]; /* groups by their number; 0 is the root */

/* Starts the library. @budget: pages that the stocks of a CPU can hold, 0 for the default. */
void stage_start(unsigned int budget);
void stage_start_with(unsigned int budget, unsigned int flags, unsigned int index);

/* Makes group @nr below group @parent. @max: its memory.max in pages, 0 for none. */
void stage_make(unsigned int nr, unsigned int parent, unsigned long max);
void stage_set_max(unsigned int nr, unsigned long pages);

/* Charges and uncharges that the ledger notes. Charging must succeed but for stage_try(). */
void stage_charge(unsigned int nr, unsigned long pages);
int stage_try(unsigned int nr, unsigned long pages, unsigned int flags);
void stage_uncharge(unsigned int nr, unsigned long pages);
long stage_live(unsigned int nr); /* pages charged by stage_*() to this very group */

/* The same in bytes, for an owner of group @nr. */
int stage_try_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes, unsigned int flags);
void stage_charge_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes);
void stage_uncharge_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes);

void stage_press(unsigned int nr);          /* puts it under pressure, as a refused charge does, until ... */
void stage_release(unsigned int nr);        /* ... this */
void stage_drain(unsigned int nr);          /* both: takes all stock below back */
unsigned long stage_usage(unsigned int nr); /* pages that its level counts */
unsigned long stage_peak(unsigned int nr);  /* highest ever */
void stage_tick(void);                      /* housekeeping until nothing is left to do */

/* A1 and A3 at any instant: no usage below 0, and none raised over the max that is shown. Invariant. */
void stage_invariant(void);

/* A2 at any instant: no more is placed in slots than there is room for, by CPU and by level. Invariant. */
void stage_room(void);

/* A1 when nothing runs: after a drain each level counts what is charged below. Check. */
void stage_conserved(void);

/* D1, D2: all groups but the root are destroyed and put; nothing of them is left. Check. */
void stage_nothing_left(void);

#endif
