/* SPDX-License-Identifier: MIT */
/* Updates and flushes, of one thread: exact sums, what a flush visits, lag, nodes, death (C1, C2, C3). */
#include "support/stat_tree.h"

#include "stat/rstat.h"

static struct memcg *top, *mid, *leaf, *other;

static void make_tree(void)
{
	top = group_make(NULL, "top");
	mid = group_make(top, "mid");
	leaf = group_make(mid, "leaf");
	other = group_make(NULL, "other");
}

static void destroy(struct memcg *memcg)
{
	must(memcg_destroy(memcg) == 0);
	memcg_put(memcg);
}

static void destroy_tree(void)
{
	destroy(leaf);
	destroy(mid);
	destroy(top);
	destroy(other);
	memcg_tick();
	memcg_tick();
}

static void flush_all(void)
{
	rstat_flush(memcg_root()->stat);
}

/* Every item, per node and of the group, goes up exactly. */
static void exact(void)
{
	unsigned int item, node;

	make_tree();
	for (item = 0; item < STAT_NR; item++) {
		for (node = 0; node < (item < STAT_NODE_END ? nodes_nr : 1); node++) {
			stat_mod(leaf, node, (enum stat_item)item, 3 + (long)item);
			stat_mod(mid, node, (enum stat_item)item, -1);
			stat_mod(other, node, (enum stat_item)item, 10);
		}
	}
	flush_all();
	for (item = 0; item < STAT_NR; item++) {
		long nodes = item < STAT_NODE_END ? (long)nodes_nr : 1;
		enum stat_item i = (enum stat_item)item;

		must(stat_state(leaf->stat, i) == nodes * (3 + (long)item));
		must(stat_state(mid->stat, i) == nodes * (2 + (long)item));
		must(stat_state(top->stat, i) == nodes * (2 + (long)item));
		must(stat_state(other->stat, i) == nodes * 10);
		for (node = 0; item < STAT_NODE_END && node < nodes_nr; node++) {
			must(stat_node_state(top->stat, node, i) == 2 + (long)item);
			must(stat_node_local(top->stat, node, i) == 0);
			must(stat_node_local(mid->stat, node, i) == -1);
			must(stat_node_local(leaf->stat, node, i) == 3 + (long)item);
			must(stat_node_wide_read(node, i) == 12 + (long)item);
		}
	}
	stat_conserved();
	for (item = 0; item < STAT_NR; item++) {
		for (node = 0; node < (item < STAT_NODE_END ? nodes_nr : 1); node++) {
			stat_mod(leaf, node, (enum stat_item)item, -3 - (long)item);
			stat_mod(mid, node, (enum stat_item)item, 1);
			stat_mod(other, node, (enum stat_item)item, -10);
		}
	}
	flush_all();
	stat_conserved();
	for (item = 0; item < STAT_NR; item++)
		must(stat_state(memcg_root()->stat, (enum stat_item)item) == 0);
	destroy_tree();
}

/* A flush visits what was updated, and those above it; a group that is clean is not flushed (C2). */
static void visits(void)
{
	uint64_t before, flushes;
	unsigned int i;

	make_tree();
	for (i = 0; i < 100; i++)
		group_make_nr(other, i);
	flush_all();
	before = rstat.flushed_groups;
	flush_all();
	must(rstat.flushed_groups == before);
	memcg_mod_node(leaf, 0, STAT_ANON, 1);
	memcg_mod_node(other, 0, STAT_ANON, 1);
	rstat_flush(mid->stat);
	must(rstat.flushed_groups == before + 2); /* leaf, mid */
	must(stat_state(mid->stat, STAT_ANON) == 1);
	must(stat_state(top->stat, STAT_ANON) == 0 && stat_state(other->stat, STAT_ANON) == 0);
	flush_all();
	must(rstat.flushed_groups == before + 5); /* top, other, root */
	must(stat_state(memcg_root()->stat, STAT_ANON) == 2);
	flushes = rstat.flushes;
	rstat_flush_if_due(leaf->stat);
	rstat_flush_if_due(memcg_root()->stat);
	must(rstat.flushes == flushes);
	for (i = 0; i < 100; i++) {
		char path[24];
		struct memcg *memcg;

		snprintf(path, sizeof(path), "other/g%u", i);
		must(memcg_open(path, &memcg) == 0);
		memcg_put(memcg);
		destroy(memcg);
	}
	memcg_tick();
	memcg_mod_node(leaf, 0, STAT_ANON, -1);
	memcg_mod_node(other, 0, STAT_ANON, -1);
	destroy_tree();
	flush_all();
	stat_conserved();
}

