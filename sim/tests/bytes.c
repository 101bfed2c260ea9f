/* SPDX-License-Identifier: MIT */
/* Bytes: stocks of parts of pages, reservations, moves, the heap. */
#include "tests/stage.h"
#include "tests/tests.h"

static struct memcg_objcg *owners[3];

static void two_owners(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 0);
	owners[1] = memcg_objcg_get(stage[1]);
	owners[2] = memcg_objcg_get(stage[2]);
}

static void objects(void)
{
	stage_charge_bytes(owners[2], 2, 100);
	stage_charge_bytes(owners[2], 2, 4000);
	stage_uncharge_bytes(owners[2], 2, 4000);
	stage_charge_bytes(owners[2], 2, 9000);
	stage_uncharge_bytes(owners[2], 2, 9000);
}

static void drains(void)
{
	stage_drain(1);
}

const struct sim_test test_bytes_drain = {
	.name = "bytes-drain",
	.about = "bytes are charged and uncharged against a drain",
	.cpus = 2,
	.threads = { objects, objects, drains },
	.setup = two_owners,
	.check = stage_conserved,
	.invariant = stage_room,
};

static void moves(void)
{
	stage_charge_bytes(owners[2], 2, 5000);
	if (!memcg_move_bytes(owners[2], owners[1], 5000, 0)) {
		sim_note(STAGE_GROUPS + 2, -5000);
		sim_note(STAGE_GROUPS + 1, 5000);
	}
}

static void reserves(void)
{
	struct memcg_reservation reservation;

	memcg_reserve(&reservation, stage[2]);
	sim_check(memcg_resize(&reservation, 3000, 0) == 0);
	sim_check(memcg_resize(&reservation, 8000, 0) == 0);
	memcg_unreserve(&reservation);
}

const struct sim_test test_bytes_move = {
	.name = "bytes-move",
	.about = "moves and reservations beside objects",
	.cpus = 2,
	.threads = { moves, reserves, drains },
	.setup = two_owners,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

static void *block;

static void allocates(void)
{
	struct memcg *previous = memcg_enter(stage[2]);
	char *mine = memcg_malloc(50);

	sim_check(mine);
	mine[0] = 1;
	block = memcg_calloc(1, 3000);
	memcg_leave(previous);
	memcg_free(mine);
}

static void frees_other(void)
{
	struct memcg *previous = memcg_enter(stage[1]);
	void *mine = memcg_malloc(4096);

	memcg_free(mine);
	memcg_leave(previous);
}

static void nothing_charged(void)
{
	memcg_free(block);
	stage_conserved();
}

const struct sim_test test_heap = {
	.name = "heap",
	.about = "blocks of the heap are charged to scopes, and freed elsewhere",
	.cpus = 2,
	.threads = { allocates, frees_other, drains },
	.setup = two_owners,
	.check = nothing_charged,
	.invariant = stage_invariant,
};
