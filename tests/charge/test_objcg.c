/* SPDX-License-Identifier: MIT */
/* Owners of objects: they outlive their group, and what they hold goes back to who pays (A5, D1; T4, T14). */
#include <memcg/heap.h>
#include <pthread.h>

#include "charge/drain.h"
#include "group/house.h"
#include "support/forms.h"
#include "support/ledger.h"

static struct memcg *make(struct memcg *parent, const char *name)
{
	struct memcg *memcg;

	assert_int_equal(memcg_create(parent, name, &memcg), 0);
	return memcg;
}

static void end(struct memcg *memcg)
{
	assert_int_equal(memcg_destroy(memcg), 0);
	memcg_put(memcg);
}

static void bytes_survive_the_group(void **state)
{
	struct memcg *parent = make(NULL, "parent"), *child = make(parent, "child");
	struct memcg_objcg *objcg = memcg_objcg_get(child);

	assert_int_equal(memcg_charge_bytes(objcg, 5000, 0), 0);
	end(child);
	memcg_tick();
	assert_int_equal(usage_of(parent), 2);
	assert_int_equal(ledger_live_bytes(parent->objcg), 5000);
	memcg_uncharge_bytes(objcg, 5000);
	memcg_objcg_put(objcg);
	end(parent);
	assert_true(ledger_settle());
	assert_int_equal(usage_of(memcg_root()), 0);
}

/* The number of a dead owner is not another's while it can still be named. */
static void a_dead_owner_is_not_taken_for_a_new_one(void **state)
{
	struct memcg *old = make(NULL, "old"), *young;
	struct memcg_objcg *dead = memcg_objcg_get(old), *living;

	assert_int_equal(memcg_charge_bytes(dead, 100, 0), 0);
	end(old);
	memcg_tick();
	young = make(NULL, "young");
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
	end(young);
	assert_true(ledger_settle());
	assert_int_equal(usage_of(memcg_root()), 0);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_survive_the_group),
		cmocka_unit_test(a_dead_owner_is_not_taken_for_a_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
