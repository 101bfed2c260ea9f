/* SPDX-License-Identifier: MIT */
/* Limits that change, and numbers that are huge. */
#include "support/counters.h"

#include <limits.h>
#include <pthread.h>

static void lowered_below_usage(void **state)
{
	struct counter_refusal refusal;

	(void)state;
	assert_true(charge(10));
	page_counter_set_max(&root, 4);
	assert_int_equal(root.max, 4);
	assert_int_equal(page_counter_read(&root), 10); /* what is charged stays */
	assert_false(page_counter_try_charge(&leaf, NULL, 1, &refusal));
	assert_int_equal(refusal.margin, 0);
	page_counter_uncharge(&leaf, NULL, 7);
	assert_true(charge(1));
	assert_false(charge(1));
	page_counter_set_max(&root, 6);
	assert_true(charge(2));
	assert_false(charge(1));
	page_counter_set_max(&root, PAGE_COUNTER_MAX);
	assert_true(charge(1000));
}

/* The version in the word wraps after 64 changes: usage and refusals are not disturbed. */
static void version_wraps(void **state)
{
	unsigned long i;

	(void)state;
	assert_true(charge(5));
	page_counter_set_max(&leaf, 1000);
	for (i = 0; i < 300; i++) {
		page_counter_set_max(&leaf, 999 - i);
		assert_int_equal(page_counter_read(&leaf), 5);
		assert_int_equal(leaf.word & COUNTER_CLIMBS, 0);
		assert_true(charge(999 - i - 5));
		assert_false(charge(1));
		page_counter_uncharge(&leaf, NULL, 999 - i - 5);
	}
	assert_int_equal(page_counter_read(&root), 5);
	page_counter_uncharge(&leaf, NULL, 5);
	assert_int_equal(counter_usage(leaf.word), 0);
}

/* Each lowered limit changes the version, so that an exchange decided under the old one fails. */
static void lowering_changes_the_word(void **state)
{
	uint64_t before;

	(void)state;
	page_counter_set_max(&leaf, 100);
	before = leaf.word;
	page_counter_set_max(&leaf, 99);
	assert_true(leaf.word != before);
	assert_int_equal(counter_usage(leaf.word), counter_usage(before));
}

static uint32_t running = 1;
static unsigned long published; /* limit in force for certain; atomic */

static void *charges(void *arg)
{
	(void)arg;
	while (load_relaxed(&running)) {
		if (charge(3))
			page_counter_uncharge(&leaf, NULL, 3);
	}
	return NULL;
}

/* A3: once set_max() has returned, no try-charge stores above it; whoever reads max never sees more usage. */
static void limit_moves_under_chargers(void **state)
{
	pthread_t threads[3];
	unsigned long i;
	size_t t;

	(void)state;
	for (t = 0; t < array_size(threads); t++)
		assert_int_equal(pthread_create(&threads[t], NULL, charges, NULL), 0);
	for (i = 0; i < 2000; i++) {
		int attempt;

		page_counter_set_max(&root, 9);
		page_counter_set_max(&root, i % 9);
		store_seq(&published, i % 9);
		/* what was charged before goes; what comes is below the limit for good */
		for (attempt = 0; page_counter_read(&root) > i % 9; attempt++)
			sched_yield();
		for (attempt = 0; attempt < 20; attempt++)
			assert_true(page_counter_read(&root) <= load_seq(&published));
	}
	store_relaxed(&running, 0);
	for (t = 0; t < array_size(threads); t++)
		pthread_join(threads[t], NULL);
	assert_int_equal(page_counter_read(&root), 0);
	assert_int_equal(page_counter_read(&leaf), 0);
}

/* Trap 21: nothing wraps. */
static void huge_numbers(void **state)
{
	const unsigned long huge[] = {
		COUNTER_PAGES_MAX + 1, PAGE_COUNTER_MAX, PAGE_COUNTER_MAX + 1, LONG_MAX, ~0UL,
	};
	size_t i;

	(void)state;
	assert_true(charge(1));
	for (i = 0; i < array_size(huge); i++) {
		assert_false(charge(huge[i]));
		assert_false(page_counter_force_charge(&leaf, NULL, huge[i]));
		assert_int_equal(page_counter_read(&leaf), 1);
		assert_int_equal(page_counter_read(&root), 1);
	}
	assert_true(charge(COUNTER_PAGES_MAX - 1));
	assert_int_equal(page_counter_read(&root), COUNTER_PAGES_MAX);
	assert_false(charge(1)); /* no limit, but no more than can be counted */
	assert_false(page_counter_force_charge(&leaf, NULL, 1));
	assert_int_equal(page_counter_read(&root), COUNTER_PAGES_MAX);
	page_counter_uncharge(&leaf, NULL, COUNTER_PAGES_MAX);
	assert_int_equal(counter_usage(root.word), 0);
}

static void max_word_is_no_limit(void **state)
{
	(void)state;
	page_counter_set_max(&root, PAGE_COUNTER_MAX);
	assert_int_equal(root.max, PAGE_COUNTER_MAX);
	assert_true(charge(COUNTER_PAGES_MAX));
	page_counter_uncharge(&leaf, NULL, COUNTER_PAGES_MAX);
	page_counter_set_max(&root, 0);
	assert_false(charge(1));
	assert_int_equal(page_counter_read(&leaf), 0);
}

static void uncharge_too_much(const void *arg)
{
	(void)arg;
	counters_make(NULL);
	must(charge(3));
	page_counter_uncharge(&leaf, NULL, 4);
}

/* What a release build does is in test_underflow.c. */
static void debug_builds_end_at_underflow(void **state)
{
	(void)state;
	if (!MEMCG_DEBUG)
		skip();
	assert_int_equal(child_run(uncharge_too_much, NULL), CHILD_SIGNAL(SIGABRT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lowered_below_usage, counters_make),
		cmocka_unit_test_setup(version_wraps, counters_make),
		cmocka_unit_test_setup(lowering_changes_the_word, counters_make),
		cmocka_unit_test_setup(limit_moves_under_chargers, counters_make),
		cmocka_unit_test_setup(huge_numbers, counters_make),
		cmocka_unit_test_setup(max_word_is_no_limit, counters_make),
		cmocka_unit_test(debug_builds_end_at_underflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
