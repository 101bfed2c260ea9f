/* SPDX-License-Identifier: MIT */
/* Housekeeping: by its own thread, which hides from signals and ends when idle; by memcg_tick(); by a backlog. */
#include "support/child.h"

#include <dirent.h>
#include <memcg/files.h>
#include <memcg/stat.h>
#include <pthread.h>

#include "base/small_file.h"
#include "group/group.h"
#include "percpu/area.h"
#include "support/machine.h"

static void start(unsigned int flags)
{
	struct memcg_options options = { .size = sizeof(options) };

	options.flags = flags | MEMCG_INIT_NO_HOST_MAX;
	must(memcg_init(&options) == 0);
}

static void make_and_destroy(void)
{
	struct memcg *group;

	must(memcg_create(NULL, "g", &group) == 0);
	must(memcg_destroy(group) == 0);
	memcg_put(group);
}

/* As the kernel has them; 0 when the thread has ended. */
static uint64_t blocked_signals(const char *tid)
{
	char path[300], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	at = small_file_read(path, text, sizeof(text)) > 0 ? strstr(text, "SigBlk:") : NULL;
	return at ? strtoull(at + 7, NULL, 16) : 0;
}

/* The library's threads: how many, and the blocked signals of the last one found. */
static int library_threads(uint64_t *blocked)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int nr = 0;

	must(dir != NULL);
	while ((entry = readdir(dir))) {
		char path[300], text[4096];

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		if (small_file_read(path, text, sizeof(text)) <= 0 || strncmp(text, "memcg/", 6) != 0)
			continue;
		must(!strcmp(text, "memcg/house\n"));
		nr++;
		*blocked = blocked_signals(entry->d_name);
	}
	closedir(dir);
	return nr;
}

static void wait_for(bool (*done)(void))
{
	int i;

	for (i = 0; i < 30000 && !done(); i++)
		usleep(1000);
	must(done());
}

static bool nothing_dying(void)
{
	return load_seq(&memcg_root()->css.nr_dying) == 0;
}

static bool no_thread(void)
{
	uint64_t blocked;

	return library_threads(&blocked) == 0;
}

static bool has_thread(void)
{
	uint64_t blocked;

	return library_threads(&blocked) == 1;
}

static void thread_does_it(const void *arg)
{
	uint64_t blocked = 0;
	sigset_t before, after;
	int i;

	(void)arg;
	start(0);
	must(no_thread()); /* none before there is work */
	sigemptyset(&before);
	sigemptyset(&after);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	make_and_destroy();
	wait_for(has_thread);
	must(library_threads(&blocked) == 1);
	must((blocked & machine_signals()) == machine_signals());
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (i = 1; i < 32; i++)
		must(sigismember(&before, i) == sigismember(&after, i)); /* the caller's mask is as it was */
	wait_for(nothing_dying);
	for (i = 0; i < 20; i++)
		make_and_destroy();
	must(library_threads(&blocked) == 1); /* not one more each */
	wait_for(nothing_dying);
	wait_for(no_thread); /* idle: gone */
	make_and_destroy();
	wait_for(nothing_dying); /* and there again */
}

static void the_thread(void **state)
{
	(void)state;
	child_expect_ok(child_run(thread_does_it, NULL));
}

/* What dies by its last charge or reference, long after the destroy. */
static void thread_waits_for_the_last_charge(const void *arg)
{
	struct memcg *group;

	(void)arg;
	start(0);
	must(memcg_create(NULL, "g", &group) == 0);
	must(memcg_charge(group, 5, 0) == 0);
	must(memcg_destroy(group) == 0);
	memcg_put(group);
	usleep(20000);
	must(!nothing_dying());
	memcg_uncharge(group, 5);
	wait_for(nothing_dying);
}

static void last_charge_rings(void **state)
{
	(void)state;
	child_expect_ok(child_run(thread_waits_for_the_last_charge, NULL));
}

#define MAKERS 4

