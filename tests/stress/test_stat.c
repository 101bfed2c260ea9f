/* SPDX-License-Identifier: MIT */
/*
 * Statistics under everything at once: threads whose handlers, at 10 kHz, count what they interrupt, groups that die
 * while they are counted for, flushes of parts, readers. No count is lost or doubled, at any level, per
 * item and node (U1, R1, C3); readers lag by no more than they may (C1).
 */
#include <sys/syscall.h>
#include <time.h>

#include "support/stat_tree.h"
#include "support/stress.h"

#define THREADS 4U
#define TENANTS 5U
#define ITEMS 6U

static const enum stat_item items[ITEMS] = { STAT_ANON, STAT_FILE_DIRTY, STAT_SLAB_UNRECLAIMABLE,
					     STAT_SOCK, STAT_PERCPU,     STAT_PGFAULT };

/* What a thread and its handlers have counted. Only they write it, by atomics. */
struct counted {
	int64_t sums[TENANTS][ITEMS]; /* by tenant; over nodes */
	int64_t lag;                  /* of STAT_FILE, which only grows */
	uint32_t state;               /* the handler's generator; 0: it does nothing */
};

static struct memcg *top, *tenants[TENANTS], *brief;
static int64_t brief_sums[ITEMS]; /* atomic */
static struct counted counted[THREADS];
static __thread struct counted *mine;
static bool stop;
static unsigned long signals, flushes, lives;

static void count_once(uint32_t *state)
{
	unsigned int t = rng(state) % TENANTS, i = rng(state) % ITEMS;
	unsigned int node = rng(state) % nodes_nr;
	long nr = (long)(rng(state) % 200) - (items[i] >= STAT_STATE_END ? 0 : 100);

	stat_mod(tenants[t], node, items[i], nr);
	__atomic_fetch_add(&mine->sums[t][i], nr, __ATOMIC_RELAXED);
}

static void handler(int sig)
{
	unsigned int i;

	(void)sig;
	if (!mine || !mine->state)
		return;
	atomic_add(&signals, 1);
	for (i = 0; i < 3; i++)
		count_once(&mine->state);
	memcg_mod_node(tenants[0], 0, STAT_FILE, 3);
	__atomic_fetch_add(&mine->lag, 3, __ATOMIC_SEQ_CST);
}

static timer_t timer_begin(void)
{
	struct itimerspec every = { .it_interval = { 0, 100000 }, .it_value = { 0, 100000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	must(timer_settime(timer, 0, &every, NULL) == 0);
	return timer;
}

/* Counts for a group that dies meanwhile, through a reference of its own. */
static void count_brief(uint32_t *state)
{
	unsigned int i = rng(state) % ITEMS;
	struct memcg *memcg;

	rcu_lock();
	memcg = load_acquire(&brief);
	if (memcg && !css_tryget(&memcg->css))
		memcg = NULL;
	rcu_unlock();
	if (!memcg)
		return;
	stat_mod(memcg, rng(state) % nodes_nr, items[i], 7);
	__atomic_fetch_add(&brief_sums[i], 7, __ATOMIC_RELAXED);
	memcg_put(memcg);
}

static void counter(unsigned int nr, void *arg)
{
	uint32_t state = 70 + nr;
	timer_t timer;

	(void)arg;
	mine = &counted[nr];
	mine->state = 7 + nr;
	timer = timer_begin();
	while (!load_relaxed(&stop)) {
		count_once(&state);
		count_brief(&state);
		memcg_mod_node(tenants[rng(&state) % TENANTS], 0, STAT_FILE, 1);
		__atomic_fetch_add(&mine->lag, 1, __ATOMIC_SEQ_CST);
	}
	must(timer_delete(timer) == 0);
	mine->state = 0;
}

static int64_t lag_counted(void)
{
	int64_t sum = 0;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		sum += load_seq(&counted[i].lag);
	return sum;
}

/* Each thread and each handler may have a report to make: 63 that others left on its index, and its own. */
static int64_t may_lag(void)
{
	return 127 * (load_relaxed(&rstat.threshold) / RSTAT_BATCH) + (int64_t)THREADS * 2 * (63 + 200);
}

static void reader(unsigned int nr, void *arg)
{
	int64_t seen = 0, counts, shown;
	uint64_t value;

	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		counts = lag_counted();
		must(memcg_stat_read(top, "file", &value) == 0);
		shown = stat_state(top->stat, STAT_FILE);
		must(shown + may_lag() >= counts);
		must(shown >= seen);
		seen = shown;
		usleep(100);
	}
}

static void flusher(unsigned int nr, void *arg)
{
	uint32_t state = 11;
	int64_t counts;

	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		if (rng(&state) % 2) {
			rstat_flush(tenants[rng(&state) % TENANTS]->stat);
		} else {
			counts = lag_counted();
			rstat_flush(memcg_root()->stat);
			must(stat_state(memcg_root()->stat, STAT_FILE) >= counts);
		}
		atomic_add(&flushes, 1);
		usleep(rng(&state) % 2000);
	}
}

static void keeper(unsigned int nr, void *arg)
{
	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		struct memcg *memcg = group_make(top, "brief");

		store_release(&brief, memcg);
		usleep(300);
		store_release(&brief, NULL);
		must(memcg_destroy(memcg) == 0);
		rcu_synchronize();
		memcg_put(memcg);
		if (++lives % 4 == 0)
			memcg_tick();
	}
}

static int64_t thread_sum(unsigned int tenant, unsigned int item)
{
	int64_t sum = 0;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		sum += counted[i].sums[tenant][item];
	return sum;
}

static void all_is_there(void)
{
	unsigned int t, i;

	memcg_tick();
	memcg_tick();
	stat_conserved();
	for (i = 0; i < ITEMS; i++) {
		int64_t all = brief_sums[i], wide = 0;

		for (t = 0; t < TENANTS; t++) {
			must(stat_state(tenants[t]->stat, items[i]) == thread_sum(t, i));
			all += thread_sum(t, i);
		}
		must(stat_state(top->stat, items[i]) == all);
		for (t = 0; items[i] < STAT_NODE_END && t < nodes_nr; t++)
			wide += stat_node_wide_read(t, items[i]);
		must(items[i] >= STAT_NODE_END || wide == all);
	}
	must(stat_state(top->stat, STAT_FILE) == lag_counted());
}

static void everything(void **state)
{
	static struct crew counters, readers, flushers, keepers;
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	uint64_t until = stress_until(stress_first ? 6 : 2);
	unsigned int i;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	top = group_make(NULL, "top");
	for (i = 0; i < TENANTS; i++)
		tenants[i] = group_make_nr(top, i);
	crew_start(&counters, THREADS, counter, NULL);
	crew_start(&readers, 1, reader, NULL);
	crew_start(&flushers, 1, flusher, NULL);
	crew_start(&keepers, 1, keeper, NULL);
	while (stress_goes_on(until))
		usleep(10000);
	store_relaxed(&stop, true);
	crew_join(&counters);
	crew_join(&readers);
	crew_join(&flushers);
	crew_join(&keepers);
	dprintf(STDERR_FILENO, "%lu signals, %lu flushes, %lu groups, %ld counted\n", signals, flushes, lives,
		(long)lag_counted());
	must(signals > 0 && flushes > 0 && lives > 0);
	all_is_there();
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(everything) };

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
