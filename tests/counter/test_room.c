/* SPDX-License-Identifier: MIT */
/* Room of stock slots: at most an eighth of the limit of every level (A2), none under pressure, undone where refused. */
#include "support/child.h"

#include <pthread.h>

#include "counter/page_counter.h"

#define DEPTH 5

static struct page_counter levels[DEPTH];

static int setup(void **state)
{
	int i;

	(void)state;
	memset(levels, 0, sizeof(levels));
	for (i = 0; i < DEPTH; i++)
		page_counter_init(&levels[i], i ? &levels[i - 1] : NULL);
	return 0;
}

static void expect_room(unsigned long room)
{
	int i;

	for (i = 0; i < DEPTH; i++)
		assert_int_equal(levels[i].room, room);
}

static void an_eighth_of_each_limit(void **state)
{
	int limited;

	(void)state;
	for (limited = 0; limited < DEPTH; limited++) {
		setup(NULL);
		page_counter_set_max(&levels[limited], 800);
		assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 64));
		assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 36));
		expect_room(100);
		assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 1));
		expect_room(100); /* undone below the refuser */
		page_counter_return_room(&levels[DEPTH - 1], 36);
		assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 37));
		assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 36));
		page_counter_return_room(&levels[DEPTH - 1], 100);
		expect_room(0);
	}
}

static void tiny_limits_have_none(void **state)
{
	unsigned long max;

	(void)state;
	for (max = 0; max < 8; max++) {
		page_counter_set_max(&levels[2], max);
		assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 1));
	}
	page_counter_set_max(&levels[2], 8);
	assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 1));
	page_counter_return_room(&levels[DEPTH - 1], 1);
	expect_room(0);
}

static void lowered_limit_gives_no_more(void **state)
{
	(void)state;
	assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 128));
	page_counter_set_max(&levels[0], 512);
	assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 1));
	page_counter_return_room(&levels[DEPTH - 1], 128);
	assert_true(page_counter_reserve_room(&levels[DEPTH - 1], 64));
	assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 1));
}

static void none_under_pressure(void **state)
{
	int i;

	(void)state;
	assert_false(page_counter_pressed(&levels[DEPTH - 1]));
	for (i = 0; i < DEPTH; i++) {
		levels[i].pressure = 1;
		assert_false(page_counter_reserve_room(&levels[DEPTH - 1], 1));
		assert_true(page_counter_pressed(&levels[DEPTH - 1]));
		if (i) {
			/* what lies above a pressed level is not concerned */
			assert_false(page_counter_pressed(&levels[i - 1]));
			assert_true(page_counter_reserve_room(&levels[i - 1], 1));
			page_counter_return_room(&levels[i - 1], 1);
		}
		levels[i].pressure = 0;
	}
	expect_room(0);
}

static void *reserves(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 30000; i++) {
		if (page_counter_reserve_room(&levels[DEPTH - 1], 5)) {
			/* what is granted in sum never passes the eighth; askers on their way may show one of theirs each */
			must(load_relaxed(&levels[1].room) <= 12 + 3 * 5);
			page_counter_return_room(&levels[DEPTH - 1], 5);
		}
	}
	return NULL;
}

static void threads_undo_exactly(void **state)
{
	pthread_t threads[3];
	size_t i;

	(void)state;
	page_counter_set_max(&levels[1], 100);
	for (i = 0; i < array_size(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reserves, NULL), 0);
	for (i = 0; i < array_size(threads); i++)
		pthread_join(threads[i], NULL);
	expect_room(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_eighth_of_each_limit, setup),
		cmocka_unit_test_setup(tiny_limits_have_none, setup),
		cmocka_unit_test_setup(lowered_limit_gives_no_more, setup),
		cmocka_unit_test_setup(none_under_pressure, setup),
		cmocka_unit_test_setup(threads_undo_exactly, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