static void *makes_and_destroys(void *arg)
{
	const char *name = arg;
	int i;

	for (i = 0; i < 15000; i++) {
		struct memcg *group;

		must(memcg_create(NULL, name, &group) == 0);
		must(memcg_destroy(group) == 0);
		memcg_put(group);
		/* two batches, and one that is being made free by each who helps */
		must(load_relaxed(&memcg_root()->css.nr_dying) < 16384);
	}
	return NULL;
}

/* T2: no number of short lives is too many for one housekeeper. */
static void many_makers(const void *arg)
{
	static char names[MAKERS][2] = { "a", "b", "c", "d" };
	pthread_t threads[MAKERS];
	int i;

	(void)arg;
	start(0);
	for (i = 0; i < MAKERS; i++)
		must(pthread_create(&threads[i], NULL, makes_and_destroys, names[i]) == 0);
	for (i = 0; i < MAKERS; i++)
		pthread_join(threads[i], NULL);
	wait_for(nothing_dying);
}

static void short_lives_do_not_pile_up(void **state)
{
	(void)state;
	child_expect_ok(child_run(many_makers, NULL));
}

static void tick_only(const void *arg)
{
	int i;

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	make_and_destroy();
	must(no_thread());
	must(memcg_root()->css.nr_dying == 1); /* nobody did it */
	memcg_tick();
	must(nothing_dying());
	for (i = 0; i < 1000; i++) {
		make_and_destroy();
		must(memcg_root()->css.nr_dying <= 130); /* a backlog is worked off by who makes it */
	}
	must(no_thread());
	memcg_tick();
	must(nothing_dying());
}

static void tick(void **state)
{
	(void)state;
	child_expect_ok(child_run(tick_only, NULL));
}

static void tick_beside_thread(const void *arg)
{
	(void)arg;
	start(0);
	make_and_destroy();
	memcg_tick();
	must(nothing_dying()); /* done now, whoever did it */
}

static void tick_has_it_done_now(void **state)
{
	(void)state;
	child_expect_ok(child_run(tick_beside_thread, NULL));
}

/* Stock of CPUs that had no slow path since the last tick goes back to the counters. */
static void idle_stock(const void *arg)
{
	struct memcg *group;

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	must(memcg_create(NULL, "g", &group) == 0);
	must(memcg_charge(group, 1, 0) == 0);
	memcg_uncharge(group, 1);
	must(memcg_charge(group, 2, 0) == 0);
	memcg_tick();
	memcg_tick();
	memcg_tick();
	must(page_counter_read(&group->memory) == 2);
	must(page_counter_read(&memcg_root()->memory) == 2);
	must(group->memory.room == 0);
	memcg_uncharge(group, 2);
	memcg_tick();
	memcg_tick();
	must(page_counter_read(&memcg_root()->memory) == 0);
	memcg_put(group);
}

static void tick_drains_idle_stock(void **state)
{
	(void)state;
	child_expect_ok(child_run(idle_stock, NULL));
}

static void reads_statistics(const void *arg)
{
	struct memcg *group;
	struct memcg_objcg *objcg;
	char text[8192];

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	must(memcg_create(NULL, "g", &group) == 0);
	objcg = memcg_objcg_get(group);
	must(memcg_charge_bytes(objcg, 100, 0) == 0);
	must(memcg_destroy(group) == 0);
	must(memcg_stat_flush(NULL) == 0);
	must(memcg_read(NULL, "memory.stat", text, sizeof(text)) > 0);
	must(!strncmp(text, "anon 4096\n", 10)); /* C3: counted where it belongs, without a tick */
	memcg_uncharge_bytes(objcg, 100);
	memcg_objcg_put(objcg);
	memcg_put(group);
}

static void statistics_do_not_wait_for_a_tick(void **state)
{
	(void)state;
	child_expect_ok(child_run(reads_statistics, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_thread),
		cmocka_unit_test(last_charge_rings),
		cmocka_unit_test(short_lives_do_not_pile_up),
		cmocka_unit_test(tick),
		cmocka_unit_test(tick_has_it_done_now),
		cmocka_unit_test(tick_drains_idle_stock),
		cmocka_unit_test(statistics_do_not_wait_for_a_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
