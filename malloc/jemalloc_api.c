/* SPDX-License-Identifier: MIT */
/*
 * jemalloc's own calls. A program that is linked with jemalloc mixes them with malloc() and
 * free(), so they must hand out and take the same blocks. Sizes are exact here: a block's
 * usable size is what was asked for. Alignment and zeroing are obeyed; the numbers of arenas
 * and thread caches in the flags are not, since jemalloc sees our malloc() only.
 */
#include "fast.h"
#include <string.h>

#define MALLOCX_LG_ALIGN_MASK 0x3f
#define MALLOCX_ZERO 0x40

EXPORT void *mallocx(size_t size, int flags);
EXPORT void *rallocx(void *ptr, size_t size, int flags);
EXPORT size_t xallocx(void *ptr, size_t size, size_t extra, int flags);
EXPORT size_t sallocx(const void *ptr, int flags);
EXPORT void dallocx(void *ptr, int flags);
EXPORT void sdallocx(void *ptr, size_t size, int flags);
EXPORT size_t nallocx(size_t size, int flags);

static size_t align_of(int flags)
{
	size_t align = 1UL << (flags & MALLOCX_LG_ALIGN_MASK);

	return align < MALLOC_ALIGN ? MALLOC_ALIGN : align;
}

void *mallocx(size_t size, int flags)
{
	size_t align = align_of(flags);
	void *block = charged_alloc(align, size);

	if (block && flags & MALLOCX_ZERO)
		memset(block, 0, size);
	return block;
}

/* An aligned block moves: the library's realloc knows the common alignment only. */
static void *realloc_aligned(void *ptr, size_t old, size_t size, size_t align)
{
	void *block = charged_alloc(align, size);

	if (!block)
		return NULL;
	memcpy(block, ptr, old < size ? old : size);
	charged_free(ptr);
	return block;
}

void *rallocx(void *ptr, size_t size, int flags)
{
	size_t align = align_of(flags);
	size_t old = charged_size(ptr);
	char *block;

	if (!ptr)
		return mallocx(size, flags);
	if (align > MALLOC_ALIGN)
		block = realloc_aligned(ptr, old, size, align);
	else
		block = charged_realloc(ptr, size);
	if (block && flags & MALLOCX_ZERO && size > old)
		memset(block + old, 0, size - old);
	return block;
}

/* Nothing is resized in place; the size that stays says so. */
size_t xallocx(void *ptr, size_t size, size_t extra, int flags)
{
	return charged_size(ptr);
}

size_t sallocx(const void *ptr, int flags)
{
	return charged_size(ptr);
}

void dallocx(void *ptr, int flags)
{
	fast_free(ptr);
}

void sdallocx(void *ptr, size_t size, int flags)
{
	fast_free(ptr);
}

size_t nallocx(size_t size, int flags)
{
	return size > PTRDIFF_MAX - align_of(flags) ? 0 : size;
}
