/* SPDX-License-Identifier: MIT */
/* All public C headers in one unit, as strict C11, linked with the shared library. */
#include <memcg/charge.h>
#include <memcg/control.h>
#include <memcg/files.h>
#include <memcg/heap.h>
#include <memcg/memcg.h>
#include <memcg/stat.h>

int main(void)
{
	struct memcg *group = NULL;

	if (memcg_create(NULL, "c11", &group))
		return 1;
	{
		MEMCG_SCOPE(group);
		if (memcg_current() != group)
			return 2;
	}
	if (memcg_current() == group)
		return 3;
	{
		struct memcg_file *file;
		int fd = memcg_event_fd(group, "memory.events");

		if (fd < 0 || memcg_file_open(group, "memory.events", 0, &file))
			return 5;
		memcg_file_close(file);
		memcg_event_close(fd);
	}
	if (memcg_destroy(group))
		return 4;
	memcg_put(group);
	return 0;
}
