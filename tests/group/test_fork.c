/* SPDX-License-Identifier: MIT */
/*
 * B5: the child of a fork has a consistent tree and goes on. Forked while other threads are in the middle of
 * climbs, refusals, drains, destructions: levels agree, no lock is held, who is gone is attached nowhere.
 */

#include "support/machine.h"

#include <memcg/files.h>
#include <pthread.h>

#include "charge/drain.h"
#include "group/group.h"
#include "percpu/area.h"
#include "support/backing.h"

#define THREADS 4

static struct memcg *top, *mid[2], *leaves[THREADS];
static uint32_t go_on, ready;

static int forks_wanted(void)
{
	return machine_valgrind() ? 10 : 50; /* which looks for leaks in each child */
}

static void start(unsigned int flags)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &backing_counted };

	options.flags = flags | MEMCG_INIT_NO_HOST_MAX | (MACHINE_THREADS_AFTER_FORK ? 0 : MEMCG_INIT_NO_THREADS);
	must(memcg_init(&options) == 0);
}

static void build(void)
{
	char name[16];
	int i;

	must(memcg_create(NULL, "top", &top) == 0);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "mid%d", i);
		must(memcg_create(top, name, &mid[i]) == 0);
	}
	for (i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "leaf%d", i);
		must(memcg_create(mid[i / 2], name, &leaves[i]) == 0);
	}
	page_counter_set_max(&top->memory, 500);
	page_counter_set_max(&mid[0]->memory, 260);
}

/* Everything at once: stock, climbs, refusals, may-sleep drains, bytes. */
static void *churns(void *arg)
{
	struct memcg *leaf = arg;
	struct memcg_objcg *objcg = memcg_objcg_get(leaf);
	unsigned long i;

	must(memcg_attach(leaf) == 0);
	atomic_add(&ready, 1);
	for (i = 0; load_relaxed(&go_on); i++) {
		unsigned long nr = i * 7 % 200 + 1;

		if (memcg_charge(NULL, nr, i % 64 ? 0 : MEMCG_MAY_SLEEP) == 0)
			memcg_uncharge(NULL, nr);
		if (memcg_charge_bytes(objcg, i * 13 % 9000 + 1, 0) == 0)
			memcg_uncharge_bytes(objcg, i * 13 % 9000 + 1);
	}
	memcg_objcg_put(objcg);
	return NULL;
}

static long usage_of(struct memcg *group)
{
	return counter_usage(load_seq(&group->memory.word));
}

/* Charges that hold a level under pressure. */
static uint32_t holders(struct memcg *group)
{
	return load_seq(&group->memory.pressure) & ~PRESSURE_CLEAN;
}

/* Nothing is charged but by leaves: each level is the sum of the ones below, to the page. */
static void check_levels(void)
{
	int i;

	must(usage_of(mid[0]) == usage_of(leaves[0]) + usage_of(leaves[1]));
	must(usage_of(mid[1]) == usage_of(leaves[2]) + usage_of(leaves[3]));
	must(usage_of(top) == usage_of(mid[0]) + usage_of(mid[1]));
	must(usage_of(memcg_root()) == usage_of(top));
	must(usage_of(top) <= 500 && usage_of(mid[0]) <= 260);
	for (i = 0; i < THREADS; i++) {
		must(usage_of(leaves[i]) >= 0);
		must(holders(leaves[i]) == 0);
		must((leaves[i]->memory.word & COUNTER_CLIMBS) == 0);
	}
	must(holders(top) == 0 && holders(mid[0]) == 0);
	must((top->memory.word & COUNTER_CLIMBS) == 0);
	for (i = 0; i < (int)percpu_nr; i++)
		must((percpu_area((unsigned int)i)->head.gate & 1) == 0);
}

