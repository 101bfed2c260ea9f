/* SPDX-License-Identifier: MIT */
/* Owners of objects: they outlive their group, and what they hold goes back to who pays (A5, D1; T4, T14). */
#include "charge/try_charge.h"
#include "support/forms.h"
#include "support/tree.h"

static void bytes_survive_the_group(void **state)
{
	struct memcg *parent = group_make(NULL, "parent"), *child = group_make(parent, "child");
	struct memcg_objcg *objcg = memcg_objcg_get(child);

	assert_int_equal(memcg_charge_bytes(objcg, 5000, 0), 0);
	group_end(child);
	memcg_tick();
	assert_int_equal(usage_of(parent), 2);
	assert_int_equal(ledger_live_bytes(parent->objcg), 5000);
	memcg_uncharge_bytes(objcg, 5000);
	memcg_objcg_put(objcg);
	group_end(parent);
	tree_is_empty();
}

/* The number of a dead owner is not another's while it can still be named. */
static void a_dead_owner_is_not_taken_for_a_new_one(void **state)
{
	struct memcg *old = group_make(NULL, "old"), *young;
	struct memcg_objcg *dead = memcg_objcg_get(old), *living;

	assert_int_equal(memcg_charge_bytes(dead, 100, 0), 0);
	group_end(old);
	memcg_tick();
	young = group_make(NULL, "young");
	living = memcg_objcg_get(young);
	assert_int_equal(memcg_charge_bytes(living, 1000, 0), 0);
	memcg_uncharge_bytes(dead, 100);
	assert_int_equal(ledger_live_bytes(living), 1000);
	assert_int_equal(memcg_charge_bytes(dead, 200, 0), 0);
	assert_int_equal(ledger_live_bytes(living), 1000);
	memcg_uncharge_bytes(dead, 200);
	memcg_uncharge_bytes(living, 1000);
	memcg_objcg_put(dead);
	memcg_objcg_put(living);
	group_end(young);
	tree_is_empty();
}

static bool owner_exists(uint32_t id)
{
	return id_lookup(&objcg_ids, id) != NULL;
}

/* The owner goes with its last byte, or its last handle, or its group: whichever is last. */
static void an_owner_is_freed_in_any_order(void **state)
{
	static const char orders[][4] = { "bhg", "bgh", "hbg", "hgb", "gbh", "ghb" };
	size_t i, k;

	for (i = 0; i < array_size(orders); i++) {
		struct memcg *group = group_make(NULL, "a");
		struct memcg_objcg *objcg = memcg_objcg_get(group);
		uint32_t id = objcg_id(objcg);

		must(memcg_charge_bytes(objcg, 6000, 0) == 0);
		for (k = 0; k < 3; k++) {
			must(owner_exists(id));
			if (orders[i][k] == 'b')
				memcg_uncharge_bytes(objcg, 6000);
			else if (orders[i][k] == 'h')
				memcg_objcg_put(objcg);
			else
				group_end(group);
			memcg_tick();
		}
		must(!owner_exists(id));
		tree_is_empty();
	}
}

#define DEPTH 12

/* A chain that dies in one batch: every level is settled in turn, and counts what passes through it. */
static void a_chain_dies_at_once(void **state)
{
	struct memcg *chain[DEPTH];
	struct memcg_objcg *objcgs[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++) {
		chain[i] = group_make(i ? chain[i - 1] : NULL, "a");
		objcgs[i] = memcg_objcg_get(chain[i]);
		must(memcg_charge_bytes(objcgs[i], 1000 + (size_t)i, 0) == 0);
	}
	for (i = DEPTH; i--;)
		group_end(chain[i]);
	memcg_uncharge_bytes(objcgs[DEPTH - 1], 500);
	memcg_tick();
	assert_int_equal(ledger_live_bytes(memcg_root()->objcg), 1000 * DEPTH + DEPTH * (DEPTH - 1) / 2 - 500);
	assert_int_equal(objcgs[0]->live, ledger_live_bytes(memcg_root()->objcg));
	for (i = 0; i < DEPTH; i++) {
		must(memcg_charge_bytes(objcgs[i], 3000, 0) == 0);
		memcg_uncharge_bytes(objcgs[i], 3500 + (size_t)i);
		memcg_uncharge_bytes(objcgs[i], i == DEPTH - 1 ? 0 : 500);
		memcg_objcg_put(objcgs[i]);
	}
	assert_int_equal(ledger_live_bytes(memcg_root()->objcg), 0);
	tree_is_empty();
}

