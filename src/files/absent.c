/* SPDX-License-Identifier: MIT */
/*
 * What a process cannot have: swap of its own, a freezer, a kill of a group. Such a file reads what the
 * kernel's does in a fresh group; a write is checked as there; one that would change something is -EOPNOTSUPP.
 */
#include <errno.h>

#include "files/table.h"

/* An amount, "max" by default. */
static int max_only(struct memcg *memcg, const char *text)
{
	unsigned long pages;
	int err = parse_pages(text, &pages);

	(void)memcg;
	if (err)
		return err;
	return pages == PAGE_COUNTER_MAX ? 0 : -EOPNOTSUPP;
}

/* A reset of what always is 0. */
static int anything(struct memcg *memcg, const char *text)
{
	(void)memcg;
	(void)text;
	return 0;
}

static int writeback_write(struct memcg *memcg, const char *text)
{
	int value, err = parse_int32(text, &value);

	(void)memcg;
	if (err)
		return err;
	if (value != 0 && value != 1)
		return -EINVAL;
	return value ? 0 : -EOPNOTSUPP;
}

static int freeze_write(struct memcg *memcg, const char *text)
{
	int value, err = parse_int32(text, &value);

	(void)memcg;
	if (err)
		return err;
	if (value != 0 && value != 1)
		return -ERANGE;
	return value ? -EOPNOTSUPP : 0;
}

static int kill_write(struct memcg *memcg, const char *text)
{
	int value, err = parse_int32(text, &value);

	(void)memcg;
	if (err)
		return err;
	return value == 1 ? -EOPNOTSUPP : -ERANGE;
}

/* clang-format off */
const struct file_type absent_files[] = {
	{ .name = "cgroup.freeze", .fixed = "0\n", .write = freeze_write },
	{ .name = "cgroup.kill", .write = kill_write },
	{ .name = "cgroup.stat.local", .fixed = "frozen_usec 0\n" },
	{ .name = "memory.swap.current", .fixed = "0\n" },
	{ .name = "memory.swap.events", .fixed = "high 0\nmax 0\nfail 0\n" },
	{ .name = "memory.swap.high", .fixed = "max\n", .write = max_only },
	{ .name = "memory.swap.max", .fixed = "max\n", .write = max_only },
	{ .name = "memory.swap.peak", .fixed = "0\n", .write = anything },
	{ .name = "memory.zswap.current", .fixed = "0\n" },
	{ .name = "memory.zswap.max", .fixed = "max\n", .write = max_only },
	{ .name = "memory.zswap.writeback", .fixed = "1\n", .write = writeback_write },
	{ .name = NULL },
};
/* clang-format on */
