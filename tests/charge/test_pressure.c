/* SPDX-License-Identifier: MIT */
/* Pressure: a charge that is refused has all stock below the level drained, once; what follows it soon does without. */
#include "charge/drain.h"
#include "support/forms.h"
#include "support/tree.h"

struct pair {
	struct memcg *top, *leaf;
};

/* A level of 1000 pages that is full but for 100, and this CPU's area in use. */
static struct pair pair_make(void)
{
	struct pair pair;

	pair.top = group_make(NULL, "top");
	pair.leaf = group_make(pair.top, "leaf");
	group_max(pair.top, 1000);
	must(memcg_charge(pair.top, 900, 0) == 0);
	must(memcg_charge(pair.leaf, 1, 0) == 0);
	memcg_uncharge(pair.leaf, 1);
	return pair;
}

static void pair_end(const struct pair *pair)
{
	memcg_uncharge(pair->top, 900);
	group_end(pair->leaf);
	group_end(pair->top);
	tree_is_empty();
}

/* Drains so far, by the gate that each moves. */
static uint64_t drains(void)
{
	return percpu_area(percpu_index())->head.gate / 2;
}

static bool lingers(const struct memcg *memcg)
{
	return load_seq(&memcg->memory.pressure) == PRESSURE_CLEAN;
}

/* Long past, or far from over. */
static void let_linger(struct memcg *memcg, bool on)
{
	store_relaxed(&memcg->memory.held, on ? clock_ns() + 1000000000000U : clock_ns() - 2 * PRESSURE_LINGER_NS);
}

static void refuse(const struct pair *pair, unsigned long nr)
{
	must(memcg_charge(pair->leaf, nr, MEMCG_MAY_SLEEP) == -ENOMEM);
	must(memcg_last_refusal()->group == pair->top);
}

static void refusals_in_a_row_drain_once(void **state)
{
	struct pair p = pair_make();
	uint64_t before = drains();
	unsigned int i;

	(void)state;
	refuse(&p, 101);
	assert_int_equal(drains(), before + 1);
	assert_true(lingers(p.top));
	let_linger(p.top, true);
	for (i = 0; i < 1000; i++) {
		refuse(&p, 101 + i % 200);
		let_linger(p.top, true);
	}
	assert_int_equal(drains(), before + 1);
	/* So does what is granted, and what does not ask to sleep. */
	assert_int_equal(memcg_charge(p.leaf, 100, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_charge(p.leaf, 1, 0), -ENOMEM);
	memcg_uncharge(p.leaf, 100);
	assert_int_equal(drains(), before + 1);
	assert_int_equal(p.leaf->memory.pressure, 0);
	pair_end(&p);
}

/* G1: as long as it lingers, no page below is stock. Then there is stock again. */
static void stock_stays_away_and_comes_back(void **state)
{
	struct pair p = pair_make();
	unsigned int i;

	(void)state;
	refuse(&p, 101);
	for (i = 1; i < 20; i++) {
		let_linger(p.top, true);
		must(memcg_charge(p.leaf, i, 0) == 0);
		must(usage_of(p.leaf) == i);
		memcg_uncharge(p.leaf, i);
		must(usage_of(p.leaf) == 0);
		must(memcg_charge_bytes(p.leaf->objcg, 100 * i, 0) == 0);
		must(usage_of(p.leaf) == 1);
		memcg_uncharge_bytes(p.leaf->objcg, 100 * i);
		must(usage_of(p.leaf) == 0);
	}
	assert_true(lingers(p.top));
	let_linger(p.top, false);
	assert_int_equal(memcg_charge(p.leaf, 1, 0), 0);
	assert_int_equal(p.top->memory.pressure, 0);
	memcg_uncharge(p.leaf, 1);
	assert_true(ledger_stock(p.leaf) > 0);
	pair_end(&p);
}

/* A climb ends what has lingered long enough, too; it is counted while that lasts. */
static void a_climb_ends_it(void **state)
{
	struct pair p = pair_make();

	(void)state;
	refuse(&p, 101);
	let_linger(p.top, false);
	refuse(&p, 500);
	assert_true(lingers(p.top));
	let_linger(p.top, false);
	assert_int_equal(memcg_charge(p.leaf, 500, 0), -ENOMEM);
	assert_true(lingers(p.top)); /* a look before a large climb changes nothing */
	group_max(p.top, 2000);
	assert_int_equal(memcg_charge(p.leaf, 500, 0), 0);
	assert_int_equal(p.top->memory.pressure, 0);
	memcg_uncharge(p.leaf, 500);
	pair_end(&p);
}

/* Who only drains leaves no pressure behind: not even that of an earlier refusal. */
static void a_lowered_limit_leaves_none(void **state)
{
	struct pair p = pair_make();

	(void)state;
	refuse(&p, 101);
	let_linger(p.top, true);
	group_max(p.top, 950);
	if (!WORDS)
		assert_int_equal(p.top->memory.pressure, 0);
	pressure_begin(p.top);
	pressure_begin(p.top);
	pressure_end(p.top);
	assert_int_equal(p.top->memory.pressure, PRESSURE_CLEAN + 1);
	pressure_end(p.top);
	assert_int_equal(p.top->memory.pressure, 0);
	pair_end(&p);
}

/* What is larger than the limit is refused at once. */
static void the_hopeless_drain_nothing(void **state)
{
	struct pair p = pair_make();
	uint64_t before = drains();

	(void)state;
	refuse(&p, 1001);
	group_max(p.top, 0);
	before = drains();
	refuse(&p, 1);
	assert_int_equal(drains(), before);
	assert_int_equal(p.top->memory.pressure, 0);
	pair_end(&p);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_in_a_row_drain_once),
		cmocka_unit_test(stock_stays_away_and_comes_back),
		cmocka_unit_test(a_climb_ends_it),
		cmocka_unit_test(a_lowered_limit_leaves_none),
		cmocka_unit_test(the_hopeless_drain_nothing),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
