/* SPDX-License-Identifier: MIT */
/*
 * Uncharging more than was charged: a debug build ends the process; a release build counts it, clamps at
 * each level, and goes on. This program has the counter of a release build, whatever build it is in.
 */
#include "support/child.h"

#include <pthread.h>

#undef MEMCG_DEBUG
#define MEMCG_DEBUG 0

#include "counter/page_counter.c"
#include "support/counters.h"

static void clamped_and_counted(void **state)
{
	const unsigned long sizes[] = { 4, 5, 1000, COUNTER_PAGES_MAX };
	size_t i;

	for (i = 0; i < array_size(sizes); i++) {
		counters_make(state);
		assert_true(charge(3));
		page_counter_uncharge(&leaf, NULL, sizes[i]);
		assert_int_equal(counter_usage(leaf.word), 0);
		assert_int_equal(counter_usage(root.word), 0);
		assert_int_equal(leaf.underflows, sizes[i] - 3);
		assert_int_equal(root.underflows, sizes[i] - 3);
		assert_int_equal(leaf.watermark, 3);
		/* the level still counts, and still refuses */
		page_counter_set_max(&leaf, 2);
		assert_true(charge(2));
		assert_false(charge(1));
		assert_int_equal(page_counter_read(&root), 2);
		page_counter_uncharge(&leaf, NULL, 2);
	}
}

static void exact_uncharge_counts_nothing(void **state)
{
	(void)state;
	assert_true(charge(3));
	page_counter_uncharge(&leaf, NULL, 1);
	page_counter_uncharge(&leaf, NULL, 2);
	page_counter_uncharge(&leaf, NULL, 0);
	assert_int_equal(leaf.underflows, 0);
	assert_int_equal(root.underflows, 0);
}

static uint32_t failures;

static void *unbalanced(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 20000; i++) {
		if (!charge(1))
			__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
		page_counter_uncharge(&leaf, NULL, 2);
	}
	return NULL;
}

/* Whatever races: usage comes to rest at or above 0, and what was lost is accounted as lost. */
static void racing_underflows_balance(void **state)
{
	pthread_t threads[3];
	size_t i;

	(void)state;
	for (i = 0; i < array_size(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, unbalanced, NULL), 0);
	for (i = 0; i < array_size(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failures, 0);
	assert_true(counter_usage(leaf.word) >= 0);
	assert_true(counter_usage(root.word) >= 0);
	assert_int_equal(counter_usage(leaf.word), (long)leaf.underflows - 60000);
	assert_int_equal(counter_usage(root.word), (long)root.underflows - 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(clamped_and_counted, counters_make),
		cmocka_unit_test_setup(exact_uncharge_counts_nothing, counters_make),
		cmocka_unit_test_setup(racing_underflows_balance, counters_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
