/* SPDX-License-Identifier: MIT */
/* Limits: who refuses and says so, what a refusal leaves (A4), what goes over by force, moves of pages. */
#include "support/forms.h"
#include "support/tree.h"

struct levels {
	struct memcg *top, *mid, *leaf;
};

static struct levels levels_make(void)
{
	struct levels levels;

	levels.top = group_make(NULL, "top");
	levels.mid = group_make(levels.top, "mid");
	levels.leaf = group_make(levels.mid, "leaf");
	return levels;
}

static void levels_end(const struct levels *levels)
{
	group_end(levels->leaf);
	group_end(levels->mid);
	group_end(levels->top);
	tree_is_empty();
}

static void expect_refusal(struct memcg *group, unsigned long asked, unsigned long margin)
{
	const struct memcg_refusal *refusal = memcg_last_refusal();

	assert_ptr_equal(refusal->group, group);
	assert_string_equal(refusal->file, "memory.max");
	assert_int_equal(refusal->asked, asked);
	assert_int_equal(refusal->margin, margin);
}

static void a_refusal_names_the_level(void **state)
{
	struct levels l = levels_make();

	group_max(l.top, 1000);
	group_max(l.mid, 500);
	assert_int_equal(memcg_charge(l.leaf, 501, 0), -ENOMEM);
	expect_refusal(l.mid, 501, 500);
	assert_int_equal(memcg_charge(l.leaf, 400, 0), 0);
	assert_int_equal(memcg_charge(l.leaf, 200, MEMCG_MAY_SLEEP), -ENOMEM);
	expect_refusal(l.mid, 200, 100);
	group_max_none(l.mid);
	assert_int_equal(memcg_charge(l.leaf, 601, 0), -ENOMEM);
	expect_refusal(l.top, 601, 600);
	assert_int_equal(memcg_charge(l.top, 600, 0), 0);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	expect_refusal(l.top, 1, 0);
	/* Each is counted where it was refused, and above. */
	assert_int_equal(l.leaf->events.total[EVENT_MAX], 0);
	assert_int_equal(l.mid->events.local[EVENT_MAX], 2);
	assert_int_equal(l.top->events.local[EVENT_MAX], 2);
	assert_int_equal(l.top->events.total[EVENT_MAX], 4);
	assert_int_equal(l.mid->memory.failcnt, 2);
	assert_int_equal(l.top->memory.failcnt, 2);
	memcg_uncharge(l.leaf, 400);
	memcg_uncharge(l.top, 600);
	levels_end(&l);
}

/* T5, T6: refused high up, nothing stays below, and no peak knows of it. */
static void a_refusal_leaves_no_trace(void **state)
{
	static const unsigned long sizes[] = { 1, 8, 64, 65, 128, 129, 100000 };
	static const unsigned int flags[] = { 0, MEMCG_MAY_SLEEP };
	struct levels l = levels_make();
	unsigned long root_peak;
	size_t i, k;

	group_max(l.top, 300);
	assert_int_equal(memcg_charge(l.top, 300, 0), 0);
	root_peak = peak_of(memcg_root());
	for (i = 0; i < array_size(sizes); i++) {
		for (k = 0; k < array_size(flags); k++) {
			assert_int_equal(memcg_charge(l.leaf, sizes[i], flags[k]), -ENOMEM);
			assert_int_equal(usage_of(l.leaf), 0);
			assert_int_equal(usage_of(l.mid), 0);
			assert_int_equal(usage_of(l.top), 300);
			assert_int_equal(peak_of(l.leaf), 0);
			assert_int_equal(peak_of(l.mid), 0);
			assert_int_equal(peak_of(l.top), 300);
			assert_int_equal(peak_of(memcg_root()), root_peak);
		}
	}
	assert_int_equal(l.top->memory.failcnt, array_size(sizes) * array_size(flags));
	assert_int_equal(l.leaf->memory.failcnt, 0);
	memcg_uncharge(l.top, 300);
	levels_end(&l);
}

