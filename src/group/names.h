/* SPDX-License-Identifier: MIT */
/* Groups by parent and name: a hash table under the tree lock, doubled when it is full. */
#ifndef GROUP_NAMES_H
#define GROUP_NAMES_H

#include "group/group.h"

int names_add(struct memcg *memcg); /* -ENOMEM only while the table has no bucket at all */
void names_del(struct memcg *memcg);
struct memcg *names_find(const struct memcg *parent, const char *name, size_t len);

#endif
