/* SPDX-License-Identifier: MIT */
/*
 * Eight threads do everything at random: charge, move, resize, allocate, free each other's blocks, create, destroy, write
 * limits, drain. When all is given back, nothing is left anywhere (A1), and the root's peak knows the highest
 * usage that anybody saw.
 */
#include <memcg/heap.h>

#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define THREADS 8U
#define TENANTS 5U
#define HOLDS 16U
#define BOXES 64U

struct hold {
	struct memcg *group;              /* who was charged, with a reference */
	unsigned long pages;              /* charged; 0: the entry is free */
	struct memcg_objcg *objcg;        /* owner of bytes, with a reference */
	size_t bytes;                     /* charged; 0: free */
	struct memcg_reservation reserve; /* objcg NULL: free */
};

static struct memcg *tenants[TENANTS];
static void *boxes[BOXES]; /* blocks on their way to another thread */
static bool stop;
static unsigned long highest, done;

static struct memcg *some_tenant(uint32_t *state)
{
	return tenants[rng(state) % TENANTS];
}

static unsigned int some_flags(uint32_t *state)
{
	uint32_t dice = rng(state) % 100;

	if (dice < 3)
		return MEMCG_FORCE;
	return dice < 20 ? MEMCG_MAY_SLEEP : 0;
}

static unsigned long some_pages(uint32_t *state)
{
	return rng(state) % 8 ? 1 + rng(state) % 40 : 1 + rng(state) % 400;
}

static void pages_step(struct hold *hold, struct memcg *group, uint32_t *state)
{
	unsigned long pages = some_pages(state), part;

	if (!hold->pages) {
		if (memcg_charge(group, pages, some_flags(state)) == 0) {
			hold->group = memcg_get(group);
			hold->pages = pages;
		}
		return;
	}
	if (rng(state) % 4 == 0 && memcg_move(hold->group, group, hold->pages, some_flags(state)) == 0) {
		memcg_get(group);
		memcg_put(hold->group);
		hold->group = group;
		return;
	}
	part = 1 + rng(state) % hold->pages;
	memcg_uncharge(hold->group, part);
	hold->pages -= part;
	if (!hold->pages)
		memcg_put(hold->group);
}

static void bytes_step(struct hold *hold, struct memcg *group, uint32_t *state)
{
	size_t size = 1 + rng(state) % 20000;
	struct memcg_objcg *to;

	if (!hold->bytes) {
		hold->objcg = memcg_objcg_get(group);
		if (memcg_charge_bytes(hold->objcg, size, some_flags(state)) == 0)
			hold->bytes = size;
		else
			memcg_objcg_put(hold->objcg);
		return;
	}
	to = memcg_objcg_get(group);
	if (rng(state) % 2 && memcg_move_bytes(hold->objcg, to, hold->bytes, some_flags(state)) == 0) {
		memcg_objcg_put(hold->objcg);
		hold->objcg = to;
		return;
	}
	memcg_objcg_put(to);
	size = 1 + rng(state) % hold->bytes;
	memcg_uncharge_bytes(hold->objcg, size);
	hold->bytes -= size;
	if (!hold->bytes)
		memcg_objcg_put(hold->objcg);
}

static void reserve_step(struct hold *hold, struct memcg *group, uint32_t *state)
{
	if (!hold->reserve.objcg)
		memcg_reserve(&hold->reserve, group);
	else if (rng(state) % 8 == 0)
		memcg_unreserve(&hold->reserve);
	else
		(void)memcg_resize(&hold->reserve, rng(state) % 50000, some_flags(state));
}

static void heap_step(struct memcg *group, uint32_t *state)
{
	size_t align = rng(state) % 4 ? 0 : (size_t)16 << rng(state) % 6;
	void *block = memcg_heap_alloc(group, align, rng(state) % 9000, some_flags(state));

	if (block && rng(state) % 3 == 0) {
		void *other = memcg_heap_realloc(NULL, block, rng(state) % 9000, some_flags(state));

		block = other ? other : block;
	}
	memcg_free(atomic_xchg(&boxes[rng(state) % BOXES], block));
}

