/* SPDX-License-Identifier: MIT */
/* Interface files by name: memcg_read() and memcg_write(). */
#include <errno.h>
#include <memcg/files.h>
#include <string.h>

#include "files/table.h"

/* Those of v1 last, where a start option asked for them. */
static const struct file_type *const tables[] = { memory_files, cgroup_files, absent_files, v1_files };

static size_t nr_tables(void)
{
	return array_size(tables) - !stat_v1;
}

static const struct file_type *find_type(const char *name)
{
	const struct file_type *type;
	size_t i;

	for (i = 0; i < nr_tables(); i++) {
		for (type = tables[i]; type->name; type++) {
			if (!strcmp(type->name, name))
				return type;
		}
	}
	return NULL;
}

int file_find(struct memcg *group, const char *name, const struct file_type **type)
{
	if (!name || group == &unaccounted_group)
		return -EINVAL;
	*type = find_type(name);
	if (!*type)
		return -ENOENT;
	return memcg_dying(group) ? -ENODEV : 0;
}

int memcg_file_list(int (*each)(const char *file, unsigned int mode, void *arg), void *arg)
{
	const struct file_type *type;
	size_t i;

	if (!each)
		return -EINVAL;
	for (i = 0; i < nr_tables(); i++) {
		for (type = tables[i]; type->name; type++) {
			unsigned int mode = (type->read || type->fixed ? 0444U : 0) | (type->write ? 0200U : 0);
			int ret = each(type->name, mode, arg);

			if (ret)
				return ret;
		}
	}
	return 0;
}

ssize_t memcg_read(struct memcg *group, const char *file, char *buf, size_t len)
{
	const struct file_type *type;
	struct text out;
	int err;

	group = group ? group : memcg_root();
	err = file_find(group, file, &type);
	if (err)
		return err;
	if ((!type->read && !type->fixed) || (len && !buf))
		return -EINVAL;
	text_init(&out, buf, len);
	if (type->read)
		type->read(group, &out);
	else
		text_str(&out, type->fixed);
	return (ssize_t)out.len;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

const char *file_strip(char *copy, const char *buf, size_t len)
{
	size_t end;

	memcpy(copy, buf, len);
	copy[len] = '\0';
	end = strlen(copy);
	while (end && is_blank(copy[end - 1]))
		copy[--end] = '\0';
	while (is_blank(*copy))
		copy++;
	return copy;
}

ssize_t memcg_write(struct memcg *group, const char *file, const char *buf, size_t len)
{
	char copy[FILE_TEXT_MAX + 1];
	const struct file_type *type;
	int err;

	group = group ? group : memcg_root();
	err = file_find(group, file, &type);
	if (err)
		return err;
	if (!type->write || (len && !buf))
		return -EINVAL;
	if (len > FILE_TEXT_MAX)
		return -E2BIG;
	if (!len)
		return 0;
	err = type->write(group, file_strip(copy, buf, len));
	return err ? err : (ssize_t)len;
}
