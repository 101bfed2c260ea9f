/* SPDX-License-Identifier: MIT */
/*
 * A timer of 10 kHz on every thread, whose handler charges and uncharges (B4), while the threads charge, create,
 * destroy, drain, and fork. Nothing dead-locks, and no page or byte is lost.
 */
#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define THREADS 4U
#define TENANTS 6U

/* What a thread's handler holds from one signal to the next. */
struct held {
	unsigned long pages; /* of group */
	size_t bytes;        /* of the group's owner */
	struct memcg *group; /* a tenant */
	uint32_t state;      /* 0: the handler does nothing */
};

static struct memcg *top, *tenants[TENANTS];
static __thread struct held held;
static bool stop;
static unsigned long signals, forks;

static void give_back(void)
{
	if (held.pages)
		memcg_uncharge(held.group, held.pages);
	if (held.bytes)
		memcg_uncharge_bytes(held.group->objcg, held.bytes);
	held.pages = 0;
	held.bytes = 0;
}

static void handler(int sig)
{
	unsigned long pages;
	size_t bytes;

	(void)sig;
	if (!held.state)
		return;
	atomic_add(&signals, 1);
	give_back();
	held.group = tenants[rng(&held.state) % TENANTS];
	pages = 1 + rng(&held.state) % 140;
	if (memcg_charge(held.group, pages, 0) == 0)
		held.pages = pages;
	bytes = 1 + rng(&held.state) % 9000;
	if (memcg_charge_bytes(held.group->objcg, bytes, 0) == 0)
		held.bytes = bytes;
	if (rng(&held.state) % 2)
		give_back();
}

static void storm_begin(unsigned int nr, timer_t *timer)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	held.state = nr + 1;
	*timer = stress_timer();
}

static void storm_end(timer_t timer)
{
	sigset_t set;

	must(timer_delete(timer) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	give_back();
}

static void charger(unsigned int nr, void *arg)
{
	uint32_t state = 50 + nr;
	timer_t timer;

	(void)arg;
	storm_begin(nr, &timer);
	while (!load_relaxed(&stop)) {
		struct memcg *tenant = tenants[rng(&state) % TENANTS];
		unsigned int flags = rng(&state) % 256 ? 0 : MEMCG_MAY_SLEEP;
		unsigned long pages = 1 + rng(&state) % 140;
		size_t bytes = 1 + rng(&state) % 9000;

		if (memcg_charge(tenant, pages, flags) == 0)
			memcg_uncharge(tenant, pages);
		if (memcg_charge_bytes(tenant->objcg, bytes, flags) == 0)
			memcg_uncharge_bytes(tenant->objcg, bytes);
		if (memcg_charge(tenant, pages, flags) == 0) {
			unsigned long moved = memcg_move(tenant, top, pages, flags) == 0 ? pages : 0;

			memcg_uncharge(moved ? top : tenant, pages);
		}
	}
	storm_end(timer);
}

/* Creation allocates: its handler may run amid malloc. */
static void keeper(unsigned int nr, void *arg)
{
	const bool *stormy = arg;
	unsigned int count = 0;
	timer_t timer;

	if (*stormy)
		storm_begin(nr, &timer);
	while (!load_relaxed(&stop)) {
		struct memcg *brief = group_make(top, "brief");
		bool charged = memcg_charge(brief, 3, 0) == 0;

		must(memcg_destroy(brief) == 0);
		if (charged)
			memcg_uncharge(brief, 3);
		memcg_put(brief);
		if (++count % 16 == 0)
			memcg_tick();
		group_max(tenants[0], 500 + count % 500);
	}
	if (*stormy)
		storm_end(timer);
}

static void child_goes_on(bool exact)
{
	unsigned int i;

	alarm(60);
	if (!exact)
		_exit(0);
	memcg_tick();
	ledger_check();
	for (i = 0; i < TENANTS; i++) {
		if (memcg_charge(tenants[i], 1, MEMCG_MAY_SLEEP) == 0)
			memcg_uncharge(tenants[i], 1);
	}
	_exit(0);
}

static void forker(unsigned int nr, void *arg)
{
	const bool *stormy = arg;
	timer_t timer;

	storm_begin(nr, &timer);
	while (!load_relaxed(&stop)) {
		pid_t pid = fork();

		must(pid >= 0);
		if (!pid)
			child_goes_on(!*stormy);
		must(child_wait(pid) == 0);
		atomic_add(&forks, 1);
		usleep(20000);
	}
	storm_end(timer);
}

static void tree_begin(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	top = group_make(NULL, "top");
	for (i = 0; i < TENANTS; i++)
		tenants[i] = group_make_nr(top, i);
	group_max(top, 3000);
	stop = false;
	signals = forks = 0;
}

static void tree_end(void)
{
	unsigned int i;

	dprintf(STDERR_FILENO, "%lu signals, %lu forks\n", signals, forks);
	assert_true(signals > 0);
	ledger_check();
	for (i = 0; i < TENANTS; i++)
		group_end(tenants[i]);
	group_end(top);
	tree_is_empty();
}

static void run_for(double seconds, bool keeper_stormy, bool forking)
{
	static struct crew chargers, keepers, forkers;
	uint64_t until = stress_until(seconds);

	tree_begin();
	crew_start(&chargers, THREADS, charger, NULL);
	crew_start(&keepers, 1, keeper, &keeper_stormy);
	if (forking)
		crew_start(&forkers, 1, forker, &keeper_stormy);
	while (stress_goes_on(until))
		usleep(10000);
	store_relaxed(&stop, true);
	crew_join(&chargers);
	crew_join(&keepers);
	if (forking) {
		crew_join(&forkers);
		assert_true(forks > 0);
	}
	tree_end();
}

static void signals_amid_everything(void **state)
{
	(void)state;
	run_for(stress_first ? 5 : 2, true, false);
}

/* Each child is exact: no handler of this one runs amid malloc, for whose locks a fork waits. */
static void signals_and_forks(void **state)
{
	(void)state;
	run_for(stress_first ? 5 : 2, false, true);
}

/* A handler that waits for the fork, above a malloc that the fork waits for: the first wait ends. */
static void signals_amid_malloc_and_forks(void **state)
{
	(void)state;
	run_for(stress_first ? 4 : 2, true, true);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_amid_everything),
		cmocka_unit_test(signals_and_forks),
		cmocka_unit_test(signals_amid_malloc_and_forks),
	};

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