static void limit_step(struct memcg *group, uint32_t *state)
{
	if (rng(state) % 2)
		group_max(group, rng(state) % 3000);
	else
		group_max_none(group);
}

/* A group of this thread's own: used like any other, then destroyed with whatever it holds. */
static void own_group_step(struct hold *holds, unsigned int nr, uint32_t *state)
{
	struct memcg *group;
	unsigned int i;
	char name[24];

	snprintf(name, sizeof(name), "own%u", nr);
	must(memcg_create(some_tenant(state), name, &group) == 0);
	if (rng(state) % 2)
		group_max(group, rng(state) % 1000);
	for (i = 0; i < 6; i++) {
		struct hold *hold = &holds[rng(state) % HOLDS];

		pages_step(hold, group, state);
		bytes_step(hold, group, state);
		reserve_step(hold, group, state);
		heap_step(group, state);
	}
	group_end(group);
}

static void release(struct hold *hold)
{
	if (hold->pages) {
		memcg_uncharge(hold->group, hold->pages);
		memcg_put(hold->group);
	}
	if (hold->bytes) {
		memcg_uncharge_bytes(hold->objcg, hold->bytes);
		memcg_objcg_put(hold->objcg);
	}
	if (hold->reserve.objcg)
		memcg_unreserve(&hold->reserve);
}

static void worker(unsigned int nr, void *arg)
{
	struct hold holds[HOLDS] = { 0 };
	uint32_t state = 1000 + nr;
	unsigned long steps = 0;
	unsigned int i;

	(void)arg;
	while (!load_relaxed(&stop)) {
		struct hold *hold = &holds[rng(&state) % HOLDS];
		uint32_t dice = rng(&state) % 1000;

		if (dice < 400)
			pages_step(hold, some_tenant(&state), &state);
		else if (dice < 600)
			bytes_step(hold, some_tenant(&state), &state);
		else if (dice < 700)
			reserve_step(hold, some_tenant(&state), &state);
		else if (dice < 950)
			heap_step(some_tenant(&state), &state);
		else if (dice < 990)
			own_group_step(holds, nr, &state);
		else if (dice < 998)
			limit_step(some_tenant(&state), &state);
		else
			memcg_tick();
		steps++;
	}
	for (i = 0; i < HOLDS; i++)
		release(&holds[i]);
	atomic_add(&done, steps);
}

static void sampler(unsigned int nr, void *arg)
{
	unsigned int i;

	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		unsigned long usage = usage_of(memcg_root());

		highest = usage > highest ? usage : highest;
		/* Asserts in each read that nothing is negative. */
		for (i = 0; i < TENANTS; i++)
			(void)usage_of(tenants[i]);
	}
}

static void everything_at_random(void **state)
{
	static struct crew workers, sampling;
	uint64_t until = stress_until(stress_first ? 10 : 4);
	unsigned int i;

	(void)state;
	for (i = 0; i < TENANTS; i++)
		tenants[i] = group_make_nr(i > 1 ? tenants[i / 2] : NULL, i);
	crew_start(&sampling, 1, sampler, NULL);
	crew_start(&workers, THREADS, worker, NULL);
	while (stress_goes_on(until))
		usleep(10000);
	store_relaxed(&stop, true);
	crew_join(&workers);
	crew_join(&sampling);
	for (i = 0; i < BOXES; i++)
		memcg_free(boxes[i]);
	ledger_check();
	dprintf(STDERR_FILENO, "%lu steps, highest %lu\n", done, highest);
	assert_true(done > 0);
	assert_true(peak_of(memcg_root()) >= highest);
	for (i = 0; i < TENANTS; i++)
		group_max_none(tenants[i]);
	memcg_tick();
	for (i = 0; i < TENANTS; i++)
		assert_int_equal(ledger_live_bytes(tenants[i]->objcg), 0);
	for (i = TENANTS; i--;)
		group_end(tenants[i]);
	tree_is_empty();
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(everything_at_random) };

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
