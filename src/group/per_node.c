/* SPDX-License-Identifier: MIT */
/* Per-node parts: life and lookup. */
#include "group/per_node.h"

#include <errno.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/sim.h"
#include "group/group.h"

struct memory_node *memory_nodes;

static void lruvec_init(struct lruvec *lruvec, struct memory_node *node)
{
	unsigned int i;

	for (i = 0; i < LRU_NR; i++)
		CDS_INIT_LIST_HEAD(&lruvec->lists[i]);
	lruvec->node = node;
	sim_name_field(lruvec, lruvec, lists);
	sim_name_field(lruvec, lruvec, lock);
	sim_name_field(lruvec, lruvec, nonresident_age);
	sim_name_field(lruvec, lruvec, node);
}

int per_node_start(void)
{
	unsigned int i;

	memory_nodes = mem_zalloc(nodes_nr * sizeof(*memory_nodes));
	if (!memory_nodes)
		return -ENOMEM;
	for (i = 0; i < nodes_nr; i++) {
		memory_nodes[i].id = i;
		lruvec_init(&memory_nodes[i].lruvec, &memory_nodes[i]);
	}
	return 0;
}

void per_node_stop(void)
{
	mem_free(memory_nodes);
	memory_nodes = NULL;
}

/* Objects that are aligned to lines only begin in either half of a pair, as an allocator of such objects has it. */
static size_t odd_half(const struct memcg *memcg)
{
	return MEMCG_LAYOUT == MEMCG_LAYOUT_ALIGNED ? 0 : (size_t)(memcg->css.id & 1) * LINE_SIZE;
}

int per_node_create(struct memcg *memcg)
{
	uint64_t online = nodes_online();
	unsigned int i;
	char *mem;

	mem = mem_zalloc(nodes_nr * sizeof(*memcg->nodes) + odd_half(memcg));
	if (!mem)
		return -ENOMEM;
	memcg->nodes = (struct mem_cgroup_per_node *)(void *)(mem + odd_half(memcg));
	for (i = 0; i < nodes_nr; i++) {
		struct mem_cgroup_per_node *pn = &memcg->nodes[i];

		pn->read.memcg = memcg;
		pn->read.percpu = memcg->stat->base + stat_item_off((enum stat_item)0, i);
		pn->read.stats = &memcg->stat->nodes[i];
		CDS_INIT_LIST_HEAD(&pn->cold.objcg_list);
		lruvec_init(&pn->lruvec, online & (1ULL << i) ? &memory_nodes[i] : NULL);
		sim_name_field(pn, mem_cgroup_per_node, read);
		sim_name_field(pn, mem_cgroup_per_node, hot);
	}
	return 0;
}

void per_node_set_owner(struct memcg *memcg)
{
	unsigned int i;

	for (i = 0; i < nodes_nr; i++) {
		memcg->nodes[i].read.objcg = memcg->objcg;
		memcg->nodes[i].cold.orig_objcg = memcg->objcg;
	}
}

void per_node_free(struct memcg *memcg)
{
	if (memcg->nodes)
		mem_free((char *)memcg->nodes - odd_half(memcg));
}

struct lruvec *memcg_lruvec(struct memcg *memcg, unsigned int node)
{
	struct lruvec *lruvec;

	memcg_debug(node < nodes_nr);
	lruvec = memcg && memcg->nodes ? &memcg->nodes[node].lruvec : &memory_nodes[node].lruvec;
	if (unlikely(load_relaxed(&lruvec->node) != &memory_nodes[node]))
		store_relaxed(&lruvec->node, &memory_nodes[node]);
	return lruvec;
}
