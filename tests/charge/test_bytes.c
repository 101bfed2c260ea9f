/* SPDX-License-Identifier: MIT */
/* Bytes on top of pages: pages * 4096 is what lives, what waits in slots, and the residue, at every step (A1). */
#include <limits.h>

#include "charge/try_charge.h"
#include "support/forms.h"
#include "support/tree.h"

#define PAGE MEMCG_PAGE_SIZE

/* The books of a group whose only charges are bytes. */
static void books(const struct memcg *memcg, size_t live)
{
	must(ledger_live_bytes(memcg->objcg) == (int64_t)live);
	must(memcg->objcg->residue >= 0 && memcg->objcg->residue < (int64_t)PAGE);
	must(usage_of(memcg) == (unsigned long)objcg_pages(memcg->objcg) + ledger_stock(memcg));
}

static void every_size(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_objcg *objcg = memcg->objcg;
	size_t size;

	for (size = 1; size <= 20000; size++) {
		must(memcg_charge_bytes(objcg, size, 0) == 0);
		books(memcg, size);
		memcg_uncharge_bytes(objcg, size);
		books(memcg, 0);
	}
	group_end(memcg);
	tree_is_empty();
}

/* All sizes at once, given back in another order. */
static void every_size_together(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_objcg *objcg = memcg->objcg;
	size_t size, live = 0;

	for (size = 1; size <= 20000; size += 7) {
		must(memcg_charge_bytes(objcg, size, 0) == 0);
		live += size;
	}
	books(memcg, live);
	assert_true((uint64_t)objcg_pages(objcg) * PAGE < live + 4 * PAGE);
	for (size = 1; size <= 20000; size += 14) {
		memcg_uncharge_bytes(objcg, size);
		live -= size;
	}
	books(memcg, live);
	for (size = 8; size <= 20000; size += 14)
		memcg_uncharge_bytes(objcg, size);
	books(memcg, 0);
	group_end(memcg);
	tree_is_empty();
}

/* Back and forth across the edge of a page moves no pages. */
static void a_swing_moves_no_pages(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_objcg *objcg = memcg->objcg;
	int64_t pages;
	int i;

	assert_int_equal(memcg_charge_bytes(objcg, PAGE - 100, 0), 0);
	assert_int_equal(memcg_charge_bytes(objcg, 200, 0), 0);
	pages = objcg_pages(objcg);
	for (i = 0; i < 100; i++) {
		memcg_uncharge_bytes(objcg, 200);
		must(memcg_charge_bytes(objcg, 200, 0) == 0);
		must(objcg_pages(objcg) == pages);
	}
	books(memcg, PAGE + 100);
	memcg_uncharge_bytes(objcg, PAGE + 100);
	group_end(memcg);
	tree_is_empty();
}

/* A batch is half the room that the slot then has: the room doubles each time it proves too small. */
static void batches_grow_with_the_room(void **state)
{
	static const int64_t batches[] = { 1, 2, 4, 4, 4 };
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_objcg *objcg = memcg->objcg;
	size_t live = 0;
	unsigned int i;

	if (percpu_budget < 100) {
		group_end(memcg);
		skip();
	}
	for (i = 0; i < array_size(batches); i++) {
		int64_t pages = objcg_pages(objcg), left;

		for (left = batches[i]; left; left--) {
			must(memcg_charge_bytes(objcg, PAGE, 0) == 0);
			live += PAGE;
			must(objcg_pages(objcg) == pages + batches[i]);
		}
		books(memcg, live);
	}
	memcg_uncharge_bytes(objcg, live);
	group_end(memcg);
	tree_is_empty();
}

#define OWNERS 100U /* more than there are byte slots */