/* What one index keeps to itself is under 64 page units; beyond 64 for each index in use a reader flushes (C1). */
static void lag(void)
{
	const int64_t most = 127 * (rstat.threshold / RSTAT_BATCH + 1);
	long sum = 0;
	int i;

	make_tree();
	flush_all();
	for (i = 0; i < 3000; i++) {
		struct memcg *who = i % 3 ? leaf : mid;
		long nr = i % 7 ? 1 : 5;

		memcg_mod_node(who, 0, STAT_FILE, nr);
		sum += nr;
		rstat.last = clock_ns(); /* age alone makes none due */
		rstat_flush_if_due(top->stat);
		must(sum - stat_state(top->stat, STAT_FILE) >= 0);
		must(sum - stat_state(top->stat, STAT_FILE) <= most);
	}
	must(stat_state(top->stat, STAT_FILE) > 0);
	flush_all();
	must(stat_state(top->stat, STAT_FILE) == sum);
	memcg_mod_node(leaf, 0, STAT_FILE, -sum);
	flush_all();
	stat_conserved();
	destroy_tree();
}

/* A group that is due at once, by bytes that are worth pages. */
static void units(void)
{
	make_tree();
	flush_all();
	memcg_mod_node(leaf, 0, STAT_SLAB_RECLAIMABLE, 4096 * 1000);
	must(leaf->stat->updates >= 1000 && leaf->stat->updates < 1064);
	must(memcg_root()->stat->updates > rstat.threshold);
	rstat_flush_if_due(leaf->stat);
	must(stat_state(leaf->stat, STAT_SLAB_RECLAIMABLE) == 4096 * 1000);
	must(leaf->stat->updates == 0);
	memcg_mod_node(leaf, 0, STAT_SLAB_RECLAIMABLE, -4096 * 1000);
	must(leaf->stat->updates >= 1000);
	destroy_tree();
	flush_all();
	stat_conserved();
}

/* Age makes a flush due, and the clock of periodic flushes is the root's. */
static void age(void)
{
	uint64_t flushes;

	make_tree();
	flush_all();
	memcg_mod_node(leaf, 0, STAT_ANON, 2);
	rstat_flush_if_due(leaf->stat);
	must(stat_state(leaf->stat, STAT_ANON) == 0);
	rstat.last -= RSTAT_PERIOD_NS;
	rstat_flush_if_due(leaf->stat);
	must(stat_state(leaf->stat, STAT_ANON) == 2 && stat_state(memcg_root()->stat, STAT_ANON) == 2);
	rstat.last -= RSTAT_PERIOD_NS;
	flushes = rstat.flushes;
	rstat_flush_if_due(leaf->stat); /* old, but clean */
	must(rstat.flushes == flushes);
	memcg_mod_node(leaf, 0, STAT_ANON, 5000);
	rstat_flush_ratelimited(leaf->stat); /* not late */
	must(stat_state(leaf->stat, STAT_ANON) == 2);
	rstat.last -= RSTAT_LATE_NS;
	rstat_flush_ratelimited(leaf->stat);
	must(stat_state(leaf->stat, STAT_ANON) == 5002);
	memcg_mod_node(leaf, 0, STAT_ANON, -5002);
	destroy_tree();
	flush_all();
	stat_conserved();
}

