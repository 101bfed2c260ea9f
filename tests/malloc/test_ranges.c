/* SPDX-License-Identifier: MIT */
/* The ranges of mappings: random additions and cuts against a plain array, and how deep the tree becomes. */
#include "support/child.h"

#include "ranges.h"

#define BYTES 400 /* addresses of the model */

static struct ranges ranges;
static unsigned char model[BYTES]; /* 0: nothing; else 1 + the payer */

static struct memcg_objcg *payer(unsigned int nr)
{
	return (struct memcg_objcg *)(uintptr_t)nr;
}

static size_t count(const struct range *tree)
{
	return tree ? 1 + count(tree->left) + count(tree->right) : 0;
}

static size_t depth(const struct range *tree)
{
	size_t left = tree ? depth(tree->left) : 0, right = tree ? depth(tree->right) : 0;

	return tree ? 1 + (left > right ? left : right) : 0;
}

static void check_model(void)
{
	unsigned char seen[BYTES] = { 0 };
	const struct range *range;
	uintptr_t at = 0;
	size_t nr = 0;

	for (; (range = ranges_find(&ranges, at)); at = range->end, nr++) {
		assert_true(range->start >= at && range->end > range->start && range->end <= BYTES);
		memset(seen + range->start, 1 + (int)(uintptr_t)range->payer, range->end - range->start);
	}
	assert_memory_equal(seen, model, BYTES);
	assert_int_equal(nr, count(ranges.root));
}

/* All parts of [start, end), lowest first, as the model has them. */
static void cut(uintptr_t start, uintptr_t end)
{
	struct range part;
	uintptr_t at = start, i;

	while (ranges_cut(&ranges, start, end, &part)) {
		assert_true(part.start >= at && part.end > part.start && part.end <= end);
		for (i = part.start; i < part.end; i++) {
			assert_int_equal(model[i], 1 + (uintptr_t)part.payer);
			model[i] = 0;
		}
		at = part.end;
		assert_true(ranges_reserve(&ranges, 2));
	}
	for (i = start; i < end; i++)
		assert_int_equal(model[i], 0);
}

static void against_a_model(void **state)
{
	unsigned int seed = 1, round;
	size_t all = 0;

	(void)state;
	for (round = 0; round < 200000; round++) {
		uintptr_t start = (uintptr_t)rand_r(&seed) % BYTES;
		uintptr_t end = start + 1 + (uintptr_t)rand_r(&seed) % (round % 3 ? 20 : 100);
		unsigned int nr = (unsigned int)rand_r(&seed) % 3;

		end = end < BYTES ? end : BYTES;
		assert_true(ranges_reserve(&ranges, 2));
		all = all ? all : ranges.nr_free;
		cut(start, end);
		if (rand_r(&seed) % 3) {
			ranges_add(&ranges, start, end, payer(nr));
			memset(model + start, 1 + (int)nr, end - start);
		}
		if (round % 16 == 0)
			check_model();
		/* None is lost: they fit into the first memory that was had. */
		assert_int_equal(count(ranges.root) + ranges.nr_free, all);
	}
	cut(0, BYTES);
	assert_null(ranges.root);
}

static void neighbours_of_one_payer_are_one(void **state)
{
	static struct ranges own;
	struct range part;

	(void)state;
	assert_true(ranges_reserve(&own, 8));
	ranges_add(&own, 10, 20, payer(1));
	ranges_add(&own, 30, 40, payer(1));
	ranges_add(&own, 40, 50, payer(2));
	assert_int_equal(count(own.root), 3);
	ranges_add(&own, 20, 30, payer(1));
	assert_int_equal(count(own.root), 2);
	assert_true(ranges_cut(&own, 0, 100, &part));
	assert_int_equal(part.start, 10);
	assert_int_equal(part.end, 40);
	ranges_add(&own, 0, 40, payer(2));
	assert_int_equal(count(own.root), 1);
}

/* In the order of addresses, as a kernel gives them, and yet no list. */
static void is_no_list(void **state)
{
	static struct ranges own;
	uintptr_t i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		assert_true(ranges_reserve(&own, 2));
		ranges_add(&own, 2 * i, 2 * i + 1, payer(1));
	}
	assert_int_equal(count(own.root), 100000);
	assert_true(depth(own.root) < 100); /* 17 is the least */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_a_model),
		cmocka_unit_test(neighbours_of_one_payer_are_one),
		cmocka_unit_test(is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
