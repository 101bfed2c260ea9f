/* SPDX-License-Identifier: MIT */
/* The work before the flush whose lines are counted. Instrumented. */
#include "group/group.h"
#include "group/stat.h"
#include "lines/lines.h"
#include "runtime/hooks.h"
#include "stat/rstat.h"

enum {
	CPUS = 80,
	GROUPS = 40,
};

static const enum stat_item items[] = {
	STAT_ANON,        STAT_FILE,          STAT_FILE_DIRTY,     STAT_FILE_WRITEBACK, STAT_KERNEL,
	STAT_UNEVICTABLE, STAT_INACTIVE_FILE, STAT_PGFAULT,        STAT_PGSCAN_DIRECT,  STAT_SLAB_RECLAIMABLE,
	STAT_PGACTIVATE,  STAT_PGREFILL,      STAT_PGSTEAL_DIRECT,
};

static struct memcg *groups[GROUPS];

static unsigned int dice(unsigned int *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 16;
}

/* As an update leaves it; any index, whatever CPU this is. */
static void count(struct memcg *memcg, unsigned int index, enum stat_item item)
{
	*stat_value_at(memcg->stat->base, index, stat_item_off(item, 0)) += 1;
	rstat_mark(memcg->stat, index);
}

static void work(unsigned int *state, unsigned int updates, unsigned int kinds)
{
	for (unsigned int i = 0; i < updates; i++) {
		unsigned int group = dice(state) % GROUPS, index = dice(state) % CPUS;
		unsigned int nr = kinds > 2 ? kinds : 1 + dice(state) % kinds;

		for (unsigned int k = 0; k < nr; k++)
			count(groups[group], index, items[dice(state) % array_size(items)]);
	}
}

static void run(unsigned int flags, unsigned int updates, unsigned int kinds)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_THREADS | MEMCG_INIT_NO_HOST_MAX | flags,
		.nr_cpus = CPUS,
		.nr_nodes = 1,
	};
	unsigned int state = 1;

	sim_check(memcg_init(&options) == 0);
	for (unsigned int i = 0; i < GROUPS; i++) {
		char name[2] = { (char)('A' + i), 0 };

		sim_check(memcg_create(NULL, name, &groups[i]) == 0);
	}
	for (int i = 0; i < 20; i++) {
		uint64_t before = rstat.flushed_groups;

		work(&state, updates, kinds);
		sim_lines_begin();
		rstat_flush(memcg_root()->stat);
		sim_note(LINES_WRITTEN, (long)sim_lines_end());
		sim_note(LINES_GROUPS, (long)(rstat.flushed_groups - before));
	}
}

void lines_kept_reader(void)
{
	run(MEMCG_INIT_V1, 10, 2);
}

void lines_skipped_reader(void)
{
	run(0, 10, 2);
}

void lines_kept_worker(void)
{
	run(MEMCG_INIT_V1, 300, 12);
}

void lines_skipped_worker(void)
{
	run(0, 300, 12);
}
