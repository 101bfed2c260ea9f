/* SPDX-License-Identifier: MIT */
/* The cgroup.* files: limits on the shape of the tree. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "files/table.h"

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
	long value;
	int err;

	if (!strcmp(text, "max")) {
		value = INT_MAX;
	} else {
		err = parse_int(text, &value);
		if (err)
			return err;
		if (value < 0 || value > INT_MAX)
			return -ERANGE;
	}
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

const struct file_type cgroup_files[] = {
	{ "cgroup.max.depth", depth_read, depth_write },
	{ "cgroup.max.descendants", descendants_read, descendants_write },
	{ NULL, NULL, NULL },
};