static void force_goes_over_and_is_counted(void **state)
{
	struct levels l = levels_make();

	group_max(l.mid, 200);
	assert_int_equal(memcg_charge(l.leaf, 150, MEMCG_FORCE), 0);
	assert_int_equal(l.mid->memory.forced, 0);
	assert_int_equal(max_events_of(l.mid), 0);
	assert_int_equal(memcg_charge(l.leaf, 150, MEMCG_FORCE), 0);
	assert_int_equal(usage_of(l.mid), 300);
	assert_int_equal(l.mid->memory.forced, 100);
	assert_int_equal(l.leaf->memory.forced, 0);
	assert_int_equal(max_events_of(l.mid), 1);
	assert_int_equal(memcg_charge(l.leaf, 150, MEMCG_RESERVE), 0);
	assert_int_equal(l.mid->memory.forced, 250);
	assert_int_equal(peak_of(l.mid), 450);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	expect_refusal(l.mid, 1, 0);
	memcg_uncharge(l.leaf, 450);
	assert_int_equal(memcg_charge(l.leaf, 200, 0), 0);
	memcg_uncharge(l.leaf, 200);
	levels_end(&l);
}

/* A limit below what is charged refuses all, and lets go of none. */
static void a_limit_below_usage(void **state)
{
	struct levels l = levels_make();

	assert_int_equal(memcg_charge(l.leaf, 300, 0), 0);
	group_max(l.mid, 200);
	assert_int_equal(usage_of(l.mid), 300);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	memcg_uncharge(l.leaf, 140);
	assert_int_equal(memcg_charge(l.leaf, 40, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	group_max(l.mid, 0);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	memcg_uncharge(l.leaf, 200);
	assert_int_equal(memcg_charge(l.leaf, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(usage_of(l.mid), 0);
	levels_end(&l);
}

/* Levels at and above the common ancestor are not touched: a full one does not refuse. */
static void moves_touch_no_common_level(void **state)
{
	struct levels l = levels_make();
	struct memcg *side = group_make(l.mid, "side");

	assert_int_equal(memcg_charge(l.leaf, 500, 0), 0);
	group_max(l.mid, 500);
	assert_int_equal(memcg_move(l.leaf, side, 300, 0), 0);
	assert_int_equal(usage_of(l.leaf), 200);
	assert_int_equal(usage_of(side), 300);
	assert_int_equal(usage_of(l.mid), 500);
	assert_int_equal(peak_of(l.mid), 500);
	assert_int_equal(peak_of(l.top), 500);
	/* To an ancestor and back: only the levels between. */
	assert_int_equal(memcg_move(side, l.mid, 300, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(usage_of(side), 0);
	assert_int_equal(usage_of(l.mid), 500);
	assert_int_equal(memcg_move(l.mid, side, 300, 0), 0);
	assert_int_equal(usage_of(side), 300);
	assert_int_equal(memcg_move(side, side, 300, 0), 0);
	assert_int_equal(usage_of(side), 300);
	assert_int_equal(l.mid->memory.failcnt, 0);
	memcg_uncharge(side, 300);
	memcg_uncharge(l.leaf, 200);
	group_end(side);
	levels_end(&l);
}

static void moves_are_refused_below(void **state)
{
	struct levels l = levels_make();
	struct memcg *side = group_make(l.mid, "side");

	assert_int_equal(memcg_charge(l.leaf, 500, 0), 0);
	group_max(side, 299);
	assert_int_equal(memcg_move(l.leaf, side, 300, MEMCG_MAY_SLEEP), -ENOMEM);
	expect_refusal(side, 300, 299);
	assert_int_equal(usage_of(l.leaf), 500);
	assert_int_equal(usage_of(side), 0);
	assert_int_equal(peak_of(side), 0);
	assert_int_equal(memcg_move(l.leaf, side, 300, MEMCG_FORCE), 0);
	assert_int_equal(side->memory.forced, 1);
	assert_int_equal(usage_of(l.leaf), 200);
	assert_int_equal(memcg_move(l.leaf, side, 0, 0), -EINVAL);
	assert_int_equal(memcg_move(l.leaf, side, ~0UL, 0), -EINVAL);
	assert_int_equal(memcg_move(l.leaf, side, 1, 1U << 30), -EINVAL);
	/* From and to nobody. */
	assert_int_equal(memcg_move(l.leaf, memcg_unaccounted(), 200, 0), 0);
	assert_int_equal(usage_of(l.mid), 300 + ledger_stock(l.leaf));
	memcg_uncharge(side, 300);
	assert_int_equal(memcg_move(memcg_unaccounted(), side, 200, 0), 0);
	assert_int_equal(usage_of(side), 200 + ledger_stock(side));
	memcg_uncharge(side, 200);
	group_end(side);
	levels_end(&l);
}

/* A move out of a destroyed group takes its last page, and so the group. */
static void moves_empty_the_dead(void **state)
{
	struct levels l = levels_make();
	struct memcg *dead = group_make(l.mid, "dead");

	assert_int_equal(memcg_charge(dead, 300, 0), 0);
	assert_int_equal(memcg_destroy(dead), 0);
	memcg_tick();
	assert_int_equal(memcg_move(dead, l.leaf, 300, 0), 0);
	memcg_put(dead);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	memcg_uncharge(l.leaf, 300);
	levels_end(&l);
}

static void nobody_pays_in_the_unaccounted_scope(void **state)
{
	struct levels l = levels_make();

	group_max(l.top, 1);
	assert_int_equal(memcg_charge(memcg_unaccounted(), 1000, 0), 0);
	{
		MEMCG_SCOPE(l.leaf);
		assert_int_equal(memcg_charge(NULL, 2, 0), -ENOMEM);
		expect_refusal(l.top, 2, 1);
		{
			MEMCG_SCOPE(memcg_unaccounted());
			assert_int_equal(memcg_charge(NULL, 1000, 0), 0);
			memcg_uncharge(NULL, 1000);
		}
		assert_int_equal(memcg_charge(NULL, 1, 0), 0);
		memcg_uncharge(NULL, 1);
	}
	memcg_uncharge(memcg_unaccounted(), 1000);
	levels_end(&l);
}

#define CLIMB(pages) (((uint64_t)(pages) << COUNTER_SHIFT) + 1) /* in a counter's word: a climb that is not decided */

static void charge_that_waits(unsigned int nr, void *arg)
{
	const struct levels *l = arg;

	(void)nr;
	must(memcg_charge(l->leaf, 50, MEMCG_MAY_SLEEP) == 0);
}

/* A6: what another's climb has in hand is waited for, and does not refuse. */
static void a_climb_in_the_way_is_waited_for(void **state)
{
	static struct crew crew;
	struct levels l = levels_make();

	group_max(l.leaf, 60);
	atomic_add(&l.leaf->memory.word, CLIMB(40));
	crew_start(&crew, 1, charge_that_waits, &l);
	while (!load_seq(&l.leaf->memory.pressure))
		usleep(1000);
	usleep(20000);
	atomic_sub(&l.leaf->memory.word, CLIMB(40));
	crew_join(&crew);
	assert_int_equal(usage_of(l.leaf), 50);
	assert_int_equal(l.leaf->memory.failcnt, 0);
	memcg_uncharge(l.leaf, 50);
	levels_end(&l);
}

/* B3: but not for ever. */
static void a_climb_that_never_ends_is_given_up(void **state)
{
	struct levels l = levels_make();

	group_max(l.leaf, 60);
	atomic_add(&l.leaf->memory.word, CLIMB(40));
	assert_int_equal(memcg_charge(l.leaf, 50, 0), -ENOMEM);
	assert_int_equal(memcg_charge(l.leaf, 50, MEMCG_MAY_SLEEP), -ENOMEM);
	atomic_sub(&l.leaf->memory.word, CLIMB(40));
	assert_int_equal(memcg_charge(l.leaf, 50, MEMCG_MAY_SLEEP), 0);
	memcg_uncharge(l.leaf, 50);
	levels_end(&l);
}

static void uncharge_too_much(const void *arg)
{
	struct memcg *memcg = group_make(NULL, "a");

	(void)arg;
	must(memcg_charge(memcg, 200, 0) == 0);
	memcg_uncharge(memcg, 201);
	must(usage_of(memcg) == 0);
	must(usage_of(memcg_root()) == 0);
	must(memcg->memory.underflows == 1);
	must(memcg_charge(memcg, 200, 0) == 0);
	must(usage_of(memcg) == 200);
}

/* More than was charged: counted and clamped; asserted in debug builds (trap 21). */
static void uncharging_too_much(void **state)
{
	int code = child_run(uncharge_too_much, NULL);

	assert_int_equal(code, MEMCG_DEBUG ? CHILD_SIGNAL(SIGABRT) : 0);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_names_the_level),
		cmocka_unit_test(a_refusal_leaves_no_trace),
		cmocka_unit_test(force_goes_over_and_is_counted),
		cmocka_unit_test(a_limit_below_usage),
		cmocka_unit_test(moves_touch_no_common_level),
		cmocka_unit_test(moves_are_refused_below),
		cmocka_unit_test(moves_empty_the_dead),
		cmocka_unit_test(nobody_pays_in_the_unaccounted_scope),
		cmocka_unit_test(a_climb_in_the_way_is_waited_for),
		cmocka_unit_test(a_climb_that_never_ends_is_given_up),
		cmocka_unit_test(uncharging_too_much),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
