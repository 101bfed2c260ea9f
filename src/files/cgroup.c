/* SPDX-License-Identifier: MIT */
/* The cgroup.* files: limits on the shape of the tree, and what lives in it. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "files/table.h"
#include "group/thread.h"

static void put_count(struct text *out, uint32_t count)
{
	if (count == INT_MAX)
		text_str(out, "max");
	else
		text_u64(out, count);
	text_char(out, '\n');
}

/* A plain int, or "max", which is the largest one. */
static int count_write(uint32_t *field, const char *text)
{
	int value = INT_MAX;
	int err = strcmp(text, "max") != 0 ? parse_int32(text, &value) : 0;

	if (err)
		return err;
	if (value < 0)
		return -ERANGE;
	lock_take(&tree_lock);
	*field = (uint32_t)value;
	lock_drop(&tree_lock);
	return 0;
}

static void depth_read(struct memcg *memcg, struct text *out)
{
	put_count(out, load_relaxed(&memcg->max_depth));
}

static int depth_write(struct memcg *memcg, const char *text)
{
	return count_write(&memcg->max_depth, text);
}

static void descendants_read(struct memcg *memcg, struct text *out)
{
	put_count(out, load_relaxed(&memcg->max_descendants));
}

static int descendants_write(struct memcg *memcg, const char *text)
{
	return count_write(&memcg->max_descendants, text);
}

static void events_read(struct memcg *memcg, struct text *out)
{
	text_line(out, "populated", threads_populated(memcg));
	text_line(out, "frozen", 0);
}

/* The memory controller is the only one, and counts each group once. */
static void stat_read_tree(struct memcg *memcg, struct text *out)
{
	uint32_t below = load_relaxed(&memcg->css.nr_descendants), dying = load_relaxed(&memcg->css.nr_dying);

	text_line(out, "nr_descendants", below);
	text_line(out, "nr_subsys_memory", below + 1UL);
	text_line(out, "nr_dying_descendants", dying);
	text_line(out, "nr_dying_subsys_memory", dying);
}

static void type_read(struct memcg *memcg, struct text *out)
{
	text_str(out, memcg->css.parent ? "threaded\n" : "domain threaded\n");
}

/* As the kernel's: threaded is the only type that can be asked for. */
static int type_write(struct memcg *memcg, const char *text)
{
	if (strcmp(text, "threaded") != 0)
		return -EINVAL;
	return memcg->css.parent ? 0 : -EOPNOTSUPP;
}

/* clang-format off */
const struct file_type cgroup_files[] = {
	{ .name = "cgroup.controllers", .fixed = "memory\n" },
	{ .name = "cgroup.events", .read = events_read, .tells = FILE_TELLS(EVENTS_POPULATED) },
	{ .name = "cgroup.max.depth", .read = depth_read, .write = depth_write },
	{ .name = "cgroup.max.descendants", .read = descendants_read, .write = descendants_write },
	{ .name = "cgroup.stat", .read = stat_read_tree },
	{ .name = "cgroup.subtree_control", .fixed = "memory\n", .write = controllers_write },
	{ .name = "cgroup.threads", .read = threads_read, .write = threads_write },
	{ .name = "cgroup.type", .read = type_read, .write = type_write },
	{ .name = NULL },
};
/* clang-format on */
