/* SPDX-License-Identifier: MIT */
/* Charged heap memory: as its namesakes in the C library, and every byte paid for by who allocated it. */
#include <errno.h>
#include <limits.h>
#include <memcg/heap.h>

#include "support/forms.h"
#include "support/machine.h"
#include "support/tree.h"

#define HEADER MEMCG_HEAP_HEADER

static struct memcg *tenant;

static int begin(void **state)
{
	(void)state;
	tenant = group_make(NULL, "tenant");
	memcg_enter(tenant);
	return 0;
}

static int end(void **state)
{
	(void)state;
	must(ledger_live_bytes(tenant->objcg) == 0);
	memcg_leave(NULL);
	group_end(tenant);
	tree_is_empty();
	return 0;
}

static int64_t paid(void)
{
	return ledger_live_bytes(tenant->objcg);
}

static void fill(void *block, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		((unsigned char *)block)[i] = (unsigned char)(i * 7);
}

static bool filled(const void *block, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (((const unsigned char *)block)[i] != (unsigned char)(i * 7))
			return false;
	}
	return true;
}

static void every_size(void **state)
{
	size_t size;

	for (size = 0; size < 20000; size += size < 300 ? 1 : 97) {
		void *block = memcg_malloc(size);

		must(block && (uintptr_t)block % 16 == 0);
		must(paid() == (int64_t)(size + HEADER));
		must(memcg_heap_size(block) == size);
		must(memcg_heap_owner(block) == tenant->objcg);
		fill(block, size);
		memcg_free(block);
		must(paid() == 0);
	}
	memcg_free(NULL);
	assert_int_equal(memcg_heap_size(NULL), 0);
	assert_null(memcg_heap_owner(NULL));
}

static void calloc_zeroes_and_checks(void **state)
{
	unsigned char *block = memcg_calloc(100, 33);
	size_t i;

	assert_non_null(block);
	for (i = 0; i < 3300; i++)
		must(!block[i]);
	assert_int_equal(paid(), 3300 + HEADER);
	memcg_free(block);
	errno = 0;
	assert_null(memcg_calloc(SIZE_MAX / 2, 3));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(memcg_calloc(1UL << 32, 1UL << 32));
	assert_int_equal(errno, ENOMEM);
	block = memcg_calloc(0, 10);
	assert_non_null(block);
	memcg_free(block);
	assert_int_equal(paid(), 0);
}

static void every_alignment(void **state)
{
	size_t align;

	for (align = 1; align <= 1 << 20; align *= 2) {
		void *block = memcg_aligned_alloc(align, 777), *grown;

		must(block && (uintptr_t)block % align == 0);
		must(memcg_heap_size(block) == 777);
		must(paid() >= 777 + HEADER && paid() <= 777 + (int64_t)(align > HEADER ? align : HEADER));
		fill(block, 777);
		grown = memcg_realloc(block, 5000);
		must(grown && (uintptr_t)grown % align == 0 && filled(grown, 777));
		grown = memcg_realloc(grown, 10);
		must(grown && (uintptr_t)grown % align == 0 && filled(grown, 10));
		memcg_free(grown);
		must(paid() == 0);
	}
	for (align = 0; align < 100; align++) {
		if (align && !(align & (align - 1)))
			continue;
		errno = 0;
		must(!memcg_aligned_alloc(align, 10) && errno == EINVAL);
	}
}

static void realloc_pays_the_difference(void **state)
{
	static const size_t sizes[] = { 1, 5000, 4999, 100000, 100, 0, 17 };
	char *block = NULL;
	size_t i, last = 0;

	for (i = 0; i < array_size(sizes); i++) {
		block = memcg_realloc(block, sizes[i]);
		must(block && memcg_heap_size(block) == sizes[i]);
		must(paid() == (int64_t)(sizes[i] + HEADER));
		must(filled(block, last < sizes[i] ? last : sizes[i]));
		fill(block, sizes[i]);
		last = sizes[i];
	}
	/* Who pays stays: not the one who resizes. */
	memcg_enter(memcg_root());
	block = memcg_realloc(block, 3000);
	memcg_enter(tenant);
	assert_int_equal(paid(), 3000 + HEADER);
	memcg_free(block);
}

static void impossible(size_t size)
{
	errno = 0;
	must(!memcg_malloc(size) && errno == ENOMEM);
	errno = 0;
	must(!memcg_calloc(1, size) && errno == ENOMEM);
	errno = 0;
	must(!memcg_aligned_alloc(64, size) && errno == ENOMEM);
	errno = 0;
	must(!memcg_realloc(NULL, size) && errno == ENOMEM);
}

static void sizes_that_cannot_be(void **state)
{
	static const size_t sizes[] = { PTRDIFF_MAX,       (size_t)PTRDIFF_MAX + 1,      SIZE_MAX,
					SIZE_MAX - HEADER, (size_t)PTRDIFF_MAX - HEADER, (size_t)PTRDIFF_MAX - 4096 };
	char *block = memcg_malloc(100), *aligned = memcg_aligned_alloc(4096, 100);
	unsigned int shift;
	size_t i;

	for (i = 0; i < array_size(sizes); i++) {
		impossible(sizes[i]);
		errno = 0;
		must(!memcg_realloc(block, sizes[i]) && errno == ENOMEM);
		errno = 0;
		must(!memcg_realloc(aligned, sizes[i]) && errno == ENOMEM);
		must(memcg_heap_size(block) == 100 && memcg_heap_size(aligned) == 100);
		memcg_enter(memcg_unaccounted());
		impossible(sizes[i]);
		memcg_enter(tenant);
	}
	/* Valgrind's allocator ends the program for an alignment that it thinks too large. */
	for (shift = machine_valgrind() ? 62 : 48; shift < 64; shift++) {
		must(!memcg_aligned_alloc((size_t)1 << shift, 100));
		memcg_enter(memcg_unaccounted());
		must(!memcg_aligned_alloc((size_t)1 << shift, 100));
		memcg_enter(tenant);
	}
	memcg_free(block);
	memcg_free(aligned);
	assert_int_equal(paid(), 0);
}

