/* SPDX-License-Identifier: MIT */
/*
 * Forks amid climbs, drains and handlers of other threads (B5, trap 23): the child's levels agree, its areas
 * are in order, and it goes on: drains, charges, destroys. Nothing waits for a thread that is not there.
 */
#include <memcg/heap.h>

#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define CHARGERS 6U
#define LEAVES 12U

static struct memcg *top, *leaves[LEAVES];
static bool stop;

/* Pages go to leaves only, so that each level is the sum of those below. */
static void charger(unsigned int nr, void *arg)
{
	uint32_t state = nr + 1;

	(void)arg;
	while (!load_relaxed(&stop)) {
		struct memcg *leaf = leaves[rng(&state) % LEAVES];
		unsigned long pages = 1 + rng(&state) % 150;
		unsigned int flags = rng(&state) % 64 ? 0 : MEMCG_MAY_SLEEP;
		void *block;

		if (memcg_charge(leaf, pages, flags) == 0)
			memcg_uncharge(leaf, pages);
		if (memcg_charge(leaf, 1, 0) == 0)
			memcg_uncharge(leaf, 1);
		block = memcg_heap_alloc(leaf, 0, 1 + rng(&state) % 9000, 0);
		memcg_free(block);
	}
}

static void creator(unsigned int nr, void *arg)
{
	uint32_t state = 77;

	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		struct memcg *memcg = group_make(top, "brief");
		unsigned long pages = 1 + rng(&state) % 20;
		int err = memcg_charge(memcg, pages, 0);

		must(memcg_destroy(memcg) == 0);
		if (pages & 1)
			memcg_tick();
		if (!err)
			memcg_uncharge(memcg, pages);
		memcg_put(memcg);
	}
}

static void levels_agree(void)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < LEAVES; i++) {
		must((load_relaxed(&leaves[i]->memory.word) & COUNTER_CLIMBS) == 0);
		sum += usage_of(leaves[i]);
	}
	must(usage_of(top) >= sum);
	must(usage_of(memcg_root()) == usage_of(top));
}

static void child_goes_on(void)
{
	struct memcg *memcg, *own;
	unsigned int i;
	void *block;

	alarm(60);
	levels_agree();
	memcg_tick();
	ledger_check();
	levels_agree();
	own = group_make(NULL, "own");
	group_max(own, 100);
	must(memcg_charge(own, 100, 0) == 0);
	must(memcg_charge(own, 1, MEMCG_MAY_SLEEP) == -ENOMEM);
	memcg_uncharge(own, 100);
	group_end(own);
	for (i = 0; i < LEAVES; i++) {
		must(memcg_charge(leaves[i], 3, MEMCG_MAY_SLEEP) == 0);
		memcg_uncharge(leaves[i], 3);
		block = memcg_heap_alloc(leaves[i], 0, 100, 0);
		must(block);
		memcg_free(block);
		group_end(leaves[i]);
	}
	if (memcg_open("top/brief", &memcg) == 0) {
		memcg_destroy(memcg);
		memcg_put(memcg);
	}
	memcg_tick();
	must(memcg_destroy(top) == 0);
	memcg_tick();
	_exit(0);
}

static void forks_amid_everything(void **state)
{
	static struct crew chargers, creators;
	uint64_t until = stress_until(stress_first ? 8 : 3);
	unsigned int i, forks = 0;

	(void)state;
	top = group_make(NULL, "top");
	for (i = 0; i < LEAVES; i++)
		leaves[i] = group_make_nr(top, i);
	group_max(top, 2000);
	crew_start(&chargers, CHARGERS, charger, NULL);
	crew_start(&creators, 1, creator, NULL);
	while (stress_goes_on(until)) {
		pid_t pid = fork();

		must(pid >= 0);
		if (!pid)
			child_goes_on();
		must(child_wait(pid) == 0);
		forks++;
	}
	store_relaxed(&stop, true);
	crew_join(&chargers);
	crew_join(&creators);
	assert_true(forks > 0);
	for (i = 0; i < LEAVES; i++)
		group_end(leaves[i]);
	group_end(top);
	(void)ledger_settle();
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forks_amid_everything) };

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
