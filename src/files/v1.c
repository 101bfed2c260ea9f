/* SPDX-License-Identifier: MIT */
/*
 * The files of cgroup v1 that the library has, where a start option asks for them (MEMCG_INIT_V1). Statistics of v1
 * have the names of v2's with ".v1" behind, since both hierarchies are one here.
 */
#include <errno.h>
#include <string.h>

#include "base/nodes.h"
#include "charge/drain.h"
#include "files/table.h"
#include "stat/read.h"
#include "stat/rstat.h"

/* In bytes; unlimited is what the largest number of pages makes. */
static void put_pages(struct text *out, unsigned long pages)
{
	text_u64(out, (uint64_t)pages * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
}

static void usage_read(struct memcg *memcg, struct text *out)
{
	put_pages(out, page_counter_read(&memcg->memory));
}

static void limit_read(struct memcg *memcg, struct text *out)
{
	put_pages(out, load_relaxed(&memcg->memory.max));
}

/* Tree lock. Never below what is used: v1 refuses where v2 lowers and reclaims. */
static int limit_set(struct memcg *memcg, unsigned long pages)
{
	unsigned long old = memcg->memory.max;

	if (page_counter_read(&memcg->memory) > pages)
		return -EBUSY;
	page_counter_set_max(&memcg->memory, pages);
	/* A charge that was granted under the old limit may have come between; no later one does. */
	if (page_counter_read(&memcg->memory) <= pages || pages >= old)
		return 0;
	page_counter_set_max(&memcg->memory, old);
	return -EBUSY;
}

static int limit_try(struct memcg *memcg, unsigned long pages)
{
	int err;

	lock_take(&tree_lock);
	err = limit_set(memcg, pages);
	lock_drop(&tree_lock);
	return err;
}

/* What is in the way may be stock: it is given back, once, and kept away until the limit stands. */
static int limit_write(struct memcg *memcg, const char *text)
{
	unsigned long pages = PAGE_COUNTER_MAX, old = load_relaxed(&memcg->memory.max);
	int err;

	if (!strcmp(text, "max"))
		return -EINVAL;
	err = strcmp(text, "-1") ? parse_pages(text, &pages) : 0;
	if (err)
		return err;
	err = limit_try(memcg, pages);
	if (err == -EBUSY || (!err && pages < old && stock_below(memcg))) {
		pressure_begin(memcg);
		if (err)
			err = limit_try(memcg, pages);
		pressure_end(memcg);
	}
	return err;
}

static void max_usage_read(struct memcg *memcg, struct text *out)
{
	put_pages(out, load_relaxed(&memcg->memory.watermark));
}

static int max_usage_write(struct memcg *memcg, const char *text)
{
	(void)text;
	page_counter_lower_peak(&memcg->memory);
	return 0;
}

static void failcnt_read(struct memcg *memcg, struct text *out)
{
	text_u64(out, load_relaxed(&memcg->memory.failcnt));
	text_char(out, '\n');
}

static int failcnt_write(struct memcg *memcg, const char *text)
{
	(void)text;
	store_relaxed(&memcg->memory.failcnt, 0);
	return 0;
}

/* The least limit from the group up. (There is none of memory and swap together.) */
static uint64_t hierarchical_limit(struct memcg *memcg)
{
	unsigned long least = PAGE_COUNTER_MAX;

	for (; memcg; memcg = memcg_parent(memcg)) {
		unsigned long max = load_relaxed(&memcg->memory.max);

		least = max < least ? max : least;
	}
	return (uint64_t)least * MEMCG_PAGE_SIZE;
}

static void v1_stat_read(struct memcg *memcg, struct text *out)
{
	unsigned int i;

	rstat_flush_if_due(memcg->stat);
	for (i = 0; i < stat_nr_v1_lines; i++) {
		enum stat_item item = stat_v1_lines[i].first;

		text_line(out, stat_v1_lines[i].key, stat_shown(item, stat_local(memcg->stat, item)));
	}
	text_line(out, "hierarchical_memory_limit", hierarchical_limit(memcg));
	text_line(out, "hierarchical_memsw_limit", (uint64_t)PAGE_COUNTER_MAX * MEMCG_PAGE_SIZE);
	for (i = 0; i < stat_nr_v1_lines; i++) {
		enum stat_item item = stat_v1_lines[i].first;

		text_str(out, "total_");
		text_line(out, stat_v1_lines[i].key, stat_shown(item, stat_state(memcg->stat, item)));
	}
}

static const struct {
	const char *key;      /* of its line */
	enum stat_item first; /* sum of LRU sizes from here */
	enum stat_item last;  /* to here */
} numa_lines[] = {
	{ "total", STAT_INACTIVE_ANON, STAT_UNEVICTABLE },
	{ "file", STAT_INACTIVE_FILE, STAT_ACTIVE_FILE },
	{ "anon", STAT_INACTIVE_ANON, STAT_ACTIVE_ANON },
	{ "unevictable", STAT_UNEVICTABLE, STAT_UNEVICTABLE },
};

static uint64_t node_pages(const struct group_stat *stat, unsigned int node, unsigned int line, bool below)
{
	unsigned int item;
	uint64_t sum = 0;

	for (item = numa_lines[line].first; item <= (unsigned int)numa_lines[line].last; item++)
		sum += stat_clamp(below ? stat_node_state(stat, node, (enum stat_item)item) :
					  stat_node_local(stat, node, (enum stat_item)item));
	return sum;
}

static void numa_line(const struct group_stat *stat, unsigned int line, bool below, struct text *out)
{
	uint64_t online = nodes_online(), sum = 0;
	unsigned int node;

	for (node = 0; node < nodes_nr; node++)
		sum += node_pages(stat, node, line, below);
	text_str(out, below ? "hierarchical_" : "");
	text_str(out, numa_lines[line].key);
	text_char(out, '=');
	text_u64(out, sum);
	for (node = 0; node < nodes_nr; node++) {
		if (online & (1ULL << node))
			text_node(out, node, node_pages(stat, node, line, below));
	}
	text_char(out, '\n');
}

/* In pages. */
static void v1_numa_stat_read(struct memcg *memcg, struct text *out)
{
	unsigned int i;

	nodes_refresh();
	rstat_flush_if_due(memcg->stat);
	for (i = 0; i < 2 * array_size(numa_lines); i++)
		numa_line(memcg->stat, i % array_size(numa_lines), i >= array_size(numa_lines), out);
}

const struct file_type v1_files[] = {
	{ .name = "memory.usage_in_bytes", .read = usage_read },
	{ .name = "memory.max_usage_in_bytes", .read = max_usage_read, .write = max_usage_write },
	{ .name = "memory.limit_in_bytes", .read = limit_read, .write = limit_write },
	{ .name = "memory.failcnt", .read = failcnt_read, .write = failcnt_write },
	{ .name = "memory.stat.v1", .read = v1_stat_read },
	{ .name = "memory.numa_stat.v1", .read = v1_numa_stat_read },
	{ .name = NULL },
};