static void more_owners_than_slots(void **state)
{
	static struct memcg *groups[OWNERS];
	static size_t live[OWNERS];
	uint32_t seed = 5;
	unsigned int i, round;

	for (i = 0; i < OWNERS; i++) {
		groups[i] = group_make_nr(NULL, i);
		live[i] = 0;
	}
	for (round = 0; round < 60; round++) {
		for (i = 0; i < OWNERS; i++) {
			size_t size = 1 + rng(&seed) % 5000;

			if (rng(&seed) % 2 && live[i] >= size) {
				memcg_uncharge_bytes(groups[i]->objcg, size);
				live[i] -= size;
			} else {
				must(memcg_charge_bytes(groups[i]->objcg, size, 0) == 0);
				live[i] += size;
			}
		}
	}
	ledger_check();
	for (i = 0; i < OWNERS; i++) {
		books(groups[i], live[i]);
		memcg_uncharge_bytes(groups[i]->objcg, live[i]);
		books(groups[i], 0);
		group_end(groups[i]);
	}
	tree_is_empty();
}

static void bad_sizes_and_flags(void **state)
{
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_objcg *objcg = memcg->objcg;

	assert_int_equal(memcg_charge_bytes(objcg, 0, 0), 0);
	assert_int_equal(memcg_charge_bytes(objcg, (size_t)LONG_MAX + 1, 0), -EINVAL);
	assert_int_equal(memcg_charge_bytes(objcg, SIZE_MAX, MEMCG_FORCE), -EINVAL);
	assert_int_equal(memcg_charge_bytes(objcg, LONG_MAX, 0), -ENOMEM);
	assert_int_equal(memcg_charge_bytes(objcg, 100000, 1U << 20), -EINVAL);
	assert_int_equal(memcg_charge_bytes(NULL, 100000, 0), 0);
	memcg_uncharge_bytes(NULL, 100000);
	memcg_uncharge_bytes(objcg, 0);
	assert_null(memcg_objcg_get(memcg_unaccounted()));
	memcg_objcg_put(NULL);
	books(memcg, 0);
	group_end(memcg);
	tree_is_empty();
}

static void refused_bytes_leave_no_trace(void **state)
{
	static const unsigned int flags[] = { 0, MEMCG_MAY_SLEEP };
	struct memcg *top = group_make(NULL, "top"), *memcg = group_make(top, "a");
	struct memcg_objcg *objcg = memcg->objcg;
	size_t i;

	group_max(top, 3);
	assert_int_equal(memcg_charge_bytes(objcg, 2 * PAGE + 1, 0), 0);
	for (i = 0; i < array_size(flags); i++) {
		assert_int_equal(memcg_charge_bytes(objcg, PAGE, flags[i]), -ENOMEM);
		assert_ptr_equal(memcg_last_refusal()->group, top);
		books(memcg, 2 * PAGE + 1);
		/* What is left of the last page can still be had. */
		assert_int_equal(memcg_charge_bytes(objcg, PAGE - 1, flags[i]), 0);
		books(memcg, 3 * PAGE);
		memcg_uncharge_bytes(objcg, PAGE - 1);
	}
	assert_int_equal(max_events_of(top), 2);
	assert_int_equal(memcg_charge_bytes(objcg, PAGE, MEMCG_FORCE), 0);
	books(memcg, 3 * PAGE + 1);
	memcg_uncharge_bytes(objcg, 3 * PAGE + 1);
	group_end(memcg);
	group_end(top);
	tree_is_empty();
}

