/* SPDX-License-Identifier: MIT */
/*
 * B5: fork at any instant. The other threads vanish where they stand; the levels of the
 * child's tree agree, and it goes on: charges, drains, destroys.
 */
#include "tests/stage.h"
#include "tests/tests.h"

static struct memcg_objcg *owner;

static void chain(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	owner = memcg_objcg_get(stage[2]);
}

static void pages(void)
{
	stage_swing(2);
}

static void bytes(void)
{
	stage_charge_bytes(owner, 2, 3000);
	stage_charge_bytes(owner, 2, 6000);
	stage_uncharge_bytes(owner, 2, 9000);
}

static void levels_agree(void)
{
	sim_check(stage_usage(2) == stage_usage(1));
	sim_check(stage_usage(1) == stage_usage(0));
}

/* Everything is charged at the leaf: each level counts the same. */
static void child_goes_on(void)
{
	sim_fork_child();
	levels_agree();
	sim_check(memcg_charge(stage[2], 3, MEMCG_MAY_SLEEP) == 0);
	stage_drain(0);
	levels_agree();
	memcg_uncharge(stage[2], 3);
	memcg_tick();
	levels_agree();
}

static void parent_goes_on(void)
{
	sim_fork_parent();
	stage_charge(2, 1);
}

static void check_chain(void)
{
	if (!sim_in_child())
		stage_conserved();
}

const struct sim_test test_fork_charge = {
	.name = "fork-charge",
	.about = "fork amid charges: the child",
	.cpus = 2,
	.threads = { pages, bytes, child_goes_on },
	.setup = chain,
	.check = check_chain,
};

const struct sim_test test_fork_parent = {
	.name = "fork-parent",
	.about = "fork amid charges: the parent",
	.cpus = 2,
	.threads = { pages, bytes, parent_goes_on },
	.setup = chain,
	.check = check_chain,
	.invariant = stage_invariant,
};

static void drains(void)
{
	stage_drain(1);
}

static void limits(void)
{
	stage_set_max(1, 64);
	stage_try(2, 65, MEMCG_MAY_SLEEP);
}

const struct sim_test test_fork_drain = {
	.name = "fork-drain",
	.about = "fork amid drains and refusals: the child",
	.cpus = 3,
	.threads = { drains, limits, child_goes_on },
	.setup = chain,
	.check = check_chain,
};

static void destroys(void)
{
	struct memcg *group;

	sim_check(memcg_create(stage[1], "x", &group) == 0);
	sim_check(memcg_attach(group) == 0);
	sim_check(memcg_attach(NULL) == 0);
	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
	memcg_tick();
}

static void child_destroys(void)
{
	struct memcg *group;

	sim_fork_child();
	levels_agree();
	sim_check(memcg_create(stage[1], "y", &group) == 0);
	sim_check(memcg_attach(group) == 0);
	sim_check(memcg_attach(NULL) == 0);
	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
	memcg_tick();
	sim_check(memcg_walk(NULL, NULL, NULL) < 0);
}

const struct sim_test test_fork_destroy = {
	.name = "fork-destroy",
	.about = "fork amid creation, attachment and destruction: the child",
	.cpus = 2,
	.threads = { destroys, pages, child_destroys },
	.setup = chain,
	.check = check_chain,
};
