/* SPDX-License-Identifier: MIT */
/*
 * The two paths that must be short: one question, and the library's inline path.
 *
 * The question is answered by two thread-local words, read at once. An access that is not
 * relocated yet reads the thread's own address, one before the storage is set up reads 0:
 * neither is IDLE.
 */
#ifndef MEMCG_PRELOAD_FAST_H
#define MEMCG_PRELOAD_FAST_H

#include <memcg/inline.h>

#include "preload.h"

HIDDEN void *slow_alloc(size_t align, size_t size);

static inline bool is_idle(void)
{
	uint64_t both = __atomic_load_n(&thread_self.both, __ATOMIC_RELAXED);

	return likely(both == THREAD_IDLE);
}

/* The thread is idle: with the thread marked busy, by the library. */
HIDDEN void *idle_alloc(size_t align, size_t size);

static inline void *fast_alloc(size_t align, size_t size)
{
	return is_idle() ? idle_alloc(align, size) : slow_alloc(align, size);
}

/*
 * A block that the allocator below gave to who calls it directly: an object loaded with
 * RTLD_DEEPBIND, or one that knows __libc_malloc(). Before glibc's blocks stands their size,
 * whose top byte is 0; no header's is. Not of blocks in the arena.
 */
static inline bool is_foreign(const void *ptr)
{
	return !(((const struct memcg_block_ *)ptr - 1)->size >> MEMCG_BLOCK_SIZE_BITS);
}

/* What is not the straight way. */
HIDDEN void *no_memory(struct memcg_objcg *owner, size_t size);
HIDDEN void slow_free(void *ptr);
HIDDEN void slow_repay(struct memcg_objcg *owner, size_t size);

/*
 * A block without alignment of its own, where the CPU's stock pays: not one call into the library. What the
 * allocator below may call meanwhile is charged like anything else.
 */
static inline void *plain_alloc(size_t size)
{
	struct memcg_objcg *owner;
	void *block;

	if (unlikely(!is_idle()))
		return slow_alloc(MALLOC_ALIGN, size);
	owner = memcg_heap_pay_(memcg_percpu_at, size);
	if (unlikely(!owner))
		return idle_alloc(MALLOC_ALIGN, size);
	block = next_malloc.malloc(MEMCG_HEAP_HEADER + size);
	if (likely(block))
		return memcg_block_fill_(block, owner, size);
	return no_memory(owner, MEMCG_HEAP_HEADER + size);
}

/* A block of the arena has a header too, one that names no payer. */
static inline __attribute__((always_inline)) void fast_free(void *ptr)
{
	struct memcg_block_ *header;
	struct memcg_objcg *owner;
	size_t total;

	if (unlikely(!ptr))
		return;
	header = (struct memcg_block_ *)ptr - 1;
	owner = memcg_block_payer_(header, &total);
	if (unlikely(!owner)) {
		slow_free(ptr);
		return;
	}
	next_malloc.free(header);
	if (unlikely(!memcg_heap_repay_(memcg_percpu_at, owner, total)))
		slow_repay(owner, total);
}

#endif
