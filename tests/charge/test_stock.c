/* SPDX-License-Identifier: MIT */
/* The page stock: what it holds, what bounds it (A2), that a drain takes all of it (A1). */
#include "support/forms.h"
#include "support/tree.h"

static unsigned long surplus(const struct memcg *memcg, unsigned long live)
{
	must(usage_of(memcg) >= live);
	must(usage_of(memcg) - live == ledger_stock(memcg));
	return usage_of(memcg) - live;
}

static void small_charges_come_from_stock(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	unsigned long usage;

	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	assert_true(surplus(memcg, 1) > 0);
	usage = usage_of(memcg);
	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	assert_int_equal(usage_of(memcg), usage);
	surplus(memcg, 2);
	memcg_uncharge(memcg, 2);
	assert_int_equal(usage_of(memcg), usage);
	surplus(memcg, 0);
	group_end(memcg);
	tree_is_empty();
}

static void nothing_and_too_much_are_refused(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	assert_int_equal(memcg_charge(memcg, 0, 0), -EINVAL);
	assert_int_equal(memcg_charge(memcg, 0, MEMCG_MAY_SLEEP), -EINVAL);
	assert_int_equal(memcg_charge(memcg, ~0UL, 0), -EINVAL);
	assert_int_equal(memcg_charge(memcg, 1UL << 63, MEMCG_FORCE), -EINVAL);
	assert_int_equal(memcg_charge(memcg, (1UL << 38), 0), -EINVAL);
	assert_int_equal(memcg_charge(memcg, 200, 1U << 31), -EINVAL);
	memcg_uncharge(memcg, 0);
	assert_int_equal(usage_of(memcg), 0);
	assert_int_equal(max_events_of(memcg), 0);
	/* The most that can be counted, and not a page beyond. */
	assert_int_equal(memcg_charge(memcg, (1UL << 38) - 1, 0), 0);
	assert_int_equal(usage_of(memcg_root()), (1UL << 38) - 1);
	assert_int_equal(memcg_charge(memcg, 1000, 0), -ENOMEM);
	assert_int_equal(memcg_charge(memcg, 1000, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(memcg_charge(memcg, 1000, MEMCG_FORCE), -EINVAL);
	memcg_uncharge(memcg, (1UL << 38) - 1);
	assert_int_equal(usage_of(memcg_root()), 0);
	group_end(memcg);
	tree_is_empty();
}

/* More than could ever have been charged: told, and no level is changed by it. */
static void an_impossible_uncharge_changes_nothing(void **state)
{
	static const unsigned long sizes[] = { 1UL << 38, 1UL << 52, 1UL << 63, ~0UL };
	struct memcg *memcg = group_make(NULL, "a");
	uint64_t told = 0;
	size_t i;

	assert_int_equal(memcg_charge(memcg, 300, 0), 0);
	for (i = 0; i < array_size(sizes); i++) {
		memcg_uncharge(memcg, sizes[i]);
		assert_int_equal(usage_of(memcg), 300);
		assert_int_equal(usage_of(memcg_root()), 300);
		assert_true(memcg->memory.underflows != told);
		told = memcg->memory.underflows;
	}
	memcg_uncharge(memcg, 300);
	assert_int_equal(memcg_destroy(memcg), 0);
	memcg_put(memcg);
	tree_is_empty();
}

/* Facts 15, quirk 2: n above the high mark passes the stock by, both ways. */
static void large_charges_pass_by(void **state)
{
	static const unsigned long sizes[] = { MEMCG_STOCK_HIGH + 1, 500, 100000 };
	struct memcg *memcg = group_make(NULL, "a");
	unsigned long held, usage;
	size_t i;

	assert_int_equal(memcg_charge(memcg, 1, 0), 0);
	held = ledger_stock(memcg);
	usage = usage_of(memcg);
	for (i = 0; i < array_size(sizes); i++) {
		assert_int_equal(memcg_charge(memcg, sizes[i], 0), 0);
		assert_int_equal(usage_of(memcg), usage + sizes[i]);
		assert_int_equal(ledger_stock(memcg), held);
		memcg_uncharge(memcg, sizes[i]);
		assert_int_equal(usage_of(memcg), usage);
		assert_int_equal(ledger_stock(memcg), held);
	}
	memcg_uncharge(memcg, 1);
	group_end(memcg);
	tree_is_empty();
}

/* The room of a slot doubles as it proves too small, to the high mark; batches go with it. */
static void batches_grow(void **state)
{
	unsigned long live = 0, room = 0, walks = 0;
	struct memcg *memcg;

	if (!WORDS || percpu_budget < MEMCG_STOCK_HIGH)
		skip();
	memcg = group_make(NULL, "a");
	while (live < 1000) {
		unsigned long usage = usage_of(memcg), now;

		must(memcg_charge(memcg, 1, 0) == 0);
		live++;
		surplus(memcg, live);
		now = memcg->memory.room;
		must(now == room || now == (room ? 2 * room : 16));
		must(now <= MEMCG_STOCK_HIGH);
		room = now;
		walks += usage_of(memcg) != usage;
	}
	assert_int_equal(room, MEMCG_STOCK_HIGH);
	/* 8, 16, 32, then 64 at a time. */
	assert_true(walks <= 4 + 1000 / 64);
	ledger_check();
	memcg_uncharge(memcg, 1000);
	group_end(memcg);
	tree_is_empty();
}

/* Neither direction of a swing leaves the bounds, whatever its width. */
static void swings_stay_in_bounds(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	unsigned int width, round;

	for (width = 1; width <= MEMCG_STOCK_HIGH; width++) {
		for (round = 0; round < 5; round++) {
			must(memcg_charge(memcg, width, 0) == 0);
			must(surplus(memcg, width) <= MEMCG_STOCK_HIGH);
			memcg_uncharge(memcg, width);
			must(surplus(memcg, 0) <= MEMCG_STOCK_HIGH);
		}
	}
	ledger_check();
	group_end(memcg);
	tree_is_empty();
}

#define MANY 1000U

static void touch_all(unsigned int nr, void *arg)
{
	struct memcg **groups = arg;
	unsigned int i, round;

	(void)nr;
	for (round = 0; round < 4; round++) {
		for (i = 0; i < MANY; i++) {
			must(memcg_charge(groups[i], 1 + (i + round) % 40, 0) == 0);
			memcg_uncharge(groups[i], 1 + (i + round) % 40);
		}
	}
}

/* A thousand tenants round robin: no CPU's slots have room for more than the budget. */
static void the_budget_holds(void **state)
{
	static struct memcg *groups[MANY];
	unsigned int i, touched = 0;

	for (i = 0; i < MANY; i++)
		groups[i] = group_make_nr(NULL, i);
	touch_all(1, groups);
	ledger_check();
	crew_run(16, touch_all, groups);
	ledger_check();
	for (i = 0; i < percpu_nr; i++)
		touched += percpu_touched(i);
	assert_true(usage_of(memcg_root()) > 0);
	if (WORDS)
		assert_true(usage_of(memcg_root()) <= (unsigned long)touched * percpu_budget);
	else
		assert_true(usage_of(memcg_root()) <= (unsigned long)touched * KERNEL_SLOTS * MEMCG_STOCK_HIGH);
	for (i = 0; i < MANY; i++)
		group_end(groups[i]);
	tree_is_empty();
}

static void leave_stock(unsigned int nr, void *arg)
{
	struct memcg *memcg = arg;
	unsigned long i;

	(void)nr;
	/* In steps that fit: some of it is left on this CPU. */
	for (i = 0; i < 20; i++) {
		if (memcg_charge(memcg, 1 + i % 16, 0) == 0)
			memcg_uncharge(memcg, 1 + i % 16);
	}
}

/* Of a small limit at most an eighth is stock, over all CPUs, at each level that has one. */
static void a_small_limit_is_not_lost_to_stock(void **state)
{
	static const unsigned long limits[] = { 16384, 1024, 256, 127, 1 };
	struct memcg *top, *a, *b;
	size_t i;

	if (!WORDS)
		skip();
	top = group_make(NULL, "top");
	a = group_make(top, "a");
	b = group_make(top, "b");
	for (i = 0; i < array_size(limits); i++) {
		group_max(top, limits[i]);
		group_max(a, limits[0]);
		crew_run_in_turn(64, leave_stock, a);
		crew_run_in_turn(64, leave_stock, b);
		assert_true(usage_of(top) <= limits[i] / 8);
		assert_int_equal(usage_of(top), ledger_stock(a) + ledger_stock(b));
		ledger_check();
		/* All of it can be had, by one who may sleep. */
		assert_int_equal(memcg_charge(b, limits[i], MEMCG_MAY_SLEEP), 0);
		assert_int_equal(usage_of(top), limits[i]);
		memcg_uncharge(b, limits[i]);
	}
	group_end(a);
	group_end(b);
	group_end(top);
	tree_is_empty();
}

/* A limit that is lowered takes back what stock is above its share. */
static void a_lowered_limit_takes_stock_back(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	assert_int_equal(memcg_charge(memcg, 5, 0), 0);
	crew_run_in_turn(8, leave_stock, memcg);
	assert_true(usage_of(memcg) > 5);
	group_max(memcg, 64);
	if (WORDS)
		assert_int_equal(usage_of(memcg), 5);
	ledger_check();
	group_max(memcg, 4);
	assert_int_equal(memcg_charge(memcg, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(usage_of(memcg), 5);
	memcg_uncharge(memcg, 5);
	group_end(memcg);
	tree_is_empty();
}

/* A1: what destroy and tick leave is what lives. */
static void drains_are_exact(void **state)
{
	struct memcg *top = group_make(NULL, "top"), *a = group_make(top, "a"), *b = group_make(top, "b");

	assert_int_equal(memcg_charge(a, 7, 0), 0);
	assert_int_equal(memcg_charge(b, 11, 0), 0);
	crew_run(8, leave_stock, a);
	crew_run(8, leave_stock, b);
	assert_int_equal(usage_of(top), 18 + ledger_stock(a) + ledger_stock(b));
	assert_int_equal(memcg_destroy(a), 0);
	memcg_tick();
	assert_int_equal(usage_of(a), 7);
	assert_int_equal(ledger_stock(a), 0);
	assert_int_equal(usage_of(top), 18 + ledger_stock(b));
	/* What goes back to a dying group goes to no slot. */
	memcg_uncharge(a, 3);
	assert_int_equal(usage_of(a), 4);
	assert_int_equal(memcg_charge(a, 1, 0), 0);
	assert_int_equal(usage_of(a), 5);
	memcg_uncharge(a, 5);
	memcg_put(a);
	memcg_uncharge(b, 11);
	group_end(b);
	group_end(top);
	tree_is_empty();
}

/* The last page frees the group, be it before or after the last reference. */
static void a_group_lives_as_long_as_its_pages(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");

	assert_int_equal(memcg_charge(memcg, 3, 0), 0);
	assert_int_equal(memcg_destroy(memcg), 0);
	memcg_tick();
	memcg_put(memcg);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 1);
	assert_int_equal(usage_of(memcg_root()), 3);
	memcg_uncharge(memcg, 3);
	tree_is_empty();
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_charges_come_from_stock),
		cmocka_unit_test(nothing_and_too_much_are_refused),
		cmocka_unit_test(an_impossible_uncharge_changes_nothing),
		cmocka_unit_test(large_charges_pass_by),
		cmocka_unit_test(batches_grow),
		cmocka_unit_test(swings_stay_in_bounds),
		cmocka_unit_test(the_budget_holds),
		cmocka_unit_test(a_small_limit_is_not_lost_to_stock),
		cmocka_unit_test(a_lowered_limit_takes_stock_back),
		cmocka_unit_test(drains_are_exact),
		cmocka_unit_test(a_group_lives_as_long_as_its_pages),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
