/* SPDX-License-Identifier: MIT */
/*
 * What users of other trackers reported (T1 .. T22), each as the whole kind. T3 and T7 are in
 * test_exact.c, T2 at length in the storm of destroyed groups.
 */
#include <memcg/heap.h>
#include <unistd.h>

#include "group/house.h"
#include "percpu/thread.h"
#include "support/forms.h"
#include "support/machine.h"
#include "support/tree.h"

/* T1: usage that goes negative, or only grows. */
static void t1_usage_comes_back(void **state)
{
	struct memcg *group = group_make(NULL, "t1");
	unsigned long most = 0;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		unsigned long pages = 1 + i % 200;

		must(memcg_charge(group, pages, 0) == 0);
		most = usage_of(group) > most ? usage_of(group) : most;
		memcg_uncharge(group, pages);
		must(usage_of(group) <= MEMCG_STOCK_HIGH);
	}
	assert_true(most >= 200 && most <= 200 + MEMCG_STOCK_HIGH);
	group_end(group);
	tree_is_empty();
}

/* T2: short queries that leak until all is refused. */
static void t2_short_queries_leak_nothing(void **state)
{
	struct memcg *service = group_make(NULL, "t2");
	unsigned int i;

	/* The kernel's shape of the stock keeps 7 slots of a CPU, whatever the limit is. */
	group_max(service, WORDS ? 400 : 4000);
	for (i = 0; i < 5000; i++) {
		struct memcg *query = group_make(service, "query"), *previous = memcg_enter(query);
		void *scratch = memcg_malloc(100 * (1 + i % 100));

		must(scratch);
		memcg_free(scratch);
		memcg_leave(previous);
		group_end(query);
	}
	memcg_tick();
	assert_int_equal(usage_of(service), 0);
	assert_int_equal(max_events_of(service), 0);
	group_end(service);
	tree_is_empty();
}

static void free_block(unsigned int nr, void *arg)
{
	(void)nr;
	memcg_free(arg);
}

/* T4: freed by another thread, after the group's end: the charge goes where the payer went. */
static void t4_freed_by_another_thread(void **state)
{
	struct memcg *top = group_make(NULL, "t4"), *mid = group_make(top, "mid"), *leaf = group_make(mid, "leaf");
	void *blocks[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		blocks[i] = memcg_heap_alloc(leaf, 0, 50000, 0);
		assert_non_null(blocks[i]);
	}
	crew_run_in_turn(1, free_block, blocks[0]);
	assert_int_equal(ledger_live_bytes(leaf->objcg), 2 * (50000 + MEMCG_HEAP_HEADER));
	group_end(leaf);
	memcg_tick();
	assert_int_equal(ledger_live_bytes(mid->objcg), 2 * (50000 + MEMCG_HEAP_HEADER));
	crew_run_in_turn(1, free_block, blocks[1]);
	assert_int_equal(ledger_live_bytes(mid->objcg), 50000 + MEMCG_HEAP_HEADER);
	group_end(mid);
	memcg_tick();
	assert_int_equal(ledger_live_bytes(top->objcg), 50000 + MEMCG_HEAP_HEADER);
	crew_run_in_turn(1, free_block, blocks[2]);
	assert_int_equal(ledger_live_bytes(top->objcg), 0);
	group_end(top);
	tree_is_empty();
}

#define DEPTH 20U