/* Totals above do not change when a group dies; what comes later through it counts at the living one above (C3). */
static void death(void)
{
	struct memcg *kept;

	make_tree();
	memcg_mod_node(leaf, nodes_nr - 1, STAT_ANON, 40);
	memcg_count_event(leaf, STAT_PGFAULT, 7);
	kept = memcg_get(leaf);
	destroy(leaf);
	memcg_tick();
	flush_all();
	must(stat_state(mid->stat, STAT_ANON) == 40 && stat_state(mid->stat, STAT_PGFAULT) == 7);
	must(stat_node_local(mid->stat, nodes_nr - 1, STAT_ANON) == 40); /* its objects are */
	must(kept->stat->freed);
	memcg_mod_node(kept, nodes_nr - 1, STAT_ANON, -15);
	memcg_mod_lruvec(memcg_lruvec(kept, nodes_nr - 1), STAT_ANON, -5);
	memcg_count_event(kept, STAT_PGFAULT, 1);
	flush_all();
	must(stat_state(mid->stat, STAT_ANON) == 20 && stat_state(mid->stat, STAT_PGFAULT) == 8);
	must(stat_node_local(mid->stat, nodes_nr - 1, STAT_ANON) == 20);
	stat_conserved();
	destroy(mid);
	destroy(top);
	memcg_tick();
	/* The nearest living one is the root now. */
	memcg_mod_node(kept, nodes_nr - 1, STAT_ANON, -20);
	flush_all();
	must(stat_state(memcg_root()->stat, STAT_ANON) == 0);
	memcg_put(kept);
	destroy(other);
	memcg_tick();
	memcg_tick();
	stat_conserved();
	must(memcg_root()->css.nr_dying == 0);
}

/* A node that is not online yet counts too: nothing moves when it comes. */
static void late_node(void)
{
	if (nodes_nr < 2)
		return;
	nodes_set_online(1, false);
	make_tree();
	memcg_mod_node(leaf, 1, STAT_FILE, 9);
	nodes_set_online(1, true);
	memcg_mod_lruvec(memcg_lruvec(leaf, 1), STAT_FILE, 1);
	flush_all();
	must(stat_node_state(top->stat, 1, STAT_FILE) == 10);
	must(stat_node_wide_read(1, STAT_FILE) == 10);
	memcg_mod_node(leaf, 1, STAT_FILE, -10);
	destroy_tree();
	flush_all();
	stat_conserved();
}

/* What has no group counts for its node alone. */
static void no_group(void)
{
	int64_t before = stat_node_wide_read(0, STAT_FILE);

	memcg_mod_node(NULL, 0, STAT_FILE, 3);
	memcg_mod_node(memcg_unaccounted(), 0, STAT_FILE, 4);
	memcg_mod_lruvec(memcg_lruvec(NULL, 0), STAT_FILE, 5);
	memcg_mod_state(memcg_unaccounted(), STAT_SOCK, 4);
	flush_all();
	must(stat_node_wide_read(0, STAT_FILE) == before + 12);
	must(stat_state(memcg_root()->stat, STAT_FILE) == 0);
	memcg_mod_node(NULL, 0, STAT_FILE, -12);
}

/* The child of a fork has what the parent had, and goes on by itself. */
static void fork_goes_on(void)
{
	pid_t pid;

	make_tree();
	memcg_mod_node(leaf, 0, STAT_ANON, 7);
	pid = child_fork();
	if (!pid) {
		memcg_mod_node(leaf, 0, STAT_ANON, 3);
		stat_conserved();
		must(stat_state(top->stat, STAT_ANON) == 10);
		destroy_tree();
		stat_conserved();
		must(stat_state(memcg_root()->stat, STAT_ANON) == 10);
		child_end(0);
	}
	must(child_wait(pid) == 0);
	stat_conserved();
	must(stat_state(top->stat, STAT_ANON) == 7);
	memcg_mod_node(leaf, 0, STAT_ANON, -7);
	destroy_tree();
	flush_all();
}

static int run(void)
{
	fork_goes_on();
	exact();
	visits();
	lag();
	units();
	age();
	death();
	late_node();
	no_group();
	stat_conserved();
	return 0;
}

int main(void)
{
	return stat_forms_main(run);
}