static void a_refusal_is_enomem(void **state)
{
	char *block = memcg_malloc(3000);

	group_max(tenant, 2);
	errno = 0;
	assert_null(memcg_malloc(9000));
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(memcg_last_refusal()->group, tenant);
	errno = 0;
	assert_null(memcg_calloc(3, 3000));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(memcg_realloc(block, 9000));
	assert_int_equal(errno, ENOMEM);
	assert_null(memcg_heap_alloc(NULL, 256, 9000, MEMCG_MAY_SLEEP));
	assert_int_equal(paid(), 3000 + HEADER);
	block = memcg_realloc(block, 10);
	assert_non_null(block);
	errno = 42;
	memcg_free(block);
	assert_int_equal(errno, 42);
	block = memcg_heap_alloc(tenant, 0, 9000, MEMCG_FORCE);
	assert_non_null(block);
	memcg_free(block);
	assert_int_equal(usage_of(tenant), 0);
}

static void *never_realloc(void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return NULL;
}

/* A4: what the allocator below refuses was never charged, so that not even the peak knows. */
static void what_cannot_be_had_leaves_no_trace(void **state)
{
	const size_t much = (size_t)1 << 48; /* more than the machine can address, less than can be counted */
	void *(*realloc_below)(void *, size_t) = mem_backing.realloc;
	char *plain = memcg_malloc(100), *large = memcg_malloc(3 << 20), *aligned = memcg_aligned_alloc(4096, 100);
	unsigned long peak = peak_of(tenant), root_peak = peak_of(memcg_root());
	int64_t before = paid();

	assert_null(memcg_malloc(much));
	assert_null(memcg_calloc(1, much));
	assert_null(memcg_aligned_alloc(4096, much));
	errno = 0;
	assert_null(memcg_realloc(plain, much));
	assert_int_equal(errno, ENOMEM);
	assert_null(memcg_realloc(large, much));
	errno = 0;
	assert_null(memcg_realloc(aligned, much));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(peak_of(tenant), peak);
	assert_int_equal(peak_of(memcg_root()), root_peak);
	assert_int_equal(paid(), before);

	/* Room for what the block grows by, and not for the block: nothing stays charged. */
	mem_backing.realloc = never_realloc;
	assert_null(memcg_realloc(large, 6 << 20));
	assert_null(memcg_realloc(plain, 200));
	mem_backing.realloc = realloc_below;
	assert_int_equal(paid(), before);

	/* And a large one that the group refuses is not had. */
	fill(large, 3 << 20);
	group_max(tenant, 1200);
	assert_null(memcg_realloc(large, 8 << 20));
	assert_null(memcg_realloc(aligned, 8 << 20));
	assert_true(filled(large, 3 << 20));
	assert_int_equal(paid(), before);
	group_max_none(tenant);
	large = memcg_realloc(large, 8 << 20);
	assert_true(large && filled(large, 3 << 20));
	assert_int_equal(paid(), before + (5 << 20));
	memcg_free(plain);
	memcg_free(large);
	memcg_free(aligned);
}

static void nobody_pays(void **state)
{
	void *block, *other;

	memcg_enter(memcg_unaccounted());
	block = memcg_malloc(10000);
	other = memcg_aligned_alloc(512, 100);
	memcg_enter(tenant);
	assert_int_equal(paid(), 0);
	assert_null(memcg_heap_owner(block));
	block = memcg_realloc(block, 50000);
	other = memcg_realloc(other, 50000);
	assert_int_equal(paid(), 0);
	memcg_free(block);
	memcg_free(other);
	assert_int_equal(usage_of(memcg_root()), 0);
}

static void a_group_by_name_pays(void **state)
{
	struct memcg *other = group_make(NULL, "other");
	void *block = memcg_heap_alloc(other, 0, 1000, 0), *zeroed = memcg_heap_calloc(other, 10, 10, MEMCG_MAY_SLEEP);

	assert_int_equal(paid(), 0);
	assert_int_equal(ledger_live_bytes(other->objcg), 1100 + 2 * HEADER);
	block = memcg_heap_realloc(tenant, block, 2000, 0);
	assert_int_equal(ledger_live_bytes(other->objcg), 2100 + 2 * HEADER);
	/* And its parent when it is gone. */
	group_end(other);
	memcg_tick();
	assert_int_equal(ledger_live_bytes(memcg_root()->objcg), 2100 + 2 * HEADER);
	memcg_free(block);
	memcg_free(zeroed);
	assert_int_equal(ledger_live_bytes(memcg_root()->objcg), 0);
}

#define HEAP_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		HEAP_TEST(every_size),
		HEAP_TEST(calloc_zeroes_and_checks),
		HEAP_TEST(every_alignment),
		HEAP_TEST(realloc_pays_the_difference),
		HEAP_TEST(sizes_that_cannot_be),
		HEAP_TEST(a_refusal_is_enomem),
		HEAP_TEST(nobody_pays),
		HEAP_TEST(a_group_by_name_pays),
		HEAP_TEST(what_cannot_be_had_leaves_no_trace),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#if SANITIZED
/* Their allocators end the program for sizes that cannot be, unless told. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}
#endif

int main(void)
{
	return forms_main(run);
}
