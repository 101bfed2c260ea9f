/* SPDX-License-Identifier: MIT */
/* Statistics: updates against flushes, handlers and destruction (C1, C3, B4). */
#include "tests/stage.h"

#include "group/group.h"
#include "group/stat.h"
#include "stat/rstat.h"
#include "tests/tests.h"

enum {
	DONE = 20, /* accounts of the ledger: what updates of STAT_FILE that returned add up to, by group */
};

static void nested(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	stage_make(3, 1, 0);
}

static void add(unsigned int nr, long pages)
{
	memcg_mod_node(stage[nr], 0, STAT_FILE, pages);
	sim_note(DONE + nr, pages);
}

static long state(unsigned int nr)
{
	return stat_state(stage[nr]->stat, STAT_FILE);
}

static long below(unsigned int nr)
{
	long sum = sim_noted(DONE + nr);

	if (nr <= 1)
		sum += sim_noted(DONE + 2) + sim_noted(DONE + 3);
	return nr ? sum : sum + sim_noted(DONE + 1);
}

/* Both kinds of arrays, the node's own count, and nothing left pending. */
static void exact(void)
{
	rstat_flush(stage[0]->stat);
	for (unsigned int nr = 0; nr < 4; nr++) {
		const struct group_stat *stat = stage[nr]->stat;

		sim_check(state(nr) == below(nr));
		sim_check(stat_node_state(stat, 0, STAT_FILE) == below(nr));
		sim_check(stat_node_local(stat, 0, STAT_FILE) == sim_noted(DONE + nr));
		sim_check(stat->pending[STAT_FILE] == 0 && stat->nodes[0].pending[STAT_FILE] == 0);
		sim_check(!stat->linked);
	}
	sim_check(stat_node_wide_read(0, STAT_FILE) == below(0));
}

static void updates(void)
{
	add(2, 1);
	add(3, 70);
	add(2, 2);
}

static void updates_parent(void)
{
	add(1, 3);
	add(2, 100);
}

/* R1: what returned before is in it. Counts only grow here. */
static void flushes(void)
{
	for (int i = 0; i < 2; i++) {
		long least = below(0);

		rstat_flush(stage[0]->stat);
		sim_check(state(0) >= least);
	}
}

const struct sim_test test_stat_flush = {
	.name = "stat-flush",
	.about = "updates against flushes of the root: exact for what returned before",
	.cpus = 2,
	.threads = { updates, updates_parent, flushes },
	.setup = nested,
	.check = exact,
};

/* A part of the tree is flushed beside the whole. */
static void flushes_part(void)
{
	long least = below(1);

	rstat_flush(stage[1]->stat);
	sim_check(state(1) >= least);
	least = below(3);
	rstat_flush(stage[3]->stat);
	sim_check(state(3) >= least);
}

const struct sim_test test_stat_part = {
	.name = "stat-part",
	.about = "updates against flushes of parts and of the whole",
	.cpus = 2,
	.threads = { updates, flushes_part, flushes },
	.setup = nested,
	.check = exact,
};

/* Two threads take turns on one CPU: one is stopped amid an update of a block that the other updates. */
static void same_block(void)
{
	add(2, 1);
	add(2, 1);
}

const struct sim_test test_stat_preempted = {
	.name = "stat-preempted",
	.about = "an update is preempted in its middle, and another of the same block goes on",
	.cpus = 1,
	.threads = { same_block, same_block, flushes },
	.setup = nested,
	.check = exact,
};

static void portable(void)
{
	stage_start_with(0, MEMCG_INIT_PORTABLE, MEMCG_INDEX_MM_CID);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	stage_make(3, 1, 0);
}

const struct sim_test test_stat_portable = {
	.name = "stat-portable",
	.about = "updates by exchanges against flushes",
	.cpus = 2,
	.threads = { updates, updates_parent, flushes },
	.setup = portable,
	.check = exact,
};

static void handler(void)
{
	add(2, 5);
	add(3, 64);
}

