/* SPDX-License-Identifier: MIT */
/* Groups by path, made where they are missing: MEMCG_RUN_SET and the groups of threads. */
#ifndef MEMCG_GROUPS_H
#define MEMCG_GROUPS_H

#include <memcg/memcg.h>

/* With those above it. 0 with a reference, or a negative errno. */
__attribute__((visibility("hidden"))) int groups_open(const char *path, struct memcg **group);

/* MEMCG_RUN_SET, line by line; ends the process if one cannot be. */
__attribute__((visibility("hidden"))) void groups_set(void);

#endif
