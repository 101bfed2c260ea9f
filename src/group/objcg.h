/* SPDX-License-Identifier: MIT */
/* Owners of objects: what the charge floor needs of them. */
#ifndef GROUP_OBJCG_H
#define GROUP_OBJCG_H

#include "group/group.h"

static inline uint32_t objcg_id(const struct memcg_objcg *objcg)
{
	return (uint32_t)(objcg->fast.owner >> 32);
}

/* The nearest owner upwards, or the same, whose group is not destroyed. Slow section: it stays settled until its end. */
static inline struct memcg_objcg *objcg_living(struct memcg_objcg *objcg)
{
	while (load_seq(&objcg->dead))
		objcg = objcg->parent;
	return objcg;
}

extern uint64_t
	objcg_withholding; /* dead owners that hold whole pages until they are settled (house_settle()); atomic */

/* Bytes into the residue; returns the whole pages that this made, which are the caller's to give back. */
unsigned long objcg_add_residue(struct memcg_objcg *objcg, unsigned long bytes);

/* Bytes of @pages are in no slot any more: how many pages may be given back. 0 for a dead owner, whose residue takes the bytes. */
unsigned long objcg_may_give(struct memcg_objcg *objcg, unsigned long pages);

/* @bytes came (> 0) or went (< 0) through dead owners from @objcg up to @living. Slow section. */
void objcg_note_dead(struct memcg_objcg *objcg, const struct memcg_objcg *living, int64_t bytes);

#endif
