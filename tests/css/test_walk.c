/* SPDX-License-Identifier: MIT */
/* Pre-order walks, and what is removed or added under their feet: what is there all along is met once. */
#include "support/css.h"
#include "support/start.h"

#define NODES 40 /* a heap of three: node i hangs below (i - 1) / 3 */

static struct css *nodes[NODES + 8];
static unsigned int met[NODES + 8];

static int setup(void **state)
{
	int i;

	(void)state;
	memset(nodes, 0, sizeof(nodes));
	memset(met, 0, sizeof(met));
	for (i = 0; i < NODES; i++)
		nodes[i] = css_make(i ? nodes[(i - 1) / 3] : NULL);
	return 0;
}

/* The numbers stay in use, as they do while somebody holds the nodes. */
static int teardown(void **state)
{
	size_t i;

	(void)state;
	for (i = array_size(nodes); i-- > 0;) {
		if (nodes[i]) {
			id_free(&css_ids, nodes[i]->id);
			free(nodes[i]);
		}
	}
	return 0;
}

static int index_of(const struct css *css)
{
	int i;

	for (i = 0; i < (int)array_size(nodes); i++) {
		if (nodes[i] == css)
			return i;
	}
	fail();
	return -1;
}

static void expect_each_once(const char *except)
{
	int i;

	for (i = 0; i < NODES; i++) {
		if (except[i])
			assert_true(met[i] <= 1);
		else
			assert_int_equal(met[i], 1);
	}
}

static void remove_tree(int i, char *removed)
{
	int child;

	for (child = 3 * i + 1; child <= 3 * i + 3 && child < NODES; child++) {
		if (!removed[child])
			remove_tree(child, removed);
	}
	css_unlink(nodes[i]);
	removed[i] = 1;
}

static void parents_first_oldest_first(void **state)
{
	struct css *pos = NULL, *rcu = NULL;
	int i, nr = 0;

	(void)state;
	while ((pos = css_next(pos, nodes[0]))) {
		rcu = css_next(rcu, nodes[0]);
		assert_ptr_equal(rcu, pos);
		i = index_of(pos);
		assert_true(i == 0 || met[(i - 1) / 3]);
		if (i && (i - 1) % 3)
			assert_true(met[i - 1]); /* the older sibling */
		met[i]++;
		nr++;
	}
	assert_null(css_next(rcu, nodes[0]));
	assert_int_equal(nr, NODES);
}

static void stays_below_top(void **state)
{
	struct css *pos = NULL;
	int nr = 0;

	(void)state;
	while ((pos = css_next(pos, nodes[2]))) {
		assert_true(css_is_descendant(pos, nodes[2]));
		nr++;
	}
	assert_int_equal(nr, 1 + (int)nodes[2]->nr_descendants);
	assert_ptr_equal(css_next(NULL, nodes[NODES - 1]), nodes[NODES - 1]);
	assert_null(css_next(nodes[NODES - 1], nodes[NODES - 1]));
}

/* Walks all of a new tree, and removes what @removes says when it stands on @at. */
static void walk_removing(int at, void (*removes)(int at, char *removed))
{
	char removed[NODES] = { 0 };
	struct css *pos = NULL;

	teardown(NULL);
	setup(NULL);
	while ((pos = css_next(pos, nodes[0]))) {
		met[index_of(pos)]++;
		if (pos == nodes[at])
			removes(at, removed);
	}
	expect_each_once(removed);
	assert_int_equal(met[at], 1);
}

/* Each node with all below it. */
static void removal_of_the_position(void **state)
{
	int victim;

	(void)state;
	for (victim = 1; victim < NODES; victim++)
		walk_removing(victim, remove_tree);
}

static void remove_with_neighbours(int at, char *removed)
{
	remove_tree(at, removed);
	if (at + 1 < NODES && (at - 1) / 3 == at / 3)
		remove_tree(at + 1, removed);
	if (at > 1 && (at - 1) / 3 == (at - 2) / 3)
		remove_tree(at - 1, removed);
}

/* The position and the sibling that would have been next, and the one before. */
static void removal_of_neighbours(void **state)
{
	int at;

	(void)state;
	for (at = 1; at < NODES; at++)
		walk_removing(at, remove_with_neighbours);
}

/* Everything goes but the way to the root, while the walk is at the deepest. */
static void removal_of_all_others(void **state)
{
	char removed[NODES] = { 0 };
	struct css *pos = NULL;
	int i;

	(void)state;
	while ((pos = css_next(pos, nodes[0]))) {
		met[index_of(pos)]++;
		if (pos == nodes[13]) {
			for (i = 1; i < NODES; i++) {
				if (!removed[i])
					remove_tree(i, removed);
			}
		}
	}
	expect_each_once(removed);
	assert_int_equal(nodes[0]->nr_descendants, 0);
	assert_int_equal(met[0], 1);
	assert_int_equal(met[13], 1);
	assert_int_equal(met[3], 0);
}

/* What is added behind the position may be met or not; what was there is met once. */
/* Only those right below, and on from one that was removed meanwhile. */
static void children_only(void **state)
{
	char removed[NODES] = { 0 };
	struct css *pos = NULL;
	int i;

	(void)state;
	for (i = 4; i <= 6; i++) {
		pos = css_next_child(pos, nodes[1]);
		assert_ptr_equal(pos, nodes[i]);
	}
	assert_null(css_next_child(pos, nodes[1]));
	assert_null(css_next_child(NULL, nodes[NODES - 1]));
	remove_tree(5, removed);
	assert_ptr_equal(css_next_child(nodes[5], nodes[1]), nodes[6]);
	assert_ptr_equal(css_next_child(nodes[4], nodes[1]), nodes[6]);
}

static void additions(void **state)
{
	char none[NODES] = { 0 };
	struct css *pos = NULL;
	int added = NODES;

	(void)state;
	while ((pos = css_next(pos, nodes[0]))) {
		int i = index_of(pos);

		met[i]++;
		assert_true(met[i] == 1);
		if (i == 5 || i == 1 || i == NODES - 1)
			nodes[added++] = css_make(pos);
		if (i == 4)
			nodes[added++] = css_make(nodes[0]);
	}
	expect_each_once(none);
	assert_int_equal(added, NODES + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parents_first_oldest_first, setup, teardown),
		cmocka_unit_test_setup_teardown(stays_below_top, setup, teardown),
		cmocka_unit_test_setup_teardown(removal_of_the_position, setup, teardown),
		cmocka_unit_test_setup_teardown(removal_of_neighbours, setup, teardown),
		cmocka_unit_test_setup_teardown(removal_of_all_others, setup, teardown),
		cmocka_unit_test_setup_teardown(children_only, setup, teardown),
		cmocka_unit_test_setup_teardown(additions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, start_usual, NULL);
}
