/* SPDX-License-Identifier: MIT */
/*
 * What a group costs the library, charged to its parent, where a start option asks for it (MEMCG_INIT_METADATA):
 * the group, its parts per node and its statistics as `slab_unreclaimable`, its blocks on the indices in
 * use when it was made as `percpu`; together, in whole pages, as `kernel`.
 */
#ifndef GROUP_META_H
#define GROUP_META_H

#include "group/group.h"

extern bool meta_wanted; /* constant after start */

int meta_charge(struct memcg *memcg, size_t bytes); /* before it is linked; -ENOMEM: the parent's limit refuses */
void meta_uncharge(struct memcg *memcg);            /* when it is freed; nothing where nothing was charged */

#endif