/* What other threads had charged and not given back when they vanished is theirs for ever: what is left after a drain. */
static void go_on_in_child(bool main_attached)
{
	unsigned long left;
	int i;

	check_levels();
	for (i = 0; i < THREADS; i++) {
		must(leaves[i]->nr_threads == (main_attached && i == 0));
		if (memcg_charge(leaves[i], 3, MEMCG_MAY_SLEEP) == 0)
			memcg_uncharge(leaves[i], 3);
		if (memcg_charge(leaves[i], 150, 0) == 0)
			memcg_uncharge(leaves[i], 150);
	}
	must(memcg_write(top, "memory.max", "max", 3) == 3);
	must(memcg_write(mid[0], "memory.max", "max", 3) == 3);
	for (i = 0; i < 1000; i++) {
		must(memcg_charge(leaves[i % THREADS], (unsigned long)i % 150 + 1, 0) == 0);
		memcg_uncharge(leaves[i % THREADS], (unsigned long)i % 150 + 1);
	}
	drain_stock(memcg_root());
	check_levels();
	left = page_counter_read(&memcg_root()->memory);
	must(left <= THREADS * (200 + 3 + 1)); /* a charge in hand, a byte charge, a residue each */
	if (main_attached)
		must(memcg_destroy(leaves[0]) == -EBUSY);
	must(memcg_attach(NULL) == 0);
	for (i = 0; i < THREADS; i++)
		must(memcg_destroy(leaves[i]) == 0);
	must(memcg_destroy(mid[0]) == 0);
	must(memcg_destroy(mid[1]) == 0);
	memcg_tick();
	must(page_counter_read(&top->memory) <= left);
	must(memcg_create(top, "new", &mid[0]) == 0);
}

static void forks(const void *arg)
{
	const struct memcg_options *how = arg;
	pthread_t threads[THREADS];
	int i, nr = forks_wanted();

	start(how->flags);
	build();
	must(memcg_attach(leaves[0]) == 0);
	store_relaxed(&go_on, 1);
	for (i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, churns, leaves[i]) == 0);
	while (load_seq(&ready) < THREADS)
		usleep(100);
	for (i = 0; i < nr; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			go_on_in_child(true);
			_exit(0);
		}
		must(child_wait(pid) == 0);
	}
	must(memcg_destroy(leaves[1]) == -EBUSY); /* here its thread still is */
	store_relaxed(&go_on, 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* A1: the parent has lost nothing by it */
	drain_stock(memcg_root());
	for (i = 0; i < THREADS; i++)
		must(usage_of(leaves[i]) == objcg_pages(leaves[i]->objcg));
	check_levels();
	must(usage_of(top) <= THREADS);
}

static void amid_climbs(void **state)
{
	const struct memcg_options fast = { .flags = 0 };
	const struct memcg_options portable = { .flags = MEMCG_INIT_PORTABLE };

	(void)state;
	child_expect_ok(child_run(forks, &fast));
	child_expect_ok(child_run(forks, &portable));
}

static struct memcg *full;
static int charges_refused; /* in handlers of fork */

static void charges_the_full(void)
{
	if (full)
		charges_refused += memcg_charge(full, 6, MEMCG_MAY_SLEEP) == -ENOMEM;
}

/* Handlers that are older than the library run while the forking thread has its locks: they may charge, not wait. */
static void charges_in_handlers(const void *arg)
{
	pid_t pid;

	(void)arg;
	must(pthread_atfork(charges_the_full, charges_the_full, charges_the_full) == 0);
	start(0);
	must(memcg_create(NULL, "full", &full) == 0);
	must(memcg_charge(full, 5, 0) == 0);
	page_counter_set_max(&full->memory, 10);
	pid = child_fork();
	must(charges_refused == 2);
	if (!pid) {
		must(memcg_charge(full, 6, MEMCG_MAY_SLEEP) == -ENOMEM);
		must(memcg_charge(full, 5, MEMCG_MAY_SLEEP) == 0);
		_exit(0);
	}
	must(child_wait(pid) == 0);
	must(memcg_charge(full, 5, MEMCG_MAY_SLEEP) == 0);
}

static void refused_amid_a_fork(void **state)
{
	(void)state;
	child_expect_ok(child_run(charges_in_handlers, NULL));
}

static void *makes_and_destroys(void *arg)
{
	struct memcg *parent = arg, *group;

	atomic_add(&ready, 1);
	while (load_relaxed(&go_on)) {
		struct memcg_objcg *objcg;

		must(memcg_create(parent, "short", &group) == 0);
		objcg = memcg_objcg_get(group);
		must(memcg_charge_bytes(objcg, 5000, 0) == 0);
		must(memcg_destroy(group) == 0);
		memcg_uncharge_bytes(objcg, 5000);
		memcg_objcg_put(objcg);
		memcg_put(group);
		if (parent == leaves[0])
			memcg_tick();
	}
	return NULL;
}

