/* SPDX-License-Identifier: MIT */
/* D3: numbers are dense and reused; number and generation together never name two objects. */
#include "support/start.h"

#include <pthread.h>

#include "css/id_table.h"
#include "group/group.h"

static struct id_table table; /* its numbers have blocks in the areas */

static void dense_from_one(void **state)
{
	uint32_t id, generation, i;

	(void)state;
	for (i = 1; i <= 3000; i++) { /* over the edge of two chunks */
		assert_int_equal(id_alloc(&table, &id, &generation), 0);
		assert_int_equal(id, i);
		assert_int_equal(generation, 0);
	}
}

static void lookup_follows_publication(void **state)
{
	int a, b;

	(void)state;
	assert_null(id_lookup(&table, 7));
	id_publish(&table, 7, &a);
	id_publish(&table, 8, &b);
	assert_ptr_equal(id_lookup(&table, 7), &a);
	assert_ptr_equal(id_lookup(&table, 8), &b);
	assert_null(id_lookup(&table, 0)); /* the empty slot's number */
	assert_null(id_lookup(&table, OWNER_NUMBERS - 1));
	id_free(&table, 7);
	id_free(&table, 8);
	assert_null(id_lookup(&table, 7));
}

static void reuse_has_another_generation(void **state)
{
	uint32_t id, generation, last = 0;
	int i;

	(void)state;
	id_free(&table, 100);
	for (i = 1; i <= 1000; i++) {
		assert_int_equal(id_alloc(&table, &id, &generation), 0);
		assert_int_equal(id, 100);
		assert_true(generation > last);
		last = generation;
		id_free(&table, id);
	}
	/* all that were given back are given out before a new one: 7, 8 and 100 */
	for (i = 0; i < 3; i++) {
		assert_int_equal(id_alloc(&table, &id, &generation), 0);
		assert_true(id == 7 || id == 8 || id == 100);
		assert_true(generation > 0);
	}
	assert_int_equal(id_alloc(&table, &id, &generation), 0);
	assert_int_equal(id, 3001);
}

#define THREADS 4
#define ROUNDS 5000

static struct id_table raced;
static uint8_t taken[1 << 16]; /* 1: somebody holds the number; atomic */

static void *takes_and_frees(void *arg)
{
	uint32_t ids[5], generation;
	int round;
	size_t i;

	(void)arg;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < array_size(ids); i++) {
			must(id_alloc(&raced, &ids[i], &generation) == 0);
			must(ids[i] > 0 && ids[i] <= THREADS * array_size(ids));
			must(__atomic_exchange_n(&taken[ids[i]], 1, __ATOMIC_RELAXED) == 0);
		}
		for (i = 0; i < array_size(ids); i++) {
			__atomic_store_n(&taken[ids[i]], 0, __ATOMIC_RELAXED);
			id_free(&raced, ids[i]);
		}
	}
	return NULL;
}

static void threads_never_share_a_number(void **state)
{
	pthread_t threads[THREADS];
	size_t i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, takes_and_frees, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The same for groups: one name, created and destroyed again and again. */
static void memcg_ids_never_return(void **state)
{
	static uint64_t ids[2000];
	uint32_t highest = 0;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(ids); i++) {
		struct memcg *group;

		assert_int_equal(memcg_create(NULL, "again", &group), 0);
		ids[i] = memcg_id(group);
		highest = group->css.id > highest ? group->css.id : highest;
		assert_int_equal(memcg_destroy(group), 0);
		assert_int_equal(memcg_id(group), ids[i]);
		memcg_put(group);
	}
	qsort(ids, array_size(ids), sizeof(ids[0]), by_value);
	for (i = 1; i < array_size(ids); i++)
		assert_true(ids[i] != ids[i - 1]);
	/* numbers are reused, or the areas would grow with each group there ever was */
	assert_true(highest < 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_from_one),
		cmocka_unit_test(lookup_follows_publication),
		cmocka_unit_test(reuse_has_another_generation),
		cmocka_unit_test(threads_never_share_a_number),
		cmocka_unit_test(memcg_ids_never_return),
	};

	return cmocka_run_group_tests(tests, start_usual, NULL);
}
