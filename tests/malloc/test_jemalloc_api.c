/* SPDX-License-Identifier: MIT */
/* jemalloc's calls mixed with the C library's: one kind of block, whichever allocator is below. */
#include "check.h"
#include <malloc.h>
#include <stdint.h>

#define MALLOCX_LG_ALIGN(lg) ((int)(lg))
#define MALLOCX_ZERO 0x40
#define MALLOCX_TCACHE_NONE ((-1 + 2) << 8)

void *mallocx(size_t size, int flags);
void *rallocx(void *ptr, size_t size, int flags);
size_t xallocx(void *ptr, size_t size, size_t extra, int flags);
size_t sallocx(const void *ptr, int flags);
void dallocx(void *ptr, int flags);
void sdallocx(void *ptr, size_t size, int flags);
size_t nallocx(size_t size, int flags);
#pragma weak mallocx
#pragma weak rallocx
#pragma weak xallocx
#pragma weak sallocx
#pragma weak dallocx
#pragma weak sdallocx
#pragma weak nallocx

static bool is_zero(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (block[i])
			return false;
	}
	return true;
}

int main(void)
{
	check_preloaded();
	free(mallocx(100, 0));
	dallocx(malloc(100), MALLOCX_TCACHE_NONE);
	sdallocx(calloc(10, 10), 100, 0);
	sdallocx(mallocx(100, MALLOCX_LG_ALIGN(12)), 100, MALLOCX_LG_ALIGN(12));

	for (int lg = 0; lg <= 20; lg++) {
		int flags = MALLOCX_LG_ALIGN(lg) | MALLOCX_ZERO | MALLOCX_TCACHE_NONE;
		unsigned char *block = mallocx(5000, flags);

		CHECK(block && !((uintptr_t)block % (1UL << lg)) && is_zero(block, 5000));
		CHECK(sallocx(block, flags) == nallocx(5000, flags) && sallocx(block, 0) == malloc_usable_size(block));
		memset(block, 1, 5000);
		block = rallocx(block, 70000, flags);
		CHECK(block && !((uintptr_t)block % (1UL << lg)));
		CHECK(block[0] == 1 && block[4999] == 1 && is_zero(block + 5000, 65000));
		CHECK(xallocx(block, 100000, 0, flags) == sallocx(block, flags));
		block = realloc(block, 100);
		CHECK(block && block[99] == 1);
		free(block);
	}
	CHECK(!mallocx(PTRDIFF_MAX, 0) && !nallocx(SIZE_MAX, 0));
	return 0;
}
