/* SPDX-License-Identifier: MIT */
/* What memcg-bench stat and flush need of the library's inside. */
#include "stat_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "group/stat.h"
#include "percpu/thread.h"
#include "stat/rstat.h"

#define LEAVES 8

static struct memcg *leaves[LEAVES], **workers;
static struct side_options started;

static int make(struct memcg *parent, const char *prefix, unsigned int nr, struct memcg **out)
{
	char name[32];
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		err = memcg_create(parent, name, &out[i]);
	}
	return err;
}

static int make_idle(unsigned int nr)
{
	struct memcg *idle;
	char name[32];
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		snprintf(name, sizeof(name), "idle%u", i);
		err = memcg_create(NULL, name, &idle);
	}
	return err;
}

static int side_start(const struct side_options *options)
{
	const struct memcg_options init = {
		.size = sizeof(init),
		.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS | (options->v1 ? MEMCG_INIT_V1 : 0),
		.index = options->nr_cpus ? MEMCG_INDEX_THREAD : MEMCG_INDEX_AUTO,
		.nr_cpus = options->nr_cpus,
		.nr_nodes = 1,
	};
	struct memcg *a, *b;
	int err = memcg_init(&init);

	started = *options;
	if (!err)
		err = make(NULL, "a", 1, &a);
	if (!err)
		err = make(a, "b", 1, &b);
	if (!err)
		err = make(b, "leaf", LEAVES, leaves);
	workers = calloc(options->groups + 1, sizeof(*workers)); /* NOLINT(bugprone-sizeof-expression) */
	if (!err && !workers)
		err = -ENOMEM;
	if (!err)
		err = make(NULL, "worker", options->groups, workers);
	return err ? err : make_idle(options->idle);
}

static struct memcg *side_leaf(unsigned int nr)
{
	return leaves[nr % LEAVES];
}

static void side_update(struct memcg *group, unsigned int node, unsigned int item, long nr)
{
	memcg_mod_node(group, node, (enum stat_item)item, nr);
}

#if defined(MEMCG_HAVE_RSEQ)
/* clang-format off */
static void side_rseq_add(char *value, long nr)
{
look_again:
	__asm__ goto(MEMCG_RSEQ_BEGIN_
		     "movq %[index_off], %%rcx\n\t"
		     "movl %%fs:(%%rcx), %%ecx\n\t"
		     "shlq %[shift], %%rcx\n\t"
		     "addq %[nr], (%[value],%%rcx)\n\t"
		     MEMCG_RSEQ_END_
		     : : [rseq] "m"(memcg_percpu.rseq_off), [index_off] "m"(memcg_percpu.index_off),
			 [shift] "i"(STAT_STRIDE_SHIFT), [value] "r"(value), [nr] "r"(nr)
		     : "rax", "rcx", "cc", "memory" : look_again);
}
/* clang-format on */
#else
static void side_rseq_add(char *value, long nr)
{
	__atomic_fetch_add(stat_value_at(value, percpu_index(), 0), nr, __ATOMIC_RELAXED);
}
#endif

static char *side_value(void)
{
	return stat_node_wide + stat_item_off(STAT_HUGETLB, 0);
}

static void side_flush(void)
{
	rstat_flush(memcg_root()->stat);
}

static unsigned int dice(unsigned int *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* anon, file, dirty and writeback, slab, kmem, mlock, reclaim. */
static void touch(struct memcg *group, unsigned int kind)
{
	static const enum stat_item items[] = { STAT_ANON,        STAT_FILE,
						STAT_FILE_DIRTY,  STAT_FILE_WRITEBACK,
						STAT_KERNEL,      STAT_SLAB_RECLAIMABLE,
						STAT_UNEVICTABLE, STAT_INACTIVE_FILE,
						STAT_PGFAULT,     STAT_PGSCAN_DIRECT,
						STAT_PGACTIVATE,  STAT_PGSTEAL_DIRECT,
						STAT_PGREFILL,    STAT_WORKINGSET_REFAULT_FILE };
	enum stat_item item = items[kind % array_size(items)];

	if (item < STAT_NODE_END)
		memcg_mod_node(group, 0, item, 1);
	else if (item < STAT_STATE_END)
		memcg_mod_state(group, item, 1);
	else
		memcg_count_event(group, item, 1);
}

/* Configured CPUs are reached by turns of this one thread. */
static void work(unsigned int seed, unsigned int events, unsigned int items)
{
	struct thread_state *self = thread_self();
	unsigned int state = seed * 2654435761U + 1, i, k;

	for (i = 0; i < events; i++) {
		struct memcg *group = workers[dice(&state) % started.groups];
		unsigned int nr = items > 2 ? items : 1 + dice(&state) % items;

		self->started = 1;
		self->index = dice(&state) % started.nr_cpus;
		for (k = 0; k < nr; k++)
			touch(group, dice(&state));
	}
}

static void side_sample(unsigned int seed, unsigned int events, unsigned int items, struct side_ticks *out)
{
	uint64_t begin;
	double groups;

	work(seed, events, items);
	rstat_ticks = (struct rstat_ticks){ 0 };
	begin = clock_ns();
	side_flush();
	out->flush = (double)(clock_ns() - begin);
	groups = rstat_ticks.groups ? (double)rstat_ticks.groups : 1;
	out->whole = (double)rstat_ticks.whole / groups;
	out->aggregate = (double)rstat_ticks.aggregate / groups;
	out->items = (double)rstat_ticks.items / groups;
}

MEMCG_API extern const struct stat_side memcg_bench_stat_side;
const struct stat_side memcg_bench_stat_side = {
	.start = side_start,
	.leaf = side_leaf,
	.update = side_update,
	.rseq_add = side_rseq_add,
	.value = side_value,
	.flush = side_flush,
	.sample = side_sample,
};
