/* SPDX-License-Identifier: MIT */
/* B4: a signal handler that charges and uncharges, in the middle of everything. */
#include "tests/stage.h"
#include "tests/tests.h"

static struct memcg_objcg *owner;

static void stage_of_two(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	owner = memcg_objcg_get(stage[2]);
}

static void handler(void)
{
	stage_charge(2, 1);
	stage_charge_bytes(owner, 2, 200);
	stage_uncharge(2, 1);
	stage_uncharge_bytes(owner, 2, 200);
}

static void pages(void)
{
	stage_swing(2);
}

static void bytes(void)
{
	stage_charge_bytes(owner, 2, 3000);
	stage_charge_bytes(owner, 2, 3000);
	stage_uncharge_bytes(owner, 2, 6000);
}

static void drains(void)
{
	stage_drain(1);
}

const struct sim_test test_irq_charge = {
	.name = "irq-charge",
	.about = "a handler charges in the middle of charges and drains",
	.cpus = 2,
	.threads = { pages, bytes, drains },
	.setup = stage_of_two,
	.check = stage_conserved,
	.invariant = stage_invariant,
	.handler = handler,
	.max_irqs = 3,
};

static void destroys(void)
{
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
	memcg_tick();
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	memcg_tick();
}

/* The handler's own. */
static void another_handle(void)
{
	stage_of_two();
	memcg_get(stage[2]);
}

static void drops_owner(void)
{
	memcg_put(stage[2]);
	memcg_objcg_put(owner);
	stage_nothing_left();
}

const struct sim_test test_irq_destroy = {
	.name = "irq-destroy",
	.about = "a handler charges in the middle of destruction and reparenting",
	.cpus = 2,
	.threads = { bytes, destroys },
	.setup = another_handle,
	.check = drops_owner,
	.handler = handler,
	.max_irqs = 2,
};

enum {
	MAX = 160
};

static void limited(void)
{
	stage_start(0);
	stage_make(1, 0, MAX);
	stage_make(2, 1, 0);
	owner = memcg_objcg_get(stage[2]);
}

static void refused(void)
{
	sim_check(stage_try(2, MAX + 1, MEMCG_MAY_SLEEP) != 0);
}

static void lowers(void)
{
	stage_set_max(1, MAX / 2);
}

static void pages_if_granted(void)
{
	if (!stage_try(2, 20, 0))
		stage_uncharge(2, 20);
}

static void handler_at_limit(void)
{
	if (!stage_try(2, 3, 0))
		stage_uncharge(2, 3);
}

const struct sim_test test_irq_limit = {
	.name = "irq-limit",
	.about = "a handler charges in the middle of refusals, drains and limit writes",
	.cpus = 2,
	.threads = { refused, lowers, pages_if_granted },
	.setup = limited,
	.check = stage_conserved,
	.invariant = stage_invariant,
	.handler = handler_at_limit,
	.max_irqs = 3,
};