static void reservations(void **state)
{
	static const size_t totals[] = { 1, 5000, 4096, 0, 4097, 100000, 99999, 3 };
	struct memcg *memcg = group_make(NULL, "a");
	struct memcg_reservation reservation;
	size_t i;

	memcg_reserve(&reservation, memcg);
	for (i = 0; i < array_size(totals); i++) {
		assert_int_equal(memcg_resize(&reservation, totals[i], 0), 0);
		assert_int_equal(reservation.bytes, totals[i]);
		books(memcg, totals[i]);
	}
	group_max(memcg, 10);
	assert_int_equal(memcg_resize(&reservation, 11 * PAGE, MEMCG_MAY_SLEEP), -ENOMEM);
	books(memcg, 3);
	assert_int_equal(memcg_resize(&reservation, 9 * PAGE + 3, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_resize(&reservation, (size_t)LONG_MAX + 1, 0), -EINVAL);
	books(memcg, 9 * PAGE + 3);
	/* It outlives the group: the parent's from then on. */
	assert_int_equal(memcg_destroy(memcg), 0);
	memcg_tick();
	memcg_put(memcg);
	assert_int_equal(usage_of(memcg_root()), 10);
	assert_int_equal(memcg_resize(&reservation, 12 * PAGE, 0), 0);
	assert_int_equal(ledger_live_bytes(memcg_root()->objcg), 12 * PAGE);
	memcg_unreserve(&reservation);
	assert_null(reservation.objcg);
	tree_is_empty();
}

struct pair {
	struct memcg *top, *a, *b;
};

static struct pair pair_make(void)
{
	struct pair pair;

	pair.top = group_make(NULL, "top");
	pair.a = group_make(pair.top, "a");
	pair.b = group_make(pair.top, "b");
	return pair;
}

static void pair_end(const struct pair *pair)
{
	group_end(pair->a);
	group_end(pair->b);
	group_end(pair->top);
	tree_is_empty();
}

static void moves_of_every_kind(void **state)
{
	static const size_t sizes[] = { 1, 100, 4095, 4096, 4097, 8192, 20000 };
	struct pair p = pair_make();
	size_t i;

	for (i = 0; i < array_size(sizes); i++) {
		assert_int_equal(memcg_charge_bytes(p.a->objcg, sizes[i], 0), 0);
		assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, sizes[i], 0), 0);
		books(p.a, 0);
		books(p.b, sizes[i]);
		assert_int_equal(memcg_move_bytes(p.b->objcg, p.top->objcg, sizes[i], 0), 0);
		books(p.b, 0);
		assert_int_equal(ledger_live_bytes(p.top->objcg), sizes[i]);
		assert_int_equal(memcg_move_bytes(p.top->objcg, p.top->objcg, sizes[i], 0), 0);
		assert_int_equal(memcg_move_bytes(p.top->objcg, NULL, sizes[i], 0), 0);
		assert_int_equal(ledger_live_bytes(p.top->objcg), 0);
		assert_int_equal(memcg_move_bytes(NULL, p.a->objcg, sizes[i], 0), 0);
		books(p.a, sizes[i]);
		memcg_uncharge_bytes(p.a->objcg, sizes[i]);
	}
	assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, SIZE_MAX, 0), -EINVAL);
	assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, 1, 1U << 9), -EINVAL);
	assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, 0, 0), 0);
	pair_end(&p);
}

static void charge_there(unsigned int nr, void *arg)
{
	struct memcg *memcg = arg;

	(void)nr;
	must(memcg_charge_bytes(memcg->objcg, 5000, 0) == 0);
}

static void a_full_ancestor_does_not_refuse_a_move(void **state)
{
	struct pair p = pair_make();

	crew_run_in_turn(1, charge_there, p.a);
	group_max(p.top, usage_of(p.top));
	assert_int_equal(memcg_charge(p.top, 1000, 0), -ENOMEM);
	assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, 5000, MEMCG_MAY_SLEEP), 0);
	books(p.a, 0);
	books(p.b, 5000);
	group_max(p.a, 0);
	assert_int_equal(memcg_move_bytes(p.b->objcg, p.a->objcg, 5000, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_ptr_equal(memcg_last_refusal()->group, p.a);
	books(p.b, 5000);
	memcg_uncharge_bytes(p.b->objcg, 5000);
	pair_end(&p);
}

/* A move that is refused tries in several ways, and counts once; one that is granted in the end is no refusal. */
static void a_refused_move_counts_once(void **state)
{
	static const unsigned int flags[] = { 0, MEMCG_MAY_SLEEP };
	static const size_t sizes[] = { PAGE, 5000 };
	struct pair p = pair_make();
	unsigned long times = 0;
	size_t i, k;

	group_max(p.b, 1);
	assert_int_equal(memcg_charge_bytes(p.b->objcg, PAGE, 0), 0);
	for (i = 0; i < array_size(sizes); i++) {
		assert_int_equal(memcg_charge_bytes(p.a->objcg, sizes[i], 0), 0);
		for (k = 0; k < array_size(flags); k++) {
			assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, sizes[i], flags[k]), -ENOMEM);
			times++;
			assert_int_equal(p.b->memory.failcnt, times);
			assert_int_equal(max_events_of(p.b), times);
			assert_ptr_equal(memcg_last_refusal()->group, p.b);
			assert_int_equal(memcg_last_refusal()->asked, (sizes[i] + PAGE - 1) / PAGE);
			books(p.a, sizes[i]);
		}
		memcg_uncharge_bytes(p.a->objcg, sizes[i]);
	}
	memcg_uncharge_bytes(p.b->objcg, PAGE);
	group_max_none(p.b);
	assert_int_equal(p.top->memory.failcnt, 0);
	pair_end(&p);
}

