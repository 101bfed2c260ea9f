/* SPDX-License-Identifier: MIT */
/* Destruction: late refills, owners that die, lifetimes (A5, D1, D2, D3). */
#include "tests/stage.h"
#include "tests/tests.h"

static struct memcg_objcg *owner;

static void nested(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
}

static void with_owner(void)
{
	nested();
	owner = memcg_objcg_get(stage[2]);
}

static void charges_dying(void)
{
	stage_charge(2, 1);
	stage_charge(2, 1);
	stage_uncharge(2, 2);
	memcg_put(stage[2]);
}

static void destroys(void)
{
	struct memcg *group = memcg_get(stage[2]);

	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
	memcg_tick();
}

static void destroys_parent_later(void)
{
	destroys();
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	memcg_tick();
}

const struct sim_test test_destroy_charge = {
	.name = "destroy-charge",
	.about = "a group is destroyed while pages are charged and uncharged: late refills",
	.cpus = 2,
	.threads = { charges_dying, destroys_parent_later },
	.setup = nested,
	.check = stage_nothing_left,
};

static void charges_owner(void)
{
	stage_charge_bytes(owner, 2, 100);
	stage_charge_bytes(owner, 2, 5000);
	stage_uncharge_bytes(owner, 2, 100);
	stage_uncharge_bytes(owner, 2, 5000);
	memcg_objcg_put(owner);
}

static void destroys_all(void)
{
	destroys();
	memcg_put(stage[2]);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
}

const struct sim_test test_destroy_bytes = {
	.name = "destroy-bytes",
	.about = "a group is destroyed while bytes are charged through its owner",
	.cpus = 2,
	.threads = { charges_owner, destroys_all },
	.setup = with_owner,
	.check = stage_nothing_left,
};

static void charges_page_dying(void)
{
	stage_charge(2, 1);
	stage_uncharge(2, 1);
	memcg_put(stage[2]);
}

static void destroys_only(void)
{
	struct memcg *group = memcg_get(stage[2]);

	sim_check(memcg_destroy(group) == 0);
	memcg_put(group);
	memcg_tick();
}

