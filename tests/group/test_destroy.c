/* SPDX-License-Identifier: MIT */
/*
 * Destroying groups with live charges (D1), parents that outlive their children (D2), totals that do
 * not change (C3), in every order of giving references and charges back.
 */
#include "support/child.h"

#include <pthread.h>

#include "charge/drain.h"
#include "group/group.h"
#include "group/objcg.h"
#include "support/backing.h"

static struct memcg *root;
static long live_before;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &backing_counted };
	int err;

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	err = memcg_init(&options);
	root = err ? NULL : memcg_root();
	return err;
}

static int setup(void **state)
{
	struct memcg *warm;

	(void)state;
	if (memcg_create(NULL, "warm", &warm) || memcg_destroy(warm))
		return -1;
	memcg_put(warm);
	memcg_tick();
	live_before = backing_live;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	memcg_tick();
	drain_stock(root);
	assert_int_equal(root->css.nr_dying, 0);
	assert_int_equal(root->css.nr_descendants, 0);
	assert_int_equal(page_counter_read(&root->memory), 0);
	assert_int_equal(root->memory.underflows, 0);
	assert_int_equal(backing_live, live_before);
	return 0;
}

static struct memcg *make(struct memcg *parent, const char *name)
{
	struct memcg *group;

	assert_int_equal(memcg_create(parent, name, &group), 0);
	return group;
}

/* What a group has, given back in each order; gone exactly after the last. */
enum {
	HANDLE,
	PAGES,
	MORE_PAGES,
	HANDLE_2,
	STEPS
};

static void give_back(struct memcg *group, int step)
{
	if (step == PAGES)
		memcg_uncharge(group, 3); /* fits into a slot, were the group not dying */
	else if (step == MORE_PAGES)
		memcg_uncharge(group, 1000);
	else
		memcg_put(group);
}

static void every_order(void **state)
{
	int order;

	(void)state;
	for (order = 0; order < STEPS * STEPS * STEPS * STEPS; order++) {
		int steps[STEPS] = { order % 4, order / 4 % 4, order / 16 % 4, order / 64 }, i;
		bool tick_between = order & 1;
		struct memcg *group;

		if ((1 << steps[0] | 1 << steps[1] | 1 << steps[2] | 1 << steps[3]) != 15)
			continue;
		group = make(NULL, "g");
		memcg_get(group);
		assert_int_equal(memcg_charge(group, 3, 0), 0);
		assert_int_equal(memcg_charge(group, 1000, 0), 0);
		assert_int_equal(memcg_destroy(group), 0);
		for (i = 0; i < STEPS; i++) {
			if (tick_between) {
				memcg_tick();
				assert_int_equal(root->css.nr_dying, 1); /* D1: not before the last */
			}
			give_back(group, steps[i]);
		}
		memcg_tick();
		assert_int_equal(root->css.nr_dying, 0);
		assert_int_equal(page_counter_read(&root->memory), 0);
		assert_int_equal(backing_live, live_before);
	}
}