/* The housekeeper, creations, the tree itself: none half done in the child. */
static void forks_amid_destruction(const void *arg)
{
	pthread_t threads[THREADS];
	struct memcg *found;
	int i, nr = forks_wanted();

	(void)arg;
	start(0);
	build();
	page_counter_set_max(&top->memory, PAGE_COUNTER_MAX);
	page_counter_set_max(&mid[0]->memory, PAGE_COUNTER_MAX);
	store_relaxed(&go_on, 1);
	for (i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, makes_and_destroys, leaves[i]) == 0);
	while (load_seq(&ready) < THREADS)
		usleep(100);
	for (i = 0; i < nr; i++) {
		pid_t pid = child_fork();

		if (pid) {
			must(child_wait(pid) == 0);
			continue;
		}
		for (i = 0; i < THREADS; i++) {
			if (memcg_open(i & 1 ? "top/mid0/leaf1/short" : "top/mid0/leaf0/short", &found) == 0) {
				memcg_destroy(found);
				memcg_put(found);
			}
		}
		must(memcg_create(leaves[2], "mine", &found) == 0);
		must(memcg_charge(found, 10, MEMCG_MAY_SLEEP) == 0);
		memcg_uncharge(found, 10);
		must(memcg_destroy(found) == 0);
		memcg_put(found);
		memcg_tick();
		must(memcg_dump(-1, top, 3) == -EBADF);
		_exit(0);
	}
	store_relaxed(&go_on, 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	memcg_tick();
	drain_stock(memcg_root());
	for (i = 0; i < 1000 && memcg_root()->css.nr_dying; i++) {
		usleep(1000);
		memcg_tick();
	}
	must(memcg_root()->css.nr_dying == 0);
	must(usage_of(memcg_root()) == 0);
}

static void amid_destruction(void **state)
{
	(void)state;
	child_expect_ok(child_run(forks_amid_destruction, NULL));
}

/* The child's housekeeping thread is its own, started when it is needed. */
static void house_in_child(const void *arg)
{
	struct memcg *group;
	pid_t pid;
	int i;

	(void)arg;
	start(0);
	must(memcg_create(NULL, "first", &group) == 0);
	must(memcg_destroy(group) == 0); /* the parent's thread runs, or is about to */
	memcg_put(group);
	pid = child_fork();
	must(memcg_create(NULL, "second", &group) == 0);
	must(memcg_destroy(group) == 0);
	memcg_put(group);
	for (i = 0; i < 30000 && load_seq(&memcg_root()->css.nr_dying); i++)
		usleep(1000);
	must(memcg_root()->css.nr_dying == 0); /* both, in parent and child */
	if (!pid)
		_exit(0);
	must(child_wait(pid) == 0);
}

static void childs_own_house(void **state)
{
	(void)state;
	if (!MACHINE_THREADS_AFTER_FORK)
		skip();
	child_expect_ok(child_run(house_in_child, NULL));
}

/* Signals that came while the library forked are blocked in neither afterwards. */
static void mask_is_kept(const void *arg)
{
	sigset_t want, now;
	pid_t pid;
	int sig;

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	sigemptyset(&want);
	sigaddset(&want, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &want, NULL);
	pid = fork();
	sigemptyset(&now);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (sig = 1; sig < 32; sig++)
		must(sigismember(&now, sig) == (sig == SIGUSR2));
	if (!pid)
		_exit(0);
	must(child_wait(pid) == 0);
}

static void signal_mask_is_kept(void **state)
{
	(void)state;
	child_expect_ok(child_run(mask_is_kept, NULL));
}

/* Grandchildren too; and trees of parent and child are apart. */
static void generations(const void *arg)
{
	struct memcg *group, *found;
	char name[16];
	int depth;

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	must(memcg_create(NULL, "g", &group) == 0);
	for (depth = 0; depth < 5; depth++) {
		pid_t pid;

		must(memcg_charge(group, 200, 0) == 0);
		pid = child_fork();
		if (pid) {
			int code = child_wait(pid);

			must(usage_of(group) == 200 * (depth + 1)); /* what the child did is not seen */
			snprintf(name, sizeof(name), "in-%d", depth);
			must(memcg_open(name, &found) == -ENOENT);
			must(code == 0);
			if (depth)
				_exit(0);
			return;
		}
		snprintf(name, sizeof(name), "in-%d", depth);
		must(memcg_create(NULL, name, &found) == 0);
	}
	_exit(0);
}

static void each_process_has_its_tree(void **state)
{
	(void)state;
	child_expect_ok(child_run(generations, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amid_climbs),         cmocka_unit_test(refused_amid_a_fork),
		cmocka_unit_test(amid_destruction),    cmocka_unit_test(childs_own_house),
		cmocka_unit_test(signal_mask_is_kept), cmocka_unit_test(each_process_has_its_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
