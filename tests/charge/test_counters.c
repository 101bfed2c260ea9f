/* SPDX-License-Identifier: MIT */
/* What the areas count of slow charges: each cause once where it is made to happen, and nothing by the fast path. */
#include "charge/drain.h"
#include "support/forms.h"
#include "support/tree.h"

static struct stock_counters before;

static void begin(void)
{
	stock_counters_read(&before);
}

/* Since the last look: @nr charges by @which cause, and none by another. */
static void counted(enum stock_count which, uint64_t nr)
{
	struct stock_counters now;
	unsigned int i;

	stock_counters_read(&now);
	for (i = 0; i < STOCK_COUNT_NR; i++) {
		if (i != STOCK_TRYLOCK_FAILURES)
			must(now.of[i] - before.of[i] == (i == which ? nr : 0));
	}
	before = now;
}

static uint64_t trylock_failures(void)
{
	struct stock_counters now;

	stock_counters_read(&now);
	return now.of[STOCK_TRYLOCK_FAILURES];
}

static struct percpu_area *here(void)
{
	return percpu_area(percpu_index());
}

/* The first charge of a group finds no slot; what its batch left there serves the next ones, uncounted. */
static void misses_and_empties(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	unsigned long left, pages = 0;

	(void)state;
	begin();
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	counted(STOCK_MISS, 1);
	left = usage_of(memcg) - 1;
	assert_true(left > 0);
	for (pages = 1; pages <= left; pages++)
		assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	counted(STOCK_MISS, 0);
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	counted(STOCK_EMPTY, 1);
	memcg_uncharge(memcg, 1);
	counted(STOCK_EMPTY, 0);
	memcg_uncharge(memcg, pages);
	group_end(memcg);
	tree_is_empty();
}

static void large_charges(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	(void)state;
	begin();
	assert_int_equal(memcg_charge(memcg, MEMCG_STOCK_HIGH + 1, 0), 0);
	assert_int_equal(memcg_charge(memcg, 1000, 0), 0);
	counted(STOCK_TOO_LARGE, 2);
	memcg_uncharge(memcg, 1000 + MEMCG_STOCK_HIGH + 1);
	counted(STOCK_TOO_LARGE, 0);
	group_end(memcg);
	tree_is_empty();
}

static void pressure(void **state)
{
	struct memcg *top = group_make(NULL, "top"), *memcg = group_make(top, "a");

	(void)state;
	pressure_begin(top);
	begin();
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	counted(STOCK_PRESSED, 2);
	pressure_end(top);
	memcg_uncharge(memcg, 2);
	group_end(memcg);
	group_end(top);
	tree_is_empty();
}

/* An eighth of the limit is less than a first slot has room for. */
static void no_room_for_a_slot(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	(void)state;
	if (WORDS) {
		group_max(memcg, 100);
		begin();
		assert_int_equal(memcg_charge(memcg, 1, 0), 0);
		counted(STOCK_UNPLACED, 1);
		memcg_uncharge(memcg, 1);
	}
	group_end(memcg);
	tree_is_empty();
}

static void what_a_drain_closed(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	(void)state;
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	if (WORDS) {
		begin();
		percpu_close();
		here()->head.gate++;
		assert_int_equal(memcg_charge(memcg, 1, 0), 0);
		counted(STOCK_CLOSED, 1);
		/* Led away, but open: the second look serves. */
		here()->head.gate++;
		assert_int_equal(memcg_charge(memcg, 1, 0), 0);
		counted(STOCK_AGAIN, memcg_percpu.rseq ? 1 : 0);
		percpu_open();
		memcg_uncharge(memcg, 2);
	}
	memcg_uncharge(memcg, 1);
	group_end(memcg);
	tree_is_empty();
}

/* A lock that somebody holds: the first look and the second fail, then pages go past the stock both ways. */
static void a_lock_that_is_taken(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	uint64_t failures;

	(void)state;
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	begin();
	failures = trylock_failures();
	if (!WORDS) {
		here()->local.lock = 1;
		assert_int_equal(memcg_charge(memcg, 1, 0), 0);
		here()->local.lock = 0;
		counted(STOCK_LOCKED, 1);
		assert_true(trylock_failures() >= failures + 2);
		failures = trylock_failures();
		here()->local.lock = 1;
		memcg_uncharge(memcg, 1);
		here()->local.lock = 0;
		counted(STOCK_LOCKED, 0);
		assert_true(trylock_failures() > failures);
		failures = trylock_failures();
	}
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	memcg_uncharge(memcg, 2);
	assert_int_equal(trylock_failures(), failures);
	group_end(memcg);
	tree_is_empty();
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses_and_empties),
		cmocka_unit_test(large_charges),
		cmocka_unit_test(pressure),
		cmocka_unit_test(no_room_for_a_slot),
		cmocka_unit_test(what_a_drain_closed),
		cmocka_unit_test(a_lock_that_is_taken),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