/* Pages stay charged to every ancestor, and are limited there, until they are given back. */
static void pages_stay_with_ancestors(void **state)
{
	struct memcg *top = make(NULL, "top"), *group = make(top, "g");

	(void)state;
	page_counter_set_max(&top->memory, 100);
	assert_int_equal(memcg_charge(group, 60, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_destroy(group), 0);
	memcg_tick();
	assert_int_equal(page_counter_read(&top->memory), 60);
	assert_int_equal(page_counter_read(&root->memory), 60);
	assert_int_equal(memcg_charge(top, 41, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(memcg_charge(top, 40, MEMCG_MAY_SLEEP), 0);
	memcg_uncharge(group, 60);
	assert_int_equal(memcg_charge(top, 60, MEMCG_MAY_SLEEP), 0);
	memcg_uncharge(top, 100);
	memcg_put(group);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
}

/* Bytes belong to the parent from then on, and the group itself goes at once. */
static void bytes_move_to_the_parent(void **state)
{
	struct memcg *top = make(NULL, "top"), *group = make(top, "g");
	struct memcg_objcg *objcg = memcg_objcg_get(group);

	(void)state;
	assert_int_equal(memcg_charge_bytes(objcg, 10000, 0), 0);
	assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	memcg_tick();
	assert_int_equal(top->css.nr_dying, 0);
	drain_stock(root);
	assert_int_equal(page_counter_read(&top->memory), 3);
	assert_int_equal(objcg_pages(top->objcg), 3);
	/* charged through the dead owner: the parent pays */
	assert_int_equal(memcg_charge_bytes(objcg, MEMCG_PAGE_SIZE, 0), 0);
	assert_true(page_counter_read(&top->memory) >= 4);
	memcg_uncharge_bytes(objcg, MEMCG_PAGE_SIZE);
	memcg_uncharge_bytes(objcg, 10000);
	drain_stock(root);
	assert_int_equal(page_counter_read(&top->memory), 0);
	assert_int_equal(objcg_pages(top->objcg), 0);
	memcg_objcg_put(objcg);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
}

/* The bytes keep their owner, without any handle: a free much later finds it. */
static void bytes_keep_their_owner(void **state)
{
	struct memcg *top = make(NULL, "top"), *mid = make(top, "mid"), *group = make(mid, "g");
	struct memcg_objcg *objcg = memcg_objcg_get(group);
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_int_equal(memcg_charge_bytes(objcg, 777, 0), 0);
	memcg_objcg_put(objcg);
	assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	assert_int_equal(memcg_destroy(mid), 0); /* both in one batch, or in two */
	memcg_put(mid);
	for (i = 0; i < 50; i++)
		memcg_uncharge_bytes(objcg, 777);
	memcg_tick();
	assert_int_equal(top->css.nr_dying, 0);
	drain_stock(root);
	assert_int_equal(page_counter_read(&top->memory), (50 * 777 + MEMCG_PAGE_SIZE - 1) / MEMCG_PAGE_SIZE);
	for (i = 0; i < 50; i++)
		memcg_uncharge_bytes(objcg, 777);
	memcg_tick();
	drain_stock(root);
	assert_int_equal(page_counter_read(&top->memory), 0);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
}

/* A5: while bytes are left, no other owner gets the number by which slots are found. */
static void a_dead_owner_meets_no_other(void **state)
{
	struct memcg *old = make(NULL, "old"), *young[20];
	struct memcg_objcg *objcg = memcg_objcg_get(old);
	size_t i;

	(void)state;
	assert_int_equal(memcg_charge_bytes(objcg, 100, 0), 0);
	assert_int_equal(memcg_destroy(old), 0);
	memcg_put(old);
	memcg_tick();
	for (i = 0; i < array_size(young); i++) {
		young[i] = make(NULL, (const char[]){ (char)('a' + i), '\0' });
		assert_int_not_equal(objcg_id(young[i]->objcg), objcg_id(objcg));
		assert_int_equal(memcg_charge_bytes(young[i]->objcg, 1000, 0), 0); /* has a slot on this CPU now */
	}
	memcg_uncharge_bytes(objcg, 100);
	memcg_objcg_put(objcg);
	for (i = 0; i < array_size(young); i++) {
		memcg_uncharge_bytes(young[i]->objcg, 1000);
		assert_int_equal(memcg_destroy(young[i]), 0);
		memcg_put(young[i]);
	}
}

/* D2 */
static void parents_outlive_children(void **state)
{
	struct memcg *a = make(NULL, "a"), *b = make(a, "b"), *c = make(b, "c");
	char path[32];

	(void)state;
	assert_int_equal(memcg_charge(c, 5, 0), 0);
	assert_int_equal(memcg_destroy(a), -EBUSY);
	assert_int_equal(memcg_destroy(c), 0);
	assert_int_equal(memcg_destroy(b), 0);
	assert_int_equal(memcg_destroy(a), 0);
	memcg_put(a);
	memcg_put(b);
	memcg_tick();
	assert_int_equal(root->css.nr_dying, 3);
	assert_ptr_equal(memcg_parent(c), b);
	assert_ptr_equal(memcg_parent(b), a);
	assert_true(memcg_path(c, path, sizeof(path)) > 0);
	assert_string_equal(path, "a/b/c (deleted)");
	assert_int_equal(page_counter_read(&a->memory), 5);
	memcg_uncharge(c, 5);
	memcg_put(c);
	memcg_tick();
	assert_int_equal(root->css.nr_dying, 0);
}

/* Calls on a destroyed group: what charges it still works, what needs it in the tree says so. */
static void handles_after_destroy(void **state)
{
	struct memcg *group = make(NULL, "g"), *other;
	struct memcg_objcg *objcg;
	uint64_t id = memcg_id(group);

	(void)state;
	assert_int_equal(memcg_destroy(group), 0);
	memcg_tick();
	assert_int_equal(memcg_destroy(group), -ENODEV);
	assert_int_equal(memcg_create(group, "c", &other), -ENODEV);
	assert_int_equal(memcg_attach(group), -ENODEV);
	assert_int_equal(memcg_id(group), id);
	assert_int_equal(memcg_charge(group, 2, 0), 0);
	assert_int_equal(page_counter_read(&root->memory), 2); /* no stock for the dead */
	memcg_uncharge(group, 2);
	assert_int_equal(page_counter_read(&root->memory), 0);
	objcg = memcg_objcg_get(group);
	assert_int_equal(memcg_charge_bytes(objcg, 100, 0), 0);
	memcg_uncharge_bytes(objcg, 100);
	memcg_objcg_put(objcg);
	{
		struct memcg *previous = memcg_enter(group);

		assert_ptr_equal(memcg_current(), group);
		memcg_leave(previous);
	}
	memcg_put(group);
}

/* T2: thousands of short queries, each with bytes that outlive it: nothing leaks. */
static void short_queries(void **state)
{
	struct memcg *top = make(NULL, "top");
	struct memcg_objcg *kept[8] = { NULL };
	size_t i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct memcg *query = make(top, "query");
		struct memcg_objcg *objcg = memcg_objcg_get(query);

		assert_int_equal(memcg_charge(query, i % 100 + 1, 0), 0);
		assert_int_equal(memcg_charge_bytes(objcg, i + 1, 0), 0);
		memcg_uncharge(query, i % 100 + 1);
		assert_int_equal(memcg_destroy(query), 0);
		memcg_put(query);
		if (kept[i % 8]) {
			memcg_uncharge_bytes(kept[i % 8], i + 1 - 8);
			memcg_objcg_put(kept[i % 8]);
		}
		kept[i % 8] = objcg;
	}
	for (i = 0; i < 8; i++) {
		memcg_uncharge_bytes(kept[i], 2992 + i + 1);
		memcg_objcg_put(kept[i]);
	}
	memcg_tick();
	drain_stock(root);
	assert_int_equal(page_counter_read(&top->memory), 0);
	assert_int_equal(objcg_pages(top->objcg), 0);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
}

static struct memcg *contested;
static struct memcg_objcg *contested_owner;
static uint32_t go_on;

static void *charges_on(void *arg)
{
	struct memcg *mine = arg;
	unsigned long i;

	for (i = 0; load_relaxed(&go_on); i++) {
		must(memcg_charge(mine, i % 40 + 1, 0) == 0);
		must(memcg_charge_bytes(contested_owner, i % 9000 + 1, 0) == 0);
		memcg_uncharge_bytes(contested_owner, i % 9000 + 1);
		memcg_uncharge(mine, i % 40 + 1);
	}
	return NULL;
}

/* A1, A5: a group is destroyed under threads that charge it, again and again. */
static void destroyed_under_chargers(void **state)
{
	int round;

	(void)state;
	for (round = 0; round < 30; round++) {
		struct memcg *top = make(NULL, "top");
		pthread_t threads[3];
		size_t i;

		contested = make(top, "contested");
		contested_owner = memcg_objcg_get(contested);
		store_relaxed(&go_on, 1);
		for (i = 0; i < array_size(threads); i++)
			assert_int_equal(pthread_create(&threads[i], NULL, charges_on, contested), 0);
		usleep(500);
		assert_int_equal(memcg_destroy(contested), 0);
		memcg_tick();
		usleep(500);
		store_relaxed(&go_on, 0);
		for (i = 0; i < array_size(threads); i++)
			pthread_join(threads[i], NULL);
		memcg_objcg_put(contested_owner);
		memcg_put(contested);
		memcg_tick();
		drain_stock(root);
		assert_int_equal(page_counter_read(&top->memory), 0);
		assert_int_equal(page_counter_read(&root->memory), 0);
		assert_int_equal(objcg_pages(top->objcg), 0);
		assert_int_equal(memcg_destroy(top), 0);
		memcg_put(top);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_order),
		CASE(pages_stay_with_ancestors),
		CASE(bytes_move_to_the_parent),
		CASE(bytes_keep_their_owner),
		CASE(a_dead_owner_meets_no_other),
		CASE(parents_outlive_children),
		CASE(handles_after_destroy),
		CASE(short_queries),
		CASE(destroyed_under_chargers),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
