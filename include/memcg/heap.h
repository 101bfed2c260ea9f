/* SPDX-License-Identifier: MIT */
/*
 * Charged heap memory: the calling thread's group pays, and is credited by
 * memcg_free() from whatever thread.
 *
 * The owner stands in a header of MEMCG_HEAP_HEADER bytes before the block, which is
 * charged too. Not callable from signal handlers, as malloc is not.
 */
#ifndef MEMCG_HEAP_H
#define MEMCG_HEAP_H

#include <memcg/charge.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCG_HEAP_HEADER 16

/* As their namesakes in the C library: NULL and errno = ENOMEM when the memory cannot be
 * had or the group refuses. They charge nowait. */
MEMCG_API void *memcg_malloc(size_t size);
MEMCG_API void *memcg_calloc(size_t nr, size_t size);
MEMCG_API void *memcg_realloc(void *ptr, size_t size);
MEMCG_API void *memcg_aligned_alloc(size_t align, size_t size);
MEMCG_API void memcg_free(void *ptr);

/* The same with flags as memcg_charge() has them, for a group. NULL @group is the thread's. */
MEMCG_API void *memcg_heap_alloc(struct memcg *group, size_t align, size_t size, unsigned int flags);
MEMCG_API void *memcg_heap_calloc(struct memcg *group, size_t nr, size_t size, unsigned int flags);
MEMCG_API void *memcg_heap_realloc(struct memcg *group, void *ptr, size_t size,
				   unsigned int flags); /* the payer stays the first one */

/** memcg_heap_size - bytes that may be used of a block; 0 for NULL. Context: fast. */
MEMCG_API size_t memcg_heap_size(const void *ptr);

/** memcg_heap_owner - who pays for a block, NULL: nobody. No reference. Context: fast. */
MEMCG_API struct memcg_objcg *memcg_heap_owner(const void *ptr);

#ifdef __cplusplus
}
#endif
#endif
