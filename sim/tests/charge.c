/* SPDX-License-Identifier: MIT */
/* Charge, uncharge and drain: A1, A2. */
#include "tests/stage.h"
#include "tests/tests.h"

static void two_groups(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
}

static void charges(void)
{
	for (int i = 0; i < 3; i++)
		stage_charge(2, 1);
	stage_uncharge(2, 2);
}

static void drains(void)
{
	stage_drain(1);
}

static void drains_group(void)
{
	stage_drain(2);
}

static void charges_large(void)
{
	stage_charge(2, 20);
	stage_uncharge(2, 17);
	stage_charge(2, 7);
	stage_uncharge(2, 10);
}

const struct sim_test test_charge_drain = {
	.name = "charge-drain",
	.about = "charges and uncharges against a drain",
	.cpus = 2,
	.threads = { charges, charges_large, drains },
	.setup = two_groups,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

const struct sim_test test_charge_preempted = {
	.name = "charge-preempted",
	.about = "the same with more threads than CPUs",
	.cpus = 1,
	.threads = { charges, charges_large, drains },
	.setup = two_groups,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

const struct sim_test test_two_drains = {
	.name = "two-drains",
	.about = "two drains at once against charges",
	.cpus = 3,
	.threads = { charges, drains, drains_group },
	.setup = two_groups,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

static void charges_once(void)
{
	stage_charge(1, 1);
}

static void one_group(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
}

static void drains_one(void)
{
	stage_drain(1);
}

const struct sim_test test_charge_drain_small = {
	.name = "charge-drain-small",
	.about = "one charge against one drain, small enough for an exhaustive search",
	.cpus = 2,
	.threads = { charges_once, drains_one },
	.setup = one_group,
	.check = stage_conserved,
	.invariant = stage_invariant,
	.exhaustive_bound = 3,
};

static void portable(void)
{
	stage_start_with(0, MEMCG_INIT_PORTABLE, MEMCG_INDEX_CPU_ID);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
}

const struct sim_test test_charge_portable = {
	.name = "charge-portable",
	.about = "charges against a drain, without restartable sections, index by CPU number",
	.cpus = 2,
	.threads = { charges, charges_large, drains },
	.setup = portable,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

static void portable_bytes(void)
{
	struct memcg_objcg *owner = memcg_objcg_get(stage[2]);

	stage_charge_bytes(owner, 2, 3000);
	stage_charge_bytes(owner, 2, 5000);
	stage_uncharge_bytes(owner, 2, 8000);
	memcg_objcg_put(owner);
}

const struct sim_test test_portable_irq = {
	.name = "portable-irq",
	.about = "the same with bytes, and a handler in the middle of it",
	.cpus = 2,
	.threads = { charges, portable_bytes, drains },
	.setup = portable,
	.check = stage_conserved,
	.invariant = stage_invariant,
	.handler = charges,
	.max_irqs = 2,
};

static void forces(void)
{
	stage_try(2, 5, MEMCG_FORCE);
	stage_uncharge(2, 5);
}

static void moves(void)
{
	if (stage_try(2, 3, 0))
		return;
	if (!memcg_move(stage[2], stage[3], 3, 0)) {
		sim_note(2, -3);
		sim_note(3, 3);
	}
}

static void limited(void)
{
	stage_start(0);
	stage_make(1, 0, 6);
	stage_make(2, 1, 4);
	stage_make(3, 1, 4);
}

const struct sim_test test_force_move = {
	.name = "force-move",
	.about = "forced charges and moves at a limit",
	.cpus = 2,
	.threads = { forces, moves, moves },
	.setup = limited,
	.check = stage_conserved,
};
