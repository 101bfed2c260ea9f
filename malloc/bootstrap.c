/* SPDX-License-Identifier: MIT */
/*
 * The boot arena: what is allocated before the library runs. That is what the loader's
 * resolvers ask for while we are not relocated yet, and what dlsym() and memcg_init()
 * ask for while they start the library.
 *
 * Nothing here may need a relocation: no call into another object, no errno, no thread-local.
 * Blocks are zero and never used twice; free() drops them, realloc() moves them to the heap.
 */
#include "preload.h"
#include <string.h>

/* Before each block. */
struct boot_header {
	size_t size;   /* bytes asked for */
	size_t unused; /* keeps blocks on 16 bytes */
};

HIDDEN char boot_arena[BOOT_SIZE] __attribute__((aligned(64)));
static size_t boot_used; /* bytes given out; atomic */

void *boot_alloc(size_t align, size_t size)
{
	size_t used = __atomic_load_n(&boot_used, __ATOMIC_RELAXED);
	size_t begin, end;

	if (align > BOOT_SIZE || size > BOOT_SIZE)
		return NULL;
	do {
		uintptr_t first = (uintptr_t)boot_arena + used + sizeof(struct boot_header);

		begin = ((first + align - 1) & -align) - (uintptr_t)boot_arena;
		end = begin + ((size + MALLOC_ALIGN) & -MALLOC_ALIGN);
		if (end > BOOT_SIZE)
			return NULL;
	} while (!__atomic_compare_exchange_n(&boot_used, &used, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	((struct boot_header *)(void *)(boot_arena + begin) - 1)->size = size;
	return boot_arena + begin;
}

size_t boot_size(const void *ptr)
{
	return ((const struct boot_header *)ptr - 1)->size;
}

void *boot_move(const void *ptr, size_t size)
{
	size_t old = boot_size(ptr);
	void *block = charged_alloc(MALLOC_ALIGN, size);

	if (block)
		memcpy(block, ptr, old < size ? old : size);
	return block;
}
