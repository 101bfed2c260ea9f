/* SPDX-License-Identifier: MIT */
/* Hierarchical atomics: exact, and every charge writes a line that all share, once per level. */
#include <memcg/charge.h>

#include "tracker.h"

int memcg_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	(void)flags;
	return tracker_charge((struct tracker *)group, (long)nr_pages);
}

void memcg_uncharge(struct memcg *group, unsigned long nr_pages)
{
	tracker_uncharge((struct tracker *)group, NULL, (long)nr_pages);
}
