/* SPDX-License-Identifier: MIT */
/* Per-node parts: where they lie in each layout, what they begin as, nodes that come late (E1). */
#include "support/tree.h"

#include "group/per_node.h"

static uintptr_t pair_of(const void *at)
{
	return (uintptr_t)at / PAIR_SIZE;
}

static void start(unsigned int nr_nodes)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS,
		.nr_nodes = nr_nodes,
	};

	must(memcg_init(&options) == 0);
}

/* Does any line that is written share a pair with what every update reads, of this object or the next? */
static bool neighbours(const struct mem_cgroup_per_node *pn, unsigned int nr)
{
	unsigned int i, k;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < nr; k++) {
			uintptr_t read = pair_of(&pn[i].read);

			if (read == pair_of(&pn[k].lruvec.lists) || read == pair_of(&pn[k].lruvec.lock) ||
			    read == pair_of(&pn[k].hot) || read == pair_of(&pn[k].hot.iter))
				return true;
		}
	}
	return false;
}

static void layout(const void *arg)
{
	unsigned int i, odd = 0, bad_even = 0;
	const unsigned int nr = 16;

	(void)arg;
	start(3);
	for (i = 0; i < nr; i++) {
		const struct memcg *memcg = group_make_nr(NULL, i);
		bool upper = (uintptr_t)memcg->nodes % PAIR_SIZE != 0;

		must((uintptr_t)memcg->nodes % LINE_SIZE == 0);
		odd += upper;
		if (!upper)
			bad_even += neighbours(memcg->nodes, nodes_nr);
	}
	if (MEMCG_LAYOUT == MEMCG_LAYOUT_ALIGNED)
		must(odd == 0 && bad_even == 0);
	else
		must(odd == nr / 2); /* both halves occur */
	must(bad_even == (MEMCG_LAYOUT == MEMCG_LAYOUT_BASE ? nr / 2 : 0));
}

static void pairs(void **state)
{
	(void)state;
	child_expect_ok(child_run(layout, NULL));
}

static void beginning(const void *arg)
{
	unsigned int node, i;
	struct memcg *memcg;

	(void)arg;
	start(4);
	memcg = group_make(NULL, "a");
	must(nodes_nr == 4);
	for (node = 0; node < nodes_nr; node++) {
		struct mem_cgroup_per_node *pn = &memcg->nodes[node];

		must(pn->read.memcg == memcg);
		must(pn->read.objcg == memcg->objcg && pn->cold.orig_objcg == memcg->objcg);
		must(cds_list_empty(&pn->cold.objcg_list));
		for (i = 0; i < LRU_NR; i++) {
			must(cds_list_empty(&pn->lruvec.lists[i]));
			must(pn->hot.lru_zone_size[0][i] == 0);
		}
		must(pn->lruvec.lock == 0 && pn->hot.iter.position == 0);
		must(memcg_lruvec(memcg, node) == &pn->lruvec);
		must(lruvec_per_node(memcg_lruvec(memcg, node)) == pn);
		must(!lruvec_is_node(&pn->lruvec));
	}
}

static void what_they_begin_as(void **state)
{
	(void)state;
	child_expect_ok(child_run(beginning, NULL));
}

static void late(const void *arg)
{
	struct memcg *before, *after;

	(void)arg;
	start(2);
	nodes_set_online(1, false);
	before = group_make(NULL, "before");
	must(before->nodes[0].lruvec.node == &memory_nodes[0]);
	must(before->nodes[1].lruvec.node == NULL);
	nodes_set_online(1, true);
	must(memcg_lruvec(before, 1)->node == &memory_nodes[1]);
	after = group_make(NULL, "after");
	must(after->nodes[1].lruvec.node == &memory_nodes[1]);
	/* It goes, and another comes back in its place. */
	before->nodes[1].lruvec.node = &memory_nodes[0];
	must(memcg_lruvec(before, 1)->node == &memory_nodes[1]);
}

static void late_node(void **state)
{
	(void)state;
	child_expect_ok(child_run(late, NULL));
}

static void without(const void *arg)
{
	(void)arg;
	start(2);
	must(memcg_lruvec(NULL, 1) == &memory_nodes[1].lruvec);
	must(memcg_lruvec(memcg_unaccounted(), 0) == &memory_nodes[0].lruvec);
	must(lruvec_is_node(memcg_lruvec(NULL, 1)));
	must(memory_nodes[1].lruvec.node == &memory_nodes[1] && memory_nodes[1].id == 1);
	must(memcg_lruvec(memcg_root(), 1) == &memcg_root()->nodes[1].lruvec);
}

static void without_group(void **state)
{
	(void)state;
	child_expect_ok(child_run(without, NULL));
}

static void too_many(const void *arg)
{
	const struct memcg_options options = { .size = sizeof(options), .nr_nodes = NODES_MAX + 1 };

	(void)arg;
	must(memcg_init(&options) == -EINVAL);
	start(NODES_MAX);
	must(nodes_nr == NODES_MAX);
}

static void too_many_nodes(void **state)
{
	(void)state;
	child_expect_ok(child_run(too_many, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),         cmocka_unit_test(what_they_begin_as), cmocka_unit_test(late_node),
		cmocka_unit_test(without_group), cmocka_unit_test(too_many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
