/* SPDX-License-Identifier: MIT */
/* An object that is preloaded beside the malloc library, and uses libmemcg in its constructor, before any allocation. */
#include <memcg/memcg.h>
#include <unistd.h>

__attribute__((constructor)) static void first(void)
{
	const struct memcg_options options = { .size = sizeof(options) };

	if (!memcg_root() || memcg_init(&options) >= 0)
		_exit(99);
}