/* T5, T6: refused high up, the levels below are as before, and no peak knows. */
static void t5_t6_refused_high_up(void **state)
{
	struct memcg *chain[DEPTH];
	unsigned int i;

	for (i = 0; i < DEPTH; i++)
		chain[i] = group_make(i ? chain[i - 1] : NULL, "t5");
	group_max(chain[0], 10);
	assert_int_equal(memcg_charge(chain[DEPTH - 1], 10, MEMCG_MAY_SLEEP), 0);
	assert_int_equal(memcg_charge(chain[DEPTH - 1], 60, 0), -ENOMEM);
	assert_int_equal(memcg_charge(chain[DEPTH - 1], 60, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(memcg_charge_bytes(chain[DEPTH - 1]->objcg, 5000, MEMCG_MAY_SLEEP), -ENOMEM);
	for (i = 0; i < DEPTH; i++) {
		assert_int_equal(usage_of(chain[i]), 10);
		assert_int_equal(peak_of(chain[i]), 10);
	}
	memcg_uncharge(chain[DEPTH - 1], 10);
	for (i = DEPTH; i--;)
		group_end(chain[i]);
	tree_is_empty();
}

static int dump_and_destroy(struct memcg *group, void *arg)
{
	unsigned int *visits = arg;
	struct memcg *made;
	char name[24];

	++*visits;
	must(memcg_dump(*(visits + 1), NULL, 5) == 0);
	if (group == memcg_root() || group->css.nr_children)
		return 0;
	must(memcg_destroy(group) == 0);
	snprintf(name, sizeof(name), "made%u", *visits);
	if (*visits < 20) {
		must(memcg_create(NULL, name, &made) == 0);
		memcg_put(made);
	}
	return 0;
}

static int count_visits(struct memcg *group, void *arg)
{
	(void)group;
	++*(unsigned int *)arg;
	return 0;
}

/* T10: to destroy, create, walk and dump from inside a walk. */
static void t10_from_inside_a_walk(void **state)
{
	unsigned int visits[2] = { 0, 0 }, left = 0, i;
	FILE *null = fopen("/dev/null", "w");

	assert_non_null(null);
	visits[1] = (unsigned int)fileno(null);
	for (i = 0; i < 10; i++)
		memcg_put(group_make_nr(NULL, i));
	assert_int_equal(memcg_walk(NULL, dump_and_destroy, visits), 0);
	assert_true(visits[0] >= 11);
	assert_int_equal(memcg_walk(NULL, count_visits, &left), 0);
	while (memcg_root()->css.nr_descendants)
		assert_int_equal(memcg_walk(NULL, dump_and_destroy, visits), 0);
	fclose(null);
	tree_is_empty();
}

/* T14: destroyed with pages and bytes outstanding. */
static void t14_destroyed_while_charged(void **state)
{
	struct memcg *group = group_make(NULL, "t14");
	struct memcg_objcg *objcg = memcg_objcg_get(group);

	assert_int_equal(memcg_charge(group, 300, 0), 0);
	assert_int_equal(memcg_charge_bytes(objcg, 12345, 0), 0);
	assert_int_equal(memcg_destroy(group), 0);
	assert_int_equal(memcg_destroy(group), -ENODEV);
	memcg_tick();
	assert_int_equal(usage_of(group), 300);
	assert_int_equal(usage_of(memcg_root()), 304);
	memcg_uncharge_bytes(objcg, 12345);
	memcg_objcg_put(objcg);
	memcg_tick();
	memcg_tick(); /* nothing happened since the last: what the CPU holds is idle */
	assert_int_equal(usage_of(memcg_root()), 300);
	memcg_uncharge(group, 300);
	memcg_put(group);
	tree_is_empty();
}

/* T16: a refused charge a million times changes nothing but the counts of refusals. */
static void t16_a_million_refusals(void **state)
{
	const unsigned long times = SANITIZED || machine_valgrind() ? 50000 : 1000000;
	struct memcg *top = group_make(NULL, "t16"), *leaf = group_make(top, "leaf");
	unsigned long i;

	group_max(top, 50);
	assert_int_equal(memcg_charge(leaf, 40, 0), 0);
	for (i = 0; i < times; i++)
		must(memcg_charge(leaf, 11 + i % 100, 0) == -ENOMEM);
	assert_int_equal(usage_of(leaf), 40);
	assert_int_equal(usage_of(top), 40);
	assert_int_equal(peak_of(leaf), 40);
	assert_int_equal(peak_of(top), 40);
	assert_int_equal(top->memory.failcnt, times);
	assert_int_equal(max_events_of(top), times);
	assert_int_equal(max_events_of(leaf), 0);
	assert_int_equal(memcg_charge(leaf, 10, 0), 0);
	memcg_uncharge(leaf, 50);
	group_end(leaf);
	group_end(top);
	tree_is_empty();
}

#define SWITCHED 30U

/* T17: to switch the group at every call walks no counters: after the first rounds the stock serves all. */
static void t17_switches_walk_no_counters(void **state)
{
	struct memcg *groups[SWITCHED];
	unsigned long usage = 0;
	unsigned int i, round;

	if (!WORDS || percpu_budget < SWITCHED * 16)
		skip();
	for (i = 0; i < SWITCHED; i++)
		groups[i] = group_make_nr(NULL, i);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < SWITCHED; i++) {
			MEMCG_SCOPE(groups[i]);
			must(memcg_current() == groups[i]);
			must(memcg_charge(NULL, 1, 0) == 0);
			memcg_uncharge(NULL, 1);
		}
		if (round == 10)
			usage = load_relaxed(&memcg_root()->memory.word);
	}
	/* A thread that is moved to another CPU fills that one's stock once. */
	assert_true(usage_of(memcg_root()) > 0);
	assert_true(load_relaxed(&memcg_root()->memory.word) == usage || percpu_index_kind != MEMCG_INDEX_THREAD);
	assert_true(memcg_current() == memcg_root());
	for (i = 0; i < SWITCHED; i++)
		group_end(groups[i]);
	tree_is_empty();
}

/* T18: a parent outlives its children, in whatever order the references go. */
static void t18_parents_outlive_children(void **state)
{
	struct memcg *top = group_make(NULL, "t18"), *mid = group_make(top, "mid"), *leaf = group_make(mid, "leaf");
	char path[64];

	assert_int_equal(memcg_destroy(top), -EBUSY);
	assert_int_equal(memcg_destroy(mid), -EBUSY);
	assert_int_equal(memcg_charge(leaf, 150, 0), 0);
	assert_int_equal(memcg_destroy(leaf), 0);
	assert_int_equal(memcg_destroy(mid), 0);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
	memcg_put(mid);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 3);
	assert_ptr_equal(memcg_parent(memcg_parent(leaf)), top);
	assert_true(memcg_path(leaf, path, sizeof(path)) > 0);
	assert_string_equal(path, "t18/mid/leaf (deleted)");
	assert_int_equal(usage_of(memcg_parent(leaf)), 150);
	memcg_put(leaf);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 3);
	memcg_uncharge(leaf, 150);
	tree_is_empty();
}

/* T22: no system call finds the CPU: the index is one load, and below the number of areas. */
static void t22_the_index_is_a_load(void **state)
{
	const char *self = __builtin_thread_pointer();
	uint32_t index = *(const volatile uint32_t *)(self + memcg_percpu.index_off);

	assert_true(index < percpu_nr);
	if (percpu_index_kind == MEMCG_INDEX_THREAD)
		assert_int_equal(index, thread_self()->index);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t1_usage_comes_back),          cmocka_unit_test(t2_short_queries_leak_nothing),
		cmocka_unit_test(t4_freed_by_another_thread),   cmocka_unit_test(t5_t6_refused_high_up),
		cmocka_unit_test(t10_from_inside_a_walk),       cmocka_unit_test(t14_destroyed_while_charged),
		cmocka_unit_test(t16_a_million_refusals),       cmocka_unit_test(t17_switches_walk_no_counters),
		cmocka_unit_test(t18_parents_outlive_children), cmocka_unit_test(t22_the_index_is_a_load),
	};

	pin();
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return forms_main(run);
}
