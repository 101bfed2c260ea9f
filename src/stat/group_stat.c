/* SPDX-License-Identifier: MIT */
/* Statistics of a group: life. */
#include "stat/group_stat.h"

#include <errno.h>

#include "base/mem.h"
#include "base/sim.h"
#include "stat/rstat.h"

struct lock stat_lock = LOCK_INIT(LOCK_RANK_STAT);
bool stat_v1;

int stat_start(bool v1)
{
	stat_v1 = v1 && MEMCG_V1;
	if (v1 && !MEMCG_V1)
		return -EOPNOTSUPP;
	rstat_start();
	return stat_percpu_start();
}

void stat_stop(void)
{
	stat_percpu_stop();
}

static size_t bit_words(void)
{
	return (stat_nr_index + 63) / 64;
}

static size_t struct_bytes(void)
{
	return sizeof(struct group_stat) + nodes_nr * sizeof(struct node_stats) + 2 * bit_words() * sizeof(uint64_t);
}

size_t group_stat_bytes(void)
{
	return struct_bytes() + (stat_v1 ? sizeof(struct group_locals) : 0);
}

static struct group_stat *group_stat_make(void)
{
	struct group_stat *stat = mem_zalloc(struct_bytes());

	if (!stat)
		return NULL;
	stat->updated = (uint64_t *)(void *)&stat->nodes[nodes_nr];
	stat->touched = stat->updated + bit_words();
	if (stat_v1) {
		stat->locals = mem_zalloc(sizeof(*stat->locals));
		if (!stat->locals) {
			mem_free(stat);
			return NULL;
		}
	}
	return stat;
}

static void name_fields(struct group_stat *stat)
{
	(void)stat;
	sim_name_field(stat, group_stat, dead);
	sim_name_field(stat, group_stat, updates);
	sim_name_field(stat, group_stat, children);
	sim_name_field(stat, group_stat, linked);
	sim_name_field(stat, group_stat, state);
	sim_name_field(stat, group_stat, pending);
	sim_name(stat->nodes, nodes_nr * sizeof(stat->nodes[0]), "group_stat", "nodes");
}

int group_stat_create(struct group_stat *parent, struct group_stat **out)
{
	struct group_stat *stat = group_stat_make();
	int err;

	if (!stat)
		return -ENOMEM;
	stat->parent = parent;
	lock_take(&stat_lock);
	err = stat_block_alloc(stat, &stat->number, &stat->base);
	lock_drop(&stat_lock);
	if (err) {
		mem_free(stat->locals);
		mem_free(stat);
		return err;
	}
	name_fields(stat);
	*out = stat;
	return 0;
}

void group_stat_free(struct group_stat *stat)
{
	if (!stat)
		return;
	if (!stat->freed)
		rstat_forget(stat);
	mem_free(stat->locals);
	mem_free(stat);
}