static void leaf_left_nothing(void)
{
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_destroy_small = {
	.name = "destroy-small",
	.about = "one page against one destruction, small enough for an exhaustive search",
	.cpus = 2,
	.threads = { charges_page_dying, destroys_only },
	.setup = nested,
	.check = leaf_left_nothing,
	.exhaustive_bound = 2,
};

/*
 * Bytes that were charged after death, to the parent, are put into the dead owner's slot by
 * the fast path: exactly as many as fit, two pages, where one page is the owner's.
 */
static void charges_late(void)
{
	stage_charge_bytes(owner, 2, 100);
	stage_charge_bytes(owner, 2, 4196);
	stage_uncharge_bytes(owner, 2, 4196);
	stage_uncharge_bytes(owner, 2, 100);
	memcg_objcg_put(owner);
}

const struct sim_test test_late_bytes = {
	.name = "late-bytes",
	.about = "bytes charged to the parent land in the slot of a dead owner",
	.cpus = 1,
	.threads = { charges_late, destroys_all },
	.setup = with_owner,
	.check = stage_nothing_left,
};

/* What a dead owner's objects left in slots is nobody's: it refuses nobody, tidied up or not (A6). */

enum {
	WHOLE = 160
}; /* pages: an eighth of it is room for a byte slot */

static void left_over(void)
{
	stage_start(0);
	stage_make(1, 0, WHOLE);
	stage_make(2, 1, 0);
	owner = memcg_objcg_get(stage[2]);
	stage_charge_bytes(owner, 2, 5000);
	stage_uncharge_bytes(owner, 2, 5000);
	memcg_objcg_put(owner);
}

static void destroys_untidy(void)
{
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
}

static void wants_all(void)
{
	for (int i = 0; i < 2; i++) {
		sim_check(stage_try(1, WHOLE, MEMCG_MAY_SLEEP) == 0);
		stage_uncharge(1, WHOLE);
	}
}

const struct sim_test test_dead_bytes = {
	.name = "dead-bytes",
	.about = "a charge of the whole limit while a group below dies that left parts of pages in slots",
	.cpus = 2,
	.threads = { destroys_untidy, wants_all, memcg_tick },
	.setup = left_over,
	.check = leaf_left_nothing,
};

/* Objects that outlive their group belong to the parent, exactly. */

static void objects_first(void)
{
	with_owner();
	stage_charge_bytes(owner, 2, 3000);
	stage_charge_bytes(owner, 2, 6000);
}

static void frees_one(void)
{
	stage_uncharge_bytes(owner, 2, 3000);
	stage_charge_bytes(owner, 2, 700);
}

static void frees_other(void)
{
	stage_uncharge_bytes(owner, 2, 6000);
}

static void destroys_leaf(void)
{
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
	memcg_tick();
}

static void belongs_to_parent(void)
{
	stage_tick();
	stage_drain(0);
	sim_check(stage_usage(1) == 1 && stage_usage(0) == 1); /* 700 bytes */
	memcg_uncharge_bytes(owner, 700);
	memcg_objcg_put(owner);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_reparent = {
	.name = "reparent",
	.about = "objects are charged and freed while their owner's group dies",
	.cpus = 2,
	.threads = { frees_one, frees_other, destroys_leaf },
	.setup = objects_first,
	.check = belongs_to_parent,
};

/* A group without handles lives by its pages alone: who gives back the last one frees it, beside who did not. */

static void zombie(void)
{
	nested();
	stage_charge(2, 2);
	sim_check(memcg_destroy(stage[2]) == 0);
	stage_tick();
	memcg_put(stage[2]);
}

static void returns_page(void)
{
	stage_uncharge(2, 1);
}

static void tidies_up(void)
{
	memcg_tick();
	memcg_tick();
}

static void zombie_is_gone(void)
{
	stage_tick();
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_zombie = {
	.name = "zombie",
	.about = "two threads give back the last pages of a group without handles",
	.cpus = 2,
	.threads = { returns_page, returns_page, tidies_up },
	.setup = zombie,
	.check = zombie_is_gone,
};

/* Numbers are reused; what was cached for the old group must not be the new one's. */

static void makes_and_destroys(void)
{
	struct memcg *group;

	for (int i = 0; i < 2; i++) {
		sim_check(memcg_create(stage[1], i ? "x" : "y", &group) == 0);
		sim_check(memcg_charge(group, 1, 0) == 0);
		memcg_uncharge(group, 1);
		sim_check(memcg_destroy(group) == 0);
		memcg_put(group);
		memcg_tick();
	}
}

static void charges_beside(void)
{
	stage_charge(2, 2);
	stage_uncharge(2, 1);
	stage_charge(2, 1);
	stage_uncharge(2, 2);
}

static void only_two_left(void)
{
	stage_tick();
	stage_conserved();
	sim_check(memcg_destroy(stage[2]) == 0);
	memcg_put(stage[2]);
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
	stage_nothing_left();
}

const struct sim_test test_create_destroy = {
	.name = "create-destroy",
	.about = "groups come and go, and with them their numbers, beside charges",
	.cpus = 2,
	.threads = { makes_and_destroys, charges_beside },
	.setup = nested,
	.check = only_two_left,
};

/* Walks, dumps and path names against destruction. */

static int visit(struct memcg *group, void *arg)
{
	char path[32];

	(void)arg;
	sim_check(memcg_path(group, path, sizeof(path)) >= 0);
	return 0;
}

static void walks(void)
{
	sim_check(memcg_walk(NULL, visit, NULL) == 0);
}

static void opens(void)
{
	struct memcg *group;
	int err = memcg_open("a/b", &group);

	if (err)
		return;
	if (!memcg_charge(group, 1, 0))
		memcg_uncharge(group, 1);
	memcg_put(group);
}

const struct sim_test test_walk_destroy = {
	.name = "walk-destroy",
	.about = "a walk and an open against destruction",
	.cpus = 2,
	.threads = { walks, opens, destroys_all },
	.setup = nested,
	.check = stage_nothing_left,
};

/* The thread's group: scopes and homes. */

static void scopes(void)
{
	struct memcg *previous = memcg_enter(stage[2]);

	sim_check(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
	memcg_leave(previous);
	memcg_put(stage[2]);
}

static void attaches(void)
{
	if (!memcg_attach(stage[2])) {
		sim_check(memcg_charge(NULL, 1, 0) == 0);
		memcg_uncharge(NULL, 1);
		sim_check(memcg_attach(NULL) == 0);
	}
	memcg_put(stage[2]);
}

/* Each thread has a reference of its own. */
static void three_handles(void)
{
	nested();
	memcg_get(stage[2]);
	memcg_get(stage[2]);
}

static void destroys_when_empty(void)
{
	while (memcg_destroy(stage[2]))
		sim_yield();
	memcg_put(stage[2]);
	memcg_tick();
	sim_check(memcg_destroy(stage[1]) == 0);
	memcg_put(stage[1]);
}

const struct sim_test test_scope = {
	.name = "scope",
	.about = "scopes and homes of threads against destruction",
	.cpus = 2,
	.threads = { scopes, attaches, destroys_when_empty },
	.setup = three_handles,
	.check = stage_nothing_left,
};