/* Spare bytes wait in a slot of another CPU when the ancestor is full: a move that may sleep fetches them. */
static void spare_bytes_elsewhere_do_not_refuse_a_move(void **state)
{
	struct pair p = pair_make();

	group_max(p.top, 40);
	crew_run_in_turn(1, charge_there, p.a);
	must(ledger_bytes(p.a->objcg) > 0 || percpu_budget < 100);
	assert_int_equal(memcg_charge(p.top, 40 - usage_of(p.top), 0), 0);
	assert_int_equal(usage_of(p.top), 40);
	assert_int_equal(memcg_move_bytes(p.a->objcg, p.b->objcg, 5000, MEMCG_MAY_SLEEP), 0);
	books(p.a, 0);
	books(p.b, 5000);
	assert_int_equal(p.top->memory.failcnt + p.b->memory.failcnt, 0);
	assert_true(max_events_of(p.top) <= 1);
	memcg_uncharge(p.top, 40 - usage_of(p.b));
	memcg_uncharge_bytes(p.b->objcg, 5000);
	pair_end(&p);
}

static struct memcg *to_destroy, *to_open;

/* In the middle of a move that waits: its payer dies. */
static unsigned long destroy_meanwhile(struct memcg *over, unsigned long nr)
{
	charge_reclaim = NULL;
	must(memcg_destroy(to_destroy) == 0);
	memcg_tick();
	group_max_none(to_open);
	return nr;
}

static void the_payer_dies_during_a_move(void **state)
{
	static const size_t sizes[] = { 100, 4096, 5000 };
	size_t i;

	for (i = 0; i < array_size(sizes); i++) {
		struct pair p = pair_make();
		struct memcg_objcg *objcg = memcg_objcg_get(p.a);
		uint32_t id = objcg_id(objcg);

		assert_int_equal(memcg_charge_bytes(objcg, sizes[i], 0), 0);
		group_max(p.b, 0);
		to_destroy = p.a;
		to_open = p.b;
		charge_reclaim = destroy_meanwhile;
		assert_int_equal(memcg_move_bytes(objcg, p.b->objcg, sizes[i], MEMCG_MAY_SLEEP), 0);
		assert_null(charge_reclaim);
		books(p.b, sizes[i]);
		assert_int_equal(ledger_live_bytes(p.top->objcg), 0);
		memcg_put(p.a);
		memcg_objcg_put(objcg);
		memcg_tick();
		assert_null(id_lookup(&objcg_ids, id));
		memcg_uncharge_bytes(p.b->objcg, sizes[i]);
		group_end(p.b);
		group_end(p.top);
		tree_is_empty();
	}
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(every_size_together),
		cmocka_unit_test(a_swing_moves_no_pages),
		cmocka_unit_test(batches_grow_with_the_room),
		cmocka_unit_test(more_owners_than_slots),
		cmocka_unit_test(bad_sizes_and_flags),
		cmocka_unit_test(refused_bytes_leave_no_trace),
		cmocka_unit_test(reservations),
		cmocka_unit_test(moves_of_every_kind),
		cmocka_unit_test(a_full_ancestor_does_not_refuse_a_move),
		cmocka_unit_test(a_refused_move_counts_once),
		cmocka_unit_test(spare_bytes_elsewhere_do_not_refuse_a_move),
		cmocka_unit_test(the_payer_dies_during_a_move),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
