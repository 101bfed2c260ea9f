/* SPDX-License-Identifier: MIT */
/*
 * Memory nodes, as the kernel numbers them, or faked by a start option.
 *
 * Which nodes there can be is known at start and does not change; which of them have memory can: a node may come
 * after groups exist, go, and come back. So every group has a part for each node that can be.
 */
#ifndef BASE_NODES_H
#define BASE_NODES_H

#include "base/compiler.h"

#define NODES_MAX 64U /* ids are below this; a mask of them is one word */

extern unsigned int nodes_nr; /* ids 0 .. nodes_nr - 1 can be; constant after start */

int nodes_start(unsigned int faked);                   /* 0: the machine's; else so many, all online; -EINVAL */
void nodes_refresh(void);                              /* looks at the machine again; thread context */
void nodes_set_online(unsigned int node, bool online); /* one comes or goes; any context */
uint64_t nodes_online(void);                           /* bit n: node n has memory */

/* "0-3,8": a bit for each; what is beyond the mask or no number ends it. */
uint64_t nodes_parse(const char *list);

#endif
