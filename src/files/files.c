/* SPDX-License-Identifier: MIT */
/* Interface files by name: memcg_read() and memcg_write(). */
#include <errno.h>
#include <memcg/files.h>
#include <string.h>

#include "files/table.h"

#define WRITE_MAX 4096 /* bytes of one write, as a page of the kernel */

static const struct file_type *find_in(const struct file_type *table, const char *name)
{
	for (; table->name; table++) {
		if (!strcmp(table->name, name))
			return table;
	}
	return NULL;
}

static const struct file_type *find_file(const char *name)
{
	const struct file_type *type = find_in(memory_files, name);

	if (!type)
		type = find_in(cgroup_files, name);
	if (!type && stat_v1)
		type = find_in(v1_files, name);
	return type;
}

/* The file of a group that can be used now. */
static int file_check(struct memcg *group, const char *file, const struct file_type **type)
{
	if (!file || group == &unaccounted_group)
		return -EINVAL;
	*type = find_file(file);
	if (!*type)
		return -ENOENT;
	return memcg_dying(group) ? -ENODEV : 0;
}

ssize_t memcg_read(struct memcg *group, const char *file, char *buf, size_t len)
{
	const struct file_type *type;
	struct text out;
	int err;

	group = group ? group : memcg_root();
	err = file_check(group, file, &type);
	if (err)
		return err;
	if (!type->read || (len && !buf))
		return -EINVAL;
	text_init(&out, buf, len);
	type->read(group, &out);
	return (ssize_t)out.len;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

ssize_t memcg_write(struct memcg *group, const char *file, const char *buf, size_t len)
{
	char copy[WRITE_MAX + 1];
	const struct file_type *type;
	size_t end, begin = 0;
	int err;

	group = group ? group : memcg_root();
	err = file_check(group, file, &type);
	if (err)
		return err;
	if (!type->write || (len && !buf))
		return -EINVAL;
	if (len > WRITE_MAX)
		return -E2BIG;
	if (!len)
		return 0;
	memcpy(copy, buf, len);
	copy[len] = '\0';
	end = strlen(copy);
	while (end && is_blank(copy[end - 1]))
		copy[--end] = '\0';
	while (is_blank(copy[begin]))
		begin++;
	err = type->write(group, copy + begin);
	return err ? err : (ssize_t)len;
}
