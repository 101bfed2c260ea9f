/* SPDX-License-Identifier: MIT */
/* Slots: replacement against refill, and the budget of a CPU. */
#include "tests/stage.h"
#include "tests/tests.h"

/* The simulator build has one set of four ways: the fifth and sixth group replace. */
static void six_groups(void)
{
	stage_start(0);
	for (unsigned int i = 1; i <= 6; i++)
		stage_make(i, 0, 0);
	for (unsigned int i = 1; i <= 4; i++)
		stage_charge(i, 4);
}

static void fills_first(void)
{
	for (unsigned int i = 1; i <= 4; i++)
		stage_charge(i, 1);
	stage_uncharge(1, 1);
}

static void replaces(void)
{
	stage_charge(5, 1);
	stage_uncharge(1, 1);
	stage_charge(6, 1);
	stage_uncharge(2, 1);
}

const struct sim_test test_replace_refill = {
	.name = "replace-refill",
	.about = "slots are replaced while others refill them, more groups than ways",
	.cpus = 2,
	.threads = { fills_first, replaces, replaces },
	.setup = six_groups,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

static void refills_handler(void)
{
	stage_charge(1, 1);
	stage_uncharge(5, 1);
}

static void all_ways(void)
{
	six_groups();
	stage_charge(5, 2);
}

static void fills_then_replaces(void)
{
	fills_first();
	stage_charge(6, 1);
	stage_charge(5, 1);
}

const struct sim_test test_replace_irq = {
	.name = "replace-irq",
	.about = "a handler replaces what the interrupted code is about to replace",
	.cpus = 1,
	.threads = { fills_then_replaces },
	.setup = all_ways,
	.check = stage_conserved,
	.invariant = stage_invariant,
	.handler = refills_handler,
	.max_irqs = 2,
};

/* A budget for one slot: the next one evicts it. */
static void tight(void)
{
	stage_start(16);
	stage_make(1, 0, 0);
	stage_make(2, 0, 0);
}

static void in_a_limit(void)
{
	stage_start(48);
	stage_make(1, 0, 256);
	stage_make(2, 1, 160);
	stage_make(3, 1, 0);
}

static void there_and_back(unsigned int nr, unsigned long pages)
{
	if (!stage_try(nr, pages, 0)) /* the variants may refuse: their stock is no fraction of a limit */
		stage_uncharge(nr, pages);
}

static void grows_and_falls(void)
{
	there_and_back(2, 1);
	stage_try(3, 9, 0);
	there_and_back(2, 17);
	there_and_back(3, 20);
}

static void drains_all(void)
{
	stage_drain(1);
}

const struct sim_test test_room = {
	.name = "room",
	.about = "slots are placed and grow within the CPU's budget and an eighth of each limit",
	.cpus = 2,
	.threads = { grows_and_falls, grows_and_falls, drains_all },
	.setup = in_a_limit,
	.check = stage_conserved,
	.invariant = stage_room,
};

static void takes_turns(void)
{
	stage_charge(1, 1);
	stage_charge(2, 1);
	stage_uncharge(1, 1);
}

const struct sim_test test_budget = {
	.name = "budget",
	.about = "a budget of one slot: each placement evicts another",
	.cpus = 2,
	.threads = { takes_turns, takes_turns, takes_turns },
	.setup = tight,
	.check = stage_conserved,
	.invariant = stage_invariant,
};
