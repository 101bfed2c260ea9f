/* SPDX-License-Identifier: MIT */
/* Group setups of cmocka that start the library in the test's own process; without threads, but for one of them. */
#ifndef SUPPORT_START_H
#define SUPPORT_START_H

#include "support/backing.h"
#include "support/child.h"

static inline int start_from(unsigned int flags, const struct memcg_backing *backing)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_HOST_MAX | flags,
		.backing = backing,
	};

	return memcg_init(&options);
}

static inline int start_usual(void **state)
{
	(void)state;
	return start_from(MEMCG_INIT_NO_THREADS, NULL);
}

static inline int start_threaded(void **state)
{
	(void)state;
	return start_from(0, NULL);
}

/* Its blocks are counted, and can be made to fail. */
static inline int start_counted(void **state)
{
	(void)state;
	return start_from(MEMCG_INIT_NO_THREADS, &backing_counted);
}

static long live_before; /* blocks, from live_setup() on */

/* After it, an empty tree has no block more than before (D1): what the first group makes for all is there. */
static inline int live_setup(void **state)
{
	struct memcg *warm;

	(void)state;
	if (memcg_create(NULL, "warm", &warm) || memcg_destroy(warm))
		return -1;
	memcg_put(warm);
	memcg_tick();
	live_before = backing_live;
	return 0;
}

#endif
