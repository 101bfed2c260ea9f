/* SPDX-License-Identifier: MIT */
/* The memory.* files. */
#include <errno.h>
#include <fcntl.h>

#include "charge/drain.h"
#include "charge/try_charge.h"
#include "files/open.h"

static void current_read(struct memcg *memcg, struct text *out)
{
	text_u64(out, (uint64_t)page_counter_read(&memcg->memory) * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
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

/* Stored, and in force. Returns 1 when it was lowered. */
static int max_store(struct memcg *memcg, const char *text)
{
	unsigned long pages, old;
	int err = parse_pages(text, &pages);

	if (err)
		return err;
	lock_take(&tree_lock);
	old = memcg->memory.max;
	page_counter_set_max(&memcg->memory, pages);
	lock_drop(&tree_lock);
	return pages < old;
}

/*
 * The new limit is in force when this returns. What is over it stays charged; stock below is given back, so that usage
 * over the limit is live, and so that no more than an eighth of the new limit can be stock.
 */
static int max_write(struct memcg *memcg, const char *text)
{
	int ret = max_store(memcg, text);

	if (ret > 0 && stock_below(memcg))
		drain_stock(memcg);
	return ret < 0 ? ret : 0;
}

/* With O_NONBLOCK the stock stays until a charge needs it. */
static int max_write_open(struct memcg_file *file, const char *text)
{
	int ret;

	if (!(file->flags & O_NONBLOCK))
		return max_write(file->group, text);
	ret = max_store(file->group, text);
	return ret < 0 ? ret : 0;
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

static void oom_group_read(struct memcg *memcg, struct text *out)
{
	text_str(out, load_relaxed(&memcg->oom_group) ? "1\n" : "0\n");
}

static int oom_group_write(struct memcg *memcg, const char *text)
{
	int value, err = parse_int32(text, &value);

	if (err)
		return err;
	if (value != 0 && value != 1)
		return -EINVAL;
	store_relaxed(&memcg->oom_group, (uint32_t)value);
	return 0;
}

/* clang-format off */
const struct file_type memory_files[] = {
	{ .name = "memory.current", .read = current_read },
	{ .name = "memory.peak", .read = peak_read, .write = peak_write,
	  .read_open = peak_read_open, .write_open = peak_write_open },
	{ .name = "memory.min", .read = min_read, .write = min_write },
	{ .name = "memory.low", .read = low_read, .write = low_write },
	{ .name = "memory.high", .read = high_read, .write = high_write },
	{ .name = "memory.max", .read = max_read, .write = max_write, .write_open = max_write_open },
	{ .name = "memory.events", .read = events_read, .tells = FILE_TELLS(EVENTS_TOTAL) },
	{ .name = "memory.events.local", .read = events_local_read, .tells = FILE_TELLS(EVENTS_LOCAL) },
	{ .name = "memory.oom.group", .read = oom_group_read, .write = oom_group_write },
	{ .name = "memory.stat", .read = stat_read },
	{ .name = "memory.numa_stat", .read = numa_stat_read },
	{ .name = NULL },
};
/* clang-format on */
