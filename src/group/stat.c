/* SPDX-License-Identifier: MIT */
/* Statistics of groups: entry points. */
#include "group/stat.h"

/* The per-node part holds where its values are; a dead group's update finds the living one's in add.c. */
static inline void add_node_item(struct memcg *memcg, const struct mem_cgroup_per_node *pn, enum stat_item item,
				 long nr)
{
	stat_add(memcg->stat, pn->read.percpu + (size_t)item * sizeof(int64_t), nr, stat_in_pages(item, nr));
}

#if MEMCG_STAT_PATH == MEMCG_STAT_DIRECT

void memcg_mod_node(struct memcg *memcg, unsigned int node, enum stat_item item, long nr)
{
	memcg_debug(item < STAT_NODE_END && node < nodes_nr);
	stat_node_wide_add(node, item, nr);
	if (memcg && likely(memcg->nodes))
		add_node_item(memcg, &memcg->nodes[node], item, nr);
}

void memcg_mod_lruvec(struct lruvec *lruvec, enum stat_item item, long nr)
{
	struct memcg *memcg = lruvec_is_node(lruvec) ? NULL : lruvec_per_node(lruvec)->read.memcg;

	memcg_mod_node(memcg, lruvec->node->id, item, nr);
}

#else

void memcg_mod_lruvec(struct lruvec *lruvec, enum stat_item item, long nr)
{
	const struct mem_cgroup_per_node *pn;

	stat_node_wide_add(lruvec->node->id, item, nr);
	if (lruvec_is_node(lruvec))
		return;
	pn = lruvec_per_node(lruvec);
	add_node_item(pn->read.memcg, pn, item, nr);
}

void memcg_mod_node(struct memcg *memcg, unsigned int node, enum stat_item item, long nr)
{
	memcg_debug(item < STAT_NODE_END && node < nodes_nr);
	memcg_mod_lruvec(memcg_lruvec(memcg, node), item, nr);
}

#endif

void memcg_mod_heap(struct memcg *memcg, long pages)
{
	memcg_mod_node(memcg, 0, STAT_ANON, pages);
	memcg_mod_node(memcg, 0, STAT_UNEVICTABLE, pages);
}

static void add_group_item(struct memcg *memcg, enum stat_item item, long nr)
{
	memcg_debug(item >= STAT_NODE_END && item < STAT_END);
	if (memcg && memcg->stat)
		stat_add(memcg->stat, memcg->stat->base + stat_item_off(item, 0), nr, stat_in_pages(item, nr));
}

void memcg_mod_state(struct memcg *memcg, enum stat_item item, long nr)
{
	memcg_debug(item < STAT_STATE_END);
	add_group_item(memcg, item, nr);
}

void memcg_count_event(struct memcg *memcg, enum stat_item event, unsigned long nr)
{
	memcg_debug(event >= STAT_STATE_END);
	add_group_item(memcg, event, (long)nr);
}
