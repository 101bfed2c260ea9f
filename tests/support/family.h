/* SPDX-License-Identifier: MIT */
/* A group and one below it, for each case of a test of files. */
#ifndef SUPPORT_FAMILY_H
#define SUPPORT_FAMILY_H

#include "group/group.h"
#include "support/child.h"

static struct memcg *parent, *child;

static inline int family_make(void **state)
{
	(void)state;
	return memcg_create(NULL, "parent", &parent) || memcg_create(parent, "child", &child);
}

/* A case may have destroyed the child. Nothing keeps either: no open file, no listener. */
static inline int family_end(void **state)
{
	(void)state;
	if (!memcg_dying(child))
		assert_int_equal(memcg_destroy(child), 0);
	memcg_put(child);
	assert_int_equal(memcg_destroy(parent), 0);
	memcg_put(parent);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	return 0;
}

#endif
