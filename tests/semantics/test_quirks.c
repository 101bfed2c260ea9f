/* SPDX-License-Identifier: MIT */
/* The kernel's quirks that callers know (facts 15), and where this library differs on purpose. */
#include <memcg/heap.h>
#include <memcg/stat.h>

#include "support/forms.h"
#include "support/tree.h"

static unsigned long file_value(struct memcg *group, const char *file, const char *key)
{
	char buf[8192], *line;
	ssize_t len = memcg_read(group, file, buf, sizeof(buf));

	must(len > 0 && (size_t)len < sizeof(buf));
	if (!key)
		return strtoul(buf, NULL, 10);
	line = strstr(buf, key);
	must(line);
	return strtoul(line + strlen(key), NULL, 10);
}

/* 1. Stocked pages are in memory.current and not in memory.stat. */
static void stock_is_in_current_only(void **state)
{
	struct memcg *group = group_make(NULL, "q1");

	assert_int_equal(memcg_charge(group, 1, 0), 0);
	memcg_uncharge(group, 1);
	assert_int_equal(file_value(group, "memory.current", NULL), usage_of(group) * MEMCG_PAGE_SIZE);
	assert_int_equal(usage_of(group), ledger_stock(group));
	assert_int_equal(file_value(group, "memory.stat", "anon "), 0);
	group_end(group);
	tree_is_empty();
}

/* 2. n above the high mark passes the stock by: what it holds is neither used nor filled. */
static void large_ones_do_not_meet_the_stock(void **state)
{
	struct memcg *group = group_make(NULL, "q2");
	unsigned long held;

	assert_int_equal(memcg_charge(group, 1, 0), 0);
	held = ledger_stock(group);
	assert_int_equal(memcg_charge(group, MEMCG_STOCK_HIGH + 1, 0), 0);
	assert_int_equal(ledger_stock(group), held);
	memcg_uncharge(group, MEMCG_STOCK_HIGH + 1);
	assert_int_equal(ledger_stock(group), held);
	memcg_uncharge(group, 1);
	group_end(group);
	tree_is_empty();
}

/* 3. The kernel raises watermarks of lower levels by refused charges; this library does not (A4). */
static void refusals_raise_no_watermark(void **state)
{
	struct memcg *top = group_make(NULL, "q3"), *leaf = group_make(top, "leaf");

	group_max(top, 10);
	assert_int_equal(memcg_charge(leaf, 20, 0), -ENOMEM);
	assert_int_equal(file_value(leaf, "memory.peak", NULL), 0);
	assert_int_equal(file_value(top, "memory.peak", NULL), 0);
	group_end(leaf);
	group_end(top);
	tree_is_empty();
}

/* 8. memory.high never fails a charge, and a write of memory.max never fails once parsed. */
static void high_fails_nothing_and_max_can_be_written(void **state)
{
	struct memcg *group = group_make(NULL, "q8");

	assert_int_equal(memcg_write(group, "memory.high", "4096", 4), 4);
	assert_int_equal(memcg_charge(group, 1000, 0), 0);
	assert_int_equal(memcg_charge(group, 1, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_write(group, "memory.max", "0", 1), 1);
	assert_int_equal(file_value(group, "memory.max", NULL), 0);
	assert_int_equal(usage_of(group), 1001);
	assert_int_equal(memcg_charge(group, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(memcg_write(group, "memory.max", "1001K", 5), 5);
	assert_int_equal(memcg_write(group, "memory.max", "max\n", 4), 4);
	assert_int_equal(memcg_charge(group, 1, MEMCG_MAY_SLEEP), 0);
	memcg_uncharge(group, 1002);
	group_end(group);
	tree_is_empty();
}

/* 12. The kernel's drain empties whole CPUs and is not waited for; here others keep theirs, and it is exact. */
static void a_drain_takes_its_own_only(void **state)
{
	struct memcg *a = group_make(NULL, "a"), *b = group_make(NULL, "b");
	unsigned long held;

	assert_int_equal(memcg_charge(b, 1, 0), 0);
	held = ledger_stock(b);
	assert_true(held > 0);
	assert_int_equal(memcg_charge(a, 1, 0), 0);
	group_max(a, 1);
	assert_int_equal(memcg_charge(a, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(usage_of(a), 1);
	assert_int_equal(ledger_stock(b), held);
	memcg_uncharge(a, 1);
	memcg_uncharge(b, 1);
	group_end(a);
	group_end(b);
	tree_is_empty();
}

/* Bytes in memory.stat are whole pages as charged, with what byte stocks hold of them. */
static void heap_is_in_stat(void **state)
{
	struct memcg *group = group_make(NULL, "s"), *child = group_make(group, "child");
	void *block = memcg_heap_alloc(child, 0, 10000, 0);

	assert_non_null(block);
	assert_int_equal(memcg_stat_flush(NULL), 0);
	assert_int_equal(file_value(child, "memory.stat", "anon "), 3 * MEMCG_PAGE_SIZE);
	assert_int_equal(file_value(group, "memory.stat", "anon "), 3 * MEMCG_PAGE_SIZE);
	group_end(child);
	assert_int_equal(file_value(group, "memory.stat", "anon "), 3 * MEMCG_PAGE_SIZE);
	memcg_free(block);
	memcg_tick();
	memcg_tick(); /* nothing happened since the last: what the CPU holds is idle */
	assert_int_equal(memcg_stat_flush(NULL), 0);
	assert_int_equal(file_value(group, "memory.stat", "anon "), 0);
	group_end(group);
	tree_is_empty();
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stock_is_in_current_only),
		cmocka_unit_test(large_ones_do_not_meet_the_stock),
		cmocka_unit_test(refusals_raise_no_watermark),
		cmocka_unit_test(high_fails_nothing_and_max_can_be_written),
		cmocka_unit_test(a_drain_takes_its_own_only),
		cmocka_unit_test(heap_is_in_stat),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
