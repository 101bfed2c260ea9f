/* SPDX-License-Identifier: MIT */
/* The limit of the kernel cgroup that this process is in, v2 or v1: the least on its path. */
#include <string.h>

#include "base/small_file.h"
#include "base/text.h"
#include "group/group.h"

#define HOST_TEXT 4096

/* "max", or bytes. v1 writes its "unlimited" as a number near LONG_MAX. */
static unsigned long parse_pages(const char *text)
{
	unsigned long bytes = 0;

	if (*text < '0' || *text > '9')
		return PAGE_COUNTER_MAX;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (bytes > (unsigned long)INT64_MAX / 10)
			return PAGE_COUNTER_MAX;
		bytes = bytes * 10 + (unsigned long)(*text - '0');
	}
	return bytes / MEMCG_PAGE_SIZE < PAGE_COUNTER_MAX ? bytes / MEMCG_PAGE_SIZE : PAGE_COUNTER_MAX;
}

/* The least limit of @path and the folders above it, below @mount. */
static unsigned long least_on_path(const char *mount, char *path, const char *file)
{
	unsigned long least = PAGE_COUNTER_MAX;
	char name[HOST_TEXT], value[64];

	for (;;) {
		struct text text;
		char *slash;

		text_init(&text, name, sizeof(name));
		text_str(&text, mount);
		text_str(&text, path);
		text_str(&text, "/");
		text_str(&text, file);
		if (text.len < sizeof(name) && small_file_read(name, value, sizeof(value)) > 0) {
			unsigned long pages = parse_pages(value);

			least = pages < least ? pages : least;
		}
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* One line of /proc/self/cgroup: "hierarchy:controllers:path". */
static unsigned long line_pages(char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	unsigned long unified, hybrid;
	char again[HOST_TEXT];

	if (!path)
		return PAGE_COUNTER_MAX;
	*path++ = '\0';
	if (strstr(controllers, "memory"))
		return least_on_path("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
	if (strcmp(line, "0:") != 0 && strcmp(controllers, ":") != 0)
		return PAGE_COUNTER_MAX;
	strcpy(again, path);
	unified = least_on_path("/sys/fs/cgroup", path, "memory.max");
	hybrid = least_on_path("/sys/fs/cgroup/unified", again, "memory.max");
	return unified < hybrid ? unified : hybrid;
}

unsigned long host_max_pages(void)
{
	unsigned long least = PAGE_COUNTER_MAX;
	char text[HOST_TEXT], *line, *rest = text;

	if (small_file_read("/proc/self/cgroup", text, sizeof(text)) <= 0)
		return PAGE_COUNTER_MAX;
	while ((line = strsep(&rest, "\n"))) {
		unsigned long pages = line_pages(line);

		least = pages < least ? pages : least;
	}
	return least;
}
