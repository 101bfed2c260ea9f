/* SPDX-License-Identifier: MIT */
/*
 * Reserved address ranges, used in parts. Nothing of one counts as committed memory before it is
 * made usable, which matters where overcommit_memory is 2, and no huge page is ever made of a few counters.
 */
#ifndef PERCPU_RANGE_H
#define PERCPU_RANGE_H

#include "base/compiler.h"

char *range_reserve(size_t size); /* page aligned; NULL: no address space */
void range_release(char *base, size_t size);
int range_use(char *from, size_t len);  /* reads and writes, zeroed; -ENOMEM; from and len in machine pages */
int range_read(char *from, size_t len); /* reads only; the same */

#endif
