/* SPDX-License-Identifier: MIT */
/* The library's own memory for groups, charged to their parents. */
#include "group/meta.h"

#include <errno.h>

#include "group/stat.h"
#include "stat/rstat.h"

bool meta_wanted;

static unsigned long pages_of(uint64_t bytes)
{
	return (bytes + MEMCG_PAGE_SIZE - 1) / MEMCG_PAGE_SIZE;
}

/* Parts of pages add up: what all children cost is charged in whole pages. */
static int account(struct memcg *parent, long bytes)
{
	unsigned long before, after;
	int err = 0;

	lock_take(&tree_lock);
	before = pages_of(parent->meta_below);
	after = pages_of(parent->meta_below + (uint64_t)bytes);
	if (after > before)
		err = group_steps.charge(parent, after - before);
	else if (after < before)
		group_steps.uncharge(parent, before - after);
	if (!err) {
		parent->meta_below += (uint64_t)bytes;
		memcg_mod_state(parent, STAT_KERNEL, (long)after - (long)before);
	}
	lock_drop(&tree_lock);
	return err;
}

static void count(struct memcg *parent, long slab, long percpu)
{
	memcg_mod_node(parent, 0, STAT_SLAB_UNRECLAIMABLE, slab);
	memcg_mod_state(parent, STAT_PERCPU, percpu);
}

int meta_charge(struct memcg *memcg, size_t bytes)
{
	size_t percpu = 2 * stat_flushed_off * (size_t)(load_relaxed(&rstat.threshold) / RSTAT_BATCH);
	struct memcg *parent = memcg_parent(memcg);
	int err;

	if (!meta_wanted || !group_steps.charge)
		return 0;
	err = account(parent, (long)(bytes + percpu));
	if (err)
		return err;
	memcg->meta_slab = bytes;
	memcg->meta_percpu = percpu;
	count(parent, (long)bytes, (long)percpu);
	return 0;
}

void meta_uncharge(struct memcg *memcg)
{
	struct memcg *parent = memcg_parent(memcg);

	if (!memcg->meta_slab)
		return;
	count(parent, -(long)memcg->meta_slab, -(long)memcg->meta_percpu);
	account(parent, -(long)(memcg->meta_slab + memcg->meta_percpu));
}
