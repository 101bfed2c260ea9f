/* SPDX-License-Identifier: MIT */
/*
 * malloc() and its family. Each is a thin function around one call into the library: the
 * thread is marked busy, so that what allocates meanwhile is told from the program's calls.
 *
 * Where C libraries differ we follow glibc: realloc(p, 0) frees and returns NULL, alignments
 * of memalign() and aligned_alloc() are rounded up to a power of two. free() leaves errno alone.
 */
#include "control.h"
#include "fast.h"
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

HIDDEN __thread struct thread thread_self;

COLD enum call_mode call_mode(void)
{
	if (!start_possible())
		return CALL_BOOT;

	if (thread_self.phase == THREAD_BUSY)
		return start_done() ? CALL_NESTED : CALL_BOOT;

	thread_self.phase = THREAD_BUSY;
	start();
	threads_arrive(&thread_self);
	control_arrive();
	thread_self.phase = THREAD_IDLE;
	return CALL_CHARGED;
}

COLD void *slow_alloc(size_t align, size_t size)
{
	switch (call_mode()) {
	case CALL_BOOT:
		return boot_alloc(align, size);
	case CALL_NESTED:
		return memcg_heap_alloc(memcg_unaccounted(), align, size, 0);
	default:
		return idle_alloc(align, size);
	}
}

void *charged_alloc(size_t align, size_t size)
{
	return fast_alloc(align, size);
}

void charged_free(void *ptr)
{
	fast_free(ptr);
}

size_t charged_size(const void *ptr)
{
	if (!ptr)
		return 0;
	if (unlikely(boot_owns(ptr)))
		return boot_size(ptr);
	return unlikely(is_foreign(ptr)) ? 0 : memcg_heap_size(ptr);
}

static COLD void *slow_realloc(void *ptr, size_t size)
{
	if (boot_owns(ptr))
		return boot_move(ptr, size);
	if (is_foreign(ptr))
		return next_malloc.realloc(ptr, size);
	if (call_mode() == CALL_NESTED)
		return memcg_heap_realloc(memcg_unaccounted(), ptr, size, 0);
	return charged_realloc(ptr, size);
}

void *charged_realloc(void *ptr, size_t size)
{
	void *block;

	if (unlikely(boot_owns(ptr) || is_foreign(ptr) || !is_idle()))
		return slow_realloc(ptr, size);
	thread_self.phase = THREAD_BUSY;
	block = memcg_heap_realloc(NULL, ptr, size, MEMCG_MAY_SLEEP);
	thread_self.phase = THREAD_IDLE;
	return block;
}

COLD void slow_free(void *ptr)
{
	unsigned int phase;

	if (boot_owns(ptr))
		return;
	if (is_foreign(ptr)) {
		next_malloc.free(ptr);
		return;
	}
	phase = thread_busy();
	memcg_free(ptr);
	thread_self.phase = phase;
}

COLD void *no_memory(struct memcg_objcg *owner, size_t size)
{
	slow_repay(owner, size);
	errno = ENOMEM;
	return NULL;
}

__attribute__((noinline)) void *idle_alloc(size_t align, size_t size)
{
	void *block;

	thread_self.phase = THREAD_BUSY;
	block = memcg_heap_alloc(NULL, align, size, MEMCG_MAY_SLEEP);
	thread_self.phase = THREAD_IDLE;
	return block;
}

COLD void slow_repay(struct memcg_objcg *owner, size_t size)
{
	unsigned int phase = thread_busy();
	int saved = errno;

	memcg_uncharge_bytes(owner, size);
	errno = saved;
	thread_self.phase = phase;
}

EXPORT void *malloc(size_t size)
{
	return plain_alloc(size);
}

EXPORT void free(void *ptr)
{
	fast_free(ptr);
}

static COLD void *slow_calloc(size_t nr, size_t size)
{
	size_t bytes;

	switch (call_mode()) {
	case CALL_BOOT:
		return __builtin_mul_overflow(nr, size, &bytes) ? NULL : boot_alloc(MALLOC_ALIGN, bytes);
	case CALL_NESTED:
		return memcg_heap_calloc(memcg_unaccounted(), nr, size, 0);
	default:
		return calloc(nr, size);
	}
}

static __attribute__((noinline)) void *idle_calloc(size_t nr, size_t size)
{
	void *block;

	thread_self.phase = THREAD_BUSY;
	block = memcg_heap_calloc(NULL, nr, size, MEMCG_MAY_SLEEP);
	thread_self.phase = THREAD_IDLE;
	return block;
}

EXPORT void *calloc(size_t nr, size_t size)
{
	struct memcg_objcg *owner;
	size_t bytes;
	void *block;

	if (!is_idle())
		return slow_calloc(nr, size);
	if (unlikely(__builtin_mul_overflow(nr, size, &bytes)))
		return idle_calloc(nr, size);
	owner = memcg_heap_pay_(memcg_percpu_at, bytes);
	if (unlikely(!owner))
		return idle_calloc(nr, size);
	block = next_malloc.calloc(1, MEMCG_HEAP_HEADER + bytes);
	return likely(block) ? memcg_block_fill_(block, owner, bytes) : no_memory(owner, MEMCG_HEAP_HEADER + bytes);
}

EXPORT void *realloc(void *ptr, size_t size)
{
	if (!ptr)
		return plain_alloc(size);
	if (!size) {
		fast_free(ptr);
		return NULL;
	}
	return charged_realloc(ptr, size);
}

/* By realloc(), which a program may have replaced. */
EXPORT void *reallocarray(void *ptr, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(ptr, bytes);
}

static void *rounded_alloc(size_t align, size_t size)
{
	if (align > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	if (align <= MALLOC_ALIGN)
		return charged_alloc(MALLOC_ALIGN, size);
	if (align & (align - 1))
		align = 1UL << (64 - __builtin_clzl(align));
	return charged_alloc(align, size);
}

EXPORT void *memalign(size_t align, size_t size)
{
	return rounded_alloc(align, size);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	return rounded_alloc(align, size);
}

EXPORT int posix_memalign(void **ptr, size_t align, size_t size)
{
	int saved = errno;
	void *block;

	if (!align || align & (align - 1) || align % sizeof(void *))
		return EINVAL;
	block = rounded_alloc(align, size);
	errno = saved;
	if (!block)
		return ENOMEM;
	*ptr = block;
	return 0;
}

EXPORT void *valloc(size_t size)
{
	return charged_alloc((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORT void *pvalloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (size > PTRDIFF_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return charged_alloc(page, (size + page - 1) & -page);
}

EXPORT size_t malloc_usable_size(void *ptr)
{
	return charged_size(ptr);
}

/* Old names and new ones of free(). */
EXPORT void cfree(void *ptr);
EXPORT void free_sized(void *ptr, size_t size);
EXPORT void free_aligned_sized(void *ptr, size_t align, size_t size);

void cfree(void *ptr)
{
	free(ptr);
}

void free_sized(void *ptr, size_t size)
{
	free(ptr);
}

void free_aligned_sized(void *ptr, size_t align, size_t size)
{
	free(ptr);
}

/*
 * Asked by a call: addresses do not tell, since a program that is not position independent
 * and takes malloc's address gives its own. Only our slow path makes a new thread idle.
 */
bool interpose_is_reached(void)
{
	unsigned int phase = thread_self.phase;
	bool reached;
	void *block;

	thread_self.phase = THREAD_NEW;
	block = malloc(1);
	__asm__("" : "+r"(block) : : "memory"); /* the compiler may not pair the two calls away */
	reached = thread_self.phase == THREAD_IDLE;
	thread_self.phase = phase;
	free(block);
	return reached;
}