/* A dead owner's charges are the parent's to refuse. */
static void the_parent_refuses_for_the_dead(void **state)
{
	struct memcg *parent = group_make(NULL, "parent"), *child = group_make(parent, "child");
	struct memcg_objcg *objcg = memcg_objcg_get(child);

	group_max(child, 1);
	assert_int_equal(memcg_charge_bytes(objcg, 9000, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_ptr_equal(memcg_last_refusal()->group, child);
	group_end(child);
	memcg_tick();
	assert_int_equal(memcg_charge_bytes(objcg, 9000, MEMCG_MAY_SLEEP), 0);
	group_max(parent, 3);
	assert_int_equal(memcg_charge_bytes(objcg, 9000, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_ptr_equal(memcg_last_refusal()->group, parent);
	assert_int_equal(memcg_charge_bytes(objcg, 9000, MEMCG_FORCE), 0);
	assert_int_equal(ledger_live_bytes(parent->objcg), 18000);
	memcg_uncharge_bytes(objcg, 18000);
	memcg_objcg_put(objcg);
	group_end(parent);
	tree_is_empty();
}

/* A6: what the objects of a group left of their pages is nobody's once it is destroyed, tidied up or not. */
static void what_the_dead_left_refuses_nobody(void **state)
{
	struct memcg *parent = group_make(NULL, "parent"), *child = group_make(parent, "child");

	group_max(parent, 40);
	assert_int_equal(memcg_charge_bytes(child->objcg, 9000, 0), 0);
	memcg_uncharge_bytes(child->objcg, 9000);
	group_end(child);
	assert_int_equal(memcg_charge(parent, 40, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(usage_of(parent), 40);
	memcg_uncharge(parent, 40);
	group_end(parent);
	tree_is_empty();
}

static struct memcg *to_destroy;

static unsigned long destroy_meanwhile(struct memcg *over, unsigned long nr)
{
	(void)over;
	charge_reclaim = NULL;
	group_max_none(to_destroy);
	must(memcg_destroy(to_destroy) == 0);
	memcg_tick();
	return nr;
}

/* The group dies while a charge for it waits: the pages go back, and the parent pays. */
static void the_payer_dies_while_a_charge_waits(void **state)
{
	struct memcg *parent = group_make(NULL, "parent"), *child = group_make(parent, "child");
	struct memcg_objcg *objcg = memcg_objcg_get(child);
	uint32_t id = objcg_id(objcg);

	group_max(child, 0);
	to_destroy = child;
	charge_reclaim = destroy_meanwhile;
	assert_int_equal(memcg_charge_bytes(objcg, 9000, MEMCG_MAY_SLEEP), 0);
	assert_null(charge_reclaim);
	memcg_put(child);
	memcg_tick();
	assert_int_equal(ledger_live_bytes(parent->objcg), 9000);
	assert_int_equal(usage_of(parent), 3 + ledger_stock(parent));
	memcg_uncharge_bytes(objcg, 9000);
	memcg_objcg_put(objcg);
	memcg_tick();
	assert_false(owner_exists(id));
	group_end(parent);
	tree_is_empty();
}

struct hand_over {
	struct memcg_objcg *objcg;
	size_t each;
};

static void uncharge_and_charge(unsigned int nr, void *arg)
{
	const struct hand_over *over = arg;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		memcg_uncharge_bytes(over->objcg, over->each);
		must(memcg_charge_bytes(over->objcg, over->each, i % 8 ? 0 : MEMCG_MAY_SLEEP) == 0);
	}
	memcg_uncharge_bytes(over->objcg, over->each);
	(void)nr;
}

#define HANDS 8U

/* Destroyed while eight threads charge and uncharge through it. */
static void it_dies_under_its_users(void **state)
{
	static struct crew crew;
	unsigned int round;

	for (round = 0; round < 30; round++) {
		struct memcg *parent = group_make(NULL, "parent"), *child = group_make(parent, "child");
		struct hand_over over = { memcg_objcg_get(child), 100 + 733 * round };
		uint32_t id = objcg_id(over.objcg);

		must(memcg_charge_bytes(over.objcg, HANDS * over.each, 0) == 0);
		crew_start(&crew, HANDS, uncharge_and_charge, &over);
		usleep(round * 100);
		group_end(child);
		memcg_tick();
		crew_join(&crew);
		must(ledger_live_bytes(parent->objcg) == 0);
		memcg_objcg_put(over.objcg);
		memcg_tick();
		must(!owner_exists(id));
		group_end(parent);
		tree_is_empty();
	}
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_survive_the_group),
		cmocka_unit_test(a_dead_owner_is_not_taken_for_a_new_one),
		cmocka_unit_test(an_owner_is_freed_in_any_order),
		cmocka_unit_test(a_chain_dies_at_once),
		cmocka_unit_test(the_parent_refuses_for_the_dead),
		cmocka_unit_test(what_the_dead_left_refuses_nobody),
		cmocka_unit_test(the_payer_dies_while_a_charge_waits),
		cmocka_unit_test(it_dies_under_its_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
