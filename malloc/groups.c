/* SPDX-License-Identifier: MIT */
/* Groups by path, made where they are missing. */
#include "groups.h"
#include "preload.h"
#include "run_list.h"
#include <errno.h>
#include <memcg/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each part of @path in turn, which is cut off behind it. */
static int make_parts(char *path, struct memcg **group)
{
	char *name = path, *end;
	int ret = 0;

	*group = memcg_get(memcg_root());
	for (bool last = false; !ret && !last; name = end + 1) {
		struct memcg *parent = *group;

		end = name + strcspn(name, "/");
		last = !*end;
		*end = '\0';
		if (*name) {
			ret = memcg_create(parent, name, group);
			if (ret == -EEXIST)
				ret = memcg_open(path, group);
			memcg_put(parent);
		}
		*end = last ? '\0' : '/';
	}
	return ret;
}

int groups_open(const char *path, struct memcg **group)
{
	int ret = memcg_open(path, group);
	char *copy;

	if (ret != -ENOENT)
		return ret;
	copy = next_malloc.malloc(strlen(path) + 1);
	if (!copy)
		return -ENOMEM;
	strcpy(copy, path);
	ret = make_parts(copy, group);
	next_malloc.free(copy);
	return ret;
}

static int set_one(const struct run_setting *setting)
{
	static char path[RUN_LIST_BYTES], file[RUN_LIST_BYTES];
	struct memcg *group;
	ssize_t ret;

	memcpy(path, setting->group.text, setting->group.len);
	path[setting->group.len] = '\0';
	memcpy(file, setting->file.text, setting->file.len);
	file[setting->file.len] = '\0';
	ret = groups_open(path, &group);
	if (ret)
		return (int)ret;
	ret = memcg_write(group, file, setting->value.text, setting->value.len);
	memcg_put(group);
	return ret < 0 ? (int)ret : 0;
}

void groups_set(void)
{
	const char *line = getenv("MEMCG_RUN_SET");

	if (line && strlen(line) >= RUN_LIST_BYTES)
		start_fail("MEMCG_RUN_SET", E2BIG);
	while (line && *line) {
		size_t len = strcspn(line, "\n");
		struct run_setting setting;
		int ret = -EINVAL;

		if (run_setting_parse(line, len, &setting))
			ret = set_one(&setting);
		if (ret) {
			static char what[RUN_LIST_BYTES + 16];

			snprintf(what, sizeof(what), "MEMCG_RUN_SET: %.*s", (int)len, line);
			start_fail(what, -ret);
		}
		line += len + (line[len] == '\n');
	}
}
