/* SPDX-License-Identifier: MIT */
/*
 * The two paths that must be short: one question, one call into the library.
 *
 * The question is answered by two thread-local words. An access that is not relocated yet
 * reads the thread's own address, one before the storage is set up reads 0: neither is IDLE.
 * The words are read apart on purpose: one wide load just after a narrow store would wait for
 * the store to reach the cache.
 */
#ifndef MEMCG_PRELOAD_FAST_H
#define MEMCG_PRELOAD_FAST_H

#include "preload.h"

HIDDEN void *slow_alloc(size_t align, size_t size);

static inline bool is_idle(void)
{
	return likely(thread_self.phase == THREAD_IDLE && !__atomic_load_n(&thread_self.renamed, __ATOMIC_RELAXED));
}

static inline void *idle_alloc(size_t align, size_t size)
{
	void *block;

	thread_self.phase = THREAD_BUSY;
	block = memcg_heap_alloc(NULL, align, size, MEMCG_MAY_SLEEP);
	thread_self.phase = THREAD_IDLE;
	return block;
}

static inline void *fast_alloc(size_t align, size_t size)
{
	return is_idle() ? idle_alloc(align, size) : slow_alloc(align, size);
}

/* Nobody asks here how far the start is: what is not in the arena has a header. */
static inline void fast_free(void *ptr)
{
	unsigned int phase;

	if (unlikely(!ptr || boot_owns(ptr)))
		return;
	phase = thread_busy();
	memcg_free(ptr);
	thread_self.phase = phase;
}

#endif
