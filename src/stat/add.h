/* SPDX-License-Identifier: MIT */
/* Counting: the update path. Context of all: fast, but for rare looks again, which are nowait. */
#ifndef STAT_ADD_H
#define STAT_ADD_H

#include "stat/group_stat.h"
#include "stat/read.h"

/* How many page units of lag an update is worth: rounded down, at least 1. */
static inline uint64_t stat_in_pages(enum stat_item item, int64_t nr)
{
	uint64_t many = nr < 0 ? -(uint64_t)nr : (uint64_t)nr;
	uint64_t pages;

	if (likely(stat_units[item].bytes == MEMCG_PAGE_SIZE))
		return many;
	pages = many * stat_units[item].bytes / MEMCG_PAGE_SIZE;
	return pages ? pages : 1;
}

/*
 * Add @nr to the item whose value on index 0 is at @value, in the block of @stat. The caller keeps @stat's
 * group; @pages is stat_in_pages(). To the nearest living group above if this one is dead.
 */
void stat_add(struct group_stat *stat, char *value, int64_t nr, uint64_t pages);

/* Add to the node's own count, whoever it is for. */
void stat_node_wide_add(unsigned int node, enum stat_item item, int64_t nr);

#endif
