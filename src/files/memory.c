/* SPDX-License-Identifier: MIT */
/* The memory.* files. */
#include <errno.h>

#include "charge/drain.h"
#include "charge/try_charge.h"
#include "files/table.h"

static void current_read(struct memcg *memcg, struct text *out)
{
	text_u64(out, (uint64_t)page_counter_read(&memcg->memory) * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
}

static void peak_read(struct memcg *memcg, struct text *out)
{
	text_u64(out, (uint64_t)load_relaxed(&memcg->memory.watermark) * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
}

/* A reset is that of an open file. Without one there is nothing to reset, and the lifetime peak stays. */
static int peak_write(struct memcg *memcg, const char *text)
{
	(void)memcg;
	(void)text;
	return 0;
}

static int amount_write(unsigned long *field, const char *text)
{
	unsigned long pages;
	int err = parse_pages(text, &pages);

	if (!err)
		store_relaxed(field, pages);
	return err;
}

static void min_read(struct memcg *memcg, struct text *out)
{
	text_pages(out, load_relaxed(&memcg->memory.min));
}

static int min_write(struct memcg *memcg, const char *text)
{
	return amount_write(&memcg->memory.min, text);
}

static void low_read(struct memcg *memcg, struct text *out)
{
	text_pages(out, load_relaxed(&memcg->memory.low));
}

static int low_write(struct memcg *memcg, const char *text)
{
	return amount_write(&memcg->memory.low, text);
}

static void high_read(struct memcg *memcg, struct text *out)
{
	text_pages(out, load_relaxed(&memcg->memory.high));
}

static int high_write(struct memcg *memcg, const char *text)
{
	return amount_write(&memcg->memory.high, text);
}

static void max_read(struct memcg *memcg, struct text *out)
{
	text_pages(out, load_relaxed(&memcg->memory.max));
}

/*
 * The new limit is in force when this returns. What is over it stays charged; stock below is given back, so that usage
 * over the limit is live, and so that no more than an eighth of the new limit can be stock.
 */
static int max_write(struct memcg *memcg, const char *text)
{
	unsigned long pages, old;
	int err = parse_pages(text, &pages);

	if (err)
		return err;
	lock_take(&tree_lock);
	old = memcg->memory.max;
	page_counter_set_max(&memcg->memory, pages);
	lock_drop(&tree_lock);
	if (pages < old && stock_below(memcg))
		drain_stock(memcg);
	return 0;
}

static void put_events(const unsigned long *counts, struct text *out)
{
	unsigned int i;

	for (i = 0; i < EVENT_NR; i++)
		text_line(out, event_names[i], load_relaxed(&counts[i]));
}

static void events_read(struct memcg *memcg, struct text *out)
{
	put_events(memcg->events.total, out);
}

static void events_local_read(struct memcg *memcg, struct text *out)
{
	put_events(memcg->events.local, out);
}

const struct file_type memory_files[] = {
	{ "memory.current", current_read, NULL },
	{ "memory.peak", peak_read, peak_write },
	{ "memory.min", min_read, min_write },
	{ "memory.low", low_read, low_write },
	{ "memory.high", high_read, high_write },
	{ "memory.max", max_read, max_write },
	{ "memory.events", events_read, NULL },
	{ "memory.events.local", events_local_read, NULL },
	{ "memory.stat", stat_read, NULL },
	{ "memory.numa_stat", numa_stat_read, NULL },
	{ NULL, NULL, NULL },
};
