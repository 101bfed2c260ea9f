/* SPDX-License-Identifier: MIT */
/* The library's memory through counting hooks: what it holds, and what fails when there is none. */
#ifndef SUPPORT_BACKING_H
#define SUPPORT_BACKING_H

#include <stdlib.h>

#include <memcg/memcg.h>

#include "base/compiler.h"

static long backing_live;            /* blocks allocated and not freed; atomic */
static long backing_calls;           /* allocations asked for; atomic */
static long backing_left = 1L << 60; /* allocations that succeed yet; atomic */

static inline void *backing_count(void *ptr)
{
	if (ptr)
		atomic_add(&backing_live, 1);
	return ptr;
}

static inline bool backing_allowed(void)
{
	atomic_add(&backing_calls, 1);
	return atomic_sub(&backing_left, 1) >= 0;
}

static void *backing_malloc(size_t size)
{
	return backing_allowed() ? backing_count(malloc(size)) : NULL;
}

static void *backing_calloc(size_t nr, size_t size)
{
	return backing_allowed() ? backing_count(calloc(nr, size)) : NULL;
}

static void *backing_realloc(void *ptr, size_t size)
{
	void *moved = backing_allowed() ? realloc(ptr, size) : NULL;

	return ptr ? moved : backing_count(moved);
}

static void *backing_aligned(size_t align, size_t size)
{
	return backing_allowed() ? backing_count(aligned_alloc(align, size)) : NULL;
}

static void backing_free(void *ptr)
{
	if (ptr)
		atomic_sub(&backing_live, 1);
	free(ptr);
}

static const struct memcg_backing backing_counted = {
	backing_malloc, backing_calloc, backing_realloc, backing_aligned, backing_free,
};

#endif
