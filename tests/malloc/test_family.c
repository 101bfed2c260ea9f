/* SPDX-License-Identifier: MIT */
/* The whole family of malloc(): what it returns for good and for bad arguments, as glibc does. */
#include "check.h"
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

extern void free_sized(void *ptr, size_t size) __attribute__((weak));
extern void free_aligned_sized(void *ptr, size_t align, size_t size) __attribute__((weak));
extern void cfree(void *ptr) __attribute__((weak));

static volatile size_t huge = PTRDIFF_MAX; /* the compiler warns of constants */

static bool is_filled(const unsigned char *block, unsigned char byte, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (block[i] != byte)
			return false;
	}
	return true;
}

static void test_sizes(void)
{
	for (size_t size = 0; size < 300000; size = size < 5000 ? size + 1 : size + size / 7) {
		unsigned char *block = malloc(size);

		OPAQUE(block);
		CHECK(block && !((uintptr_t)block % 16));
		CHECK(malloc_usable_size(block) >= size);
		memset(block, 0xa5, malloc_usable_size(block));
		free(block);
	}
	void *one = malloc(0), *other = malloc(0);

	OPAQUE(one);
	OPAQUE(other);
	CHECK(one && other && one != other);
	free(one);
	free(other);
	free(NULL);
	CHECK(malloc_usable_size(NULL) == 0);
}

static void test_calloc(void)
{
	for (size_t size = 1; size < MIB; size = size * 3 + 1) {
		void *dirty = malloc(size);

		OPAQUE(dirty);
		memset(dirty, 0xff, size);
		free(dirty);

		unsigned char *block = calloc(size, 1);

		OPAQUE(block);
		CHECK(block && is_filled(block, 0, size));
		free(block);
	}
	void *none = calloc(0, 8);

	OPAQUE(none);
	CHECK(none);
	free(none);

	size_t half = SIZE_MAX / 2;

	OPAQUE(half);
	errno = 0;
	CHECK(!calloc(half, 3) && errno == ENOMEM);
	errno = 0;
	half = 1UL << 32;
	OPAQUE(half);
	CHECK(!calloc(half, half) && errno == ENOMEM);
}

static void test_too_large(void)
{
	void *block = NULL;

	for (size_t less = 0; less < 64; less++) {
		size_t size = huge + 32 - less;

		OPAQUE(size);
		errno = 0;
		CHECK(!malloc(size) && errno == ENOMEM);
		CHECK(!realloc(NULL, size));
		CHECK(!memalign(4096, size));
		CHECK(posix_memalign(&block, 64, size) == ENOMEM);
		CHECK(!block);
		size = SIZE_MAX - less;
		OPAQUE(size);
		CHECK(!malloc(size) && !pvalloc(size) && !valloc(size));
	}
}

static void test_realloc(void)
{
	unsigned char *block = NULL;
	size_t old = 0;

	for (size_t size = 1; size < 4 * MIB; size = size * 2 + 3) {
		block = realloc(block, size);
		CHECK(block && is_filled(block, 0x5a, old));
		memset(block, 0x5a, size);
		old = size;
	}
	block = realloc(block, 10);
	CHECK(block && is_filled(block, 0x5a, 10));

	/* refused: the block stays as it was */
	errno = 0;
	CHECK(!realloc(block, huge) && errno == ENOMEM);
	CHECK(is_filled(block, 0x5a, 10));
	errno = 0;
	CHECK(!reallocarray(block, huge, 4) && errno == ENOMEM);
	block = reallocarray(block, 100, 30);
	CHECK(block && is_filled(block, 0x5a, 10));
	block = realloc(block, 0);
	CHECK(!block);

	/* an aligned block may move, its bytes stay */
	block = memalign(4096, 100);
	memset(block, 0x3c, 100);
	block = realloc(block, 100000);
	CHECK(block && is_filled(block, 0x3c, 100));
	free(block);
}

static void test_aligned(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *block = NULL;

	for (size_t align = 8; align <= 4 * MIB; align *= 2) {
		CHECK(!posix_memalign(&block, align, 33) && !((uintptr_t)block % align));
		memset(block, 1, 33);
		CHECK(malloc_usable_size(block) >= 33);
		free(block);
		block = memalign(align, 0);
		CHECK(block && !((uintptr_t)block % align));
		free(block);
		block = aligned_alloc(align, 3 * align);
		CHECK(block && !((uintptr_t)block % align));
		memset(block, 1, 3 * align);
		free(block);
	}
	block = NULL;
	CHECK(posix_memalign(&block, 0, 8) == EINVAL);
	CHECK(posix_memalign(&block, 4, 8) == EINVAL);
	CHECK(posix_memalign(&block, 24, 8) == EINVAL);
	CHECK(!block);

	size_t odd = 100;

	OPAQUE(odd);
	block = memalign(odd, 8); /* rounded up to 128 */
	CHECK(block && !((uintptr_t)block % 128));
	free(block);
	size_t wrong = SIZE_MAX / 2 + 2;

	OPAQUE(wrong);
	errno = 0;
	CHECK(!memalign(wrong, 8) && errno == EINVAL);
	block = valloc(1);
	CHECK(block && !((uintptr_t)block % page));
	free(block);
	block = pvalloc(page + 1);
	CHECK(block && !((uintptr_t)block % page) && malloc_usable_size(block) >= 2 * page);
	free(block);
}

static void test_free(void)
{
	errno = 12345;
	for (size_t size = 1; size < 64 * MIB; size *= 4) {
		void *block = malloc(size);

		OPAQUE(block);
		errno = 12345;
		free(block);
		CHECK(errno == 12345);
	}
	if (free_sized)
		free_sized(malloc(10), 10);
	if (free_aligned_sized)
		free_aligned_sized(aligned_alloc(64, 128), 64, 128);
	if (cfree)
		cfree(malloc(10));
}

int main(void)
{
	check_preloaded();
	test_sizes();
	test_calloc();
	test_too_large();
	test_realloc();
	test_aligned();
	test_free();
	return 0;
}