const struct sim_test test_stat_irq = {
	.name = "stat-irq",
	.about = "a handler counts in the middle of updates and flushes",
	.cpus = 2,
	.threads = { updates, same_block, flushes },
	.setup = nested,
	.check = exact,
	.handler = handler,
	.max_irqs = 3,
};

/* C1: what a reader that flushes when it is due can miss. Each call under way may have a report to make. */
static void reads(void)
{
	for (int i = 0; i < 4; i++) {
		long least = below(1);

		rstat_flush_if_due(stage[1]->stat);
		sim_check(state(1) + 127L * 2 + 2L * (63 + 70) >= least);
	}
}

static void many_updates(void)
{
	for (int i = 0; i < 6; i++)
		add(2 + (unsigned int)i % 2, 70);
}

const struct sim_test test_stat_lag = {
	.name = "stat-lag",
	.about = "a reader that flushes when it is due sees all but what may lag, also beside another's flush",
	.cpus = 2,
	.threads = { many_updates, many_updates, reads, flushes },
	.setup = nested,
	.check = exact,
};

/* C3. The updater keeps its own reference. */
static void with_reference(void)
{
	nested();
	memcg_get(stage[2]);
}

static void updates_dying(void)
{
	memcg_mod_node(stage[2], 0, STAT_FILE, 4);
	sim_note(DONE, 4);
	memcg_mod_node(stage[2], 0, STAT_FILE, 66);
	sim_note(DONE, 66);
	memcg_mod_node(stage[2], 0, STAT_FILE, -1);
	sim_note(DONE, -1);
	memcg_put(stage[2]);
}

static void destroys_leaf(void)
{
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_tick();
}

static void counted_above(void)
{
	stage_tick();
	rstat_flush(stage[0]->stat);
	sim_check(stage[2]->stat->freed);
	sim_check(state(1) == sim_noted(DONE) && state(0) == sim_noted(DONE));
	sim_check(stat_node_local(stage[1]->stat, 0, STAT_FILE) == sim_noted(DONE));
	memcg_put(stage[2]);
	sim_check(memcg_destroy(stage[3]) == 0);
	memcg_put(stage[3]);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
	rstat_flush(stage[0]->stat);
	sim_check(state(0) == sim_noted(DONE));
	sim_check(stat_node_local(stage[0]->stat, 0, STAT_FILE) == sim_noted(DONE));
}

const struct sim_test test_stat_destroy = {
	.name = "stat-destroy",
	.about = "a group is destroyed while it is counted for: totals above do not change",
	.cpus = 2,
	.threads = { updates_dying, destroys_leaf },
	.setup = with_reference,
	.check = counted_above,
};

/* One page is taken back before the ledger knows. */
static void flushes_beside(void)
{
	for (int i = 0; i < 2; i++) {
		long least = below(0) - 1;

		rstat_flush(stage[0]->stat);
		sim_check(state(0) >= least);
	}
}

const struct sim_test test_stat_destroy_flush = {
	.name = "stat-destroy-flush",
	.about = "the same beside flushes",
	.cpus = 2,
	.threads = { updates_dying, destroys_leaf, flushes_beside },
	.setup = with_reference,
	.check = counted_above,
};

/* A block that a dead group had is another's at once. */
static void makes_again(void)
{
	struct memcg *group;

	destroys_leaf();
	sim_check(memcg_create(stage[1], "x", &group) == 0);
	memcg_mod_node(group, 0, STAT_FILE, 2);
	sim_note(DONE, 2);
	rstat_flush(group->stat);
	sim_check(stat_state(group->stat, STAT_FILE) == 2);
	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
}

const struct sim_test test_stat_reuse = {
	.name = "stat-reuse",
	.about = "a dead group's block is given to a new one, beside late updates of the dead one",
	.cpus = 2,
	.threads = { updates_dying, makes_again },
	.setup = with_reference,
	.check = counted_above,
};
