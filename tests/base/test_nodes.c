/* SPDX-License-Identifier: MIT */
/* Memory nodes: lists of numbers, faked nodes, nodes that come and go. */
#include "support/child.h"

#include "base/nodes.h"

static void lists_of_numbers(void **state)
{
	(void)state;
	assert_int_equal(nodes_parse("0\n"), 1);
	assert_int_equal(nodes_parse("0-3\n"), 0xf);
	assert_int_equal(nodes_parse("1,3-4,63\n"), 1ULL << 63 | 0x1a);
	assert_int_equal(nodes_parse(""), 0);
	assert_int_equal(nodes_parse("\n"), 0);
	assert_int_equal(nodes_parse("3-\n"), 0);
	assert_int_equal(nodes_parse("5-4\n"), 0);
	assert_int_equal(nodes_parse("62-70\n"), 3ULL << 62);
	assert_int_equal(nodes_parse("64,2\n"), 1 << 2);
	assert_int_equal(nodes_parse("0x1\n"), 1);
}

static void faked(void **state)
{
	(void)state;
	assert_int_equal(nodes_start(NODES_MAX + 1), -EINVAL);
	assert_int_equal(nodes_start(NODES_MAX), 0);
	assert_int_equal(nodes_nr, NODES_MAX);
	assert_int_equal(nodes_online(), UINT64_MAX);
	assert_int_equal(nodes_start(3), 0);
	assert_int_equal(nodes_nr, 3);
	assert_int_equal(nodes_online(), 7);
}

static void come_and_go(void **state)
{
	(void)state;
	assert_int_equal(nodes_start(2), 0);
	nodes_set_online(1, false);
	assert_int_equal(nodes_online(), 1);
	nodes_refresh(); /* the machine has no say in faked ones */
	assert_int_equal(nodes_online(), 1);
	nodes_set_online(1, true);
	assert_int_equal(nodes_online(), 3);
}

static void the_machines(void **state)
{
	uint64_t first;

	(void)state;
	assert_int_equal(nodes_start(0), 0);
	assert_in_range(nodes_nr, 1, NODES_MAX);
	first = nodes_online();
	assert_true(first != 0);
	assert_true(nodes_nr == NODES_MAX || first >> nodes_nr == 0);
	nodes_set_online(0, false);
	nodes_refresh(); /* what the machine says, again */
	assert_int_equal(nodes_online(), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_numbers),
		cmocka_unit_test(faked),
		cmocka_unit_test(come_and_go),
		cmocka_unit_test(the_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
