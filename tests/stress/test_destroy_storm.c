/* SPDX-License-Identifier: MIT */
/*
 * A hundred thousand groups, each destroyed with a live block that another thread frees later (T2, T14, D1): nothing
 * dying is left at the end, no byte is lost on the way, and the process does not grow.
 */
#include <memcg/heap.h>
#include <semaphore.h>

#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define RING 1024U
#define GROUPS (SANITIZED ? 10000U : 100000U)
#define GROWTH_MAX (32UL << 20) /* bytes, between a tenth of the way and the end; a group and its owner are 1 KiB */

static void *ring[RING];
static sem_t filled, empty;
static unsigned long resident_early, resident_late;
static bool library_thread; /* housekeeping by the library's own */

static unsigned long resident(void)
{
	unsigned long pages = 0, size;
	FILE *file = fopen("/proc/self/statm", "r");

	must(file && fscanf(file, "%lu %lu", &size, &pages) == 2);
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void query(struct memcg *parent, unsigned int nr)
{
	struct memcg *group = group_make_nr(parent, nr);
	struct memcg *previous = memcg_enter(group);
	void *scratch = memcg_malloc(nr % 9000);
	void *result = memcg_malloc(1 + nr % 300);

	must(scratch && result);
	memcg_free(scratch);
	memcg_leave(previous);
	must(memcg_destroy(group) == 0);
	memcg_put(group);
	while (sem_wait(&empty))
		;
	ring[nr % RING] = result;
	sem_post(&filled);
}

static void consumer(unsigned int unused, void *arg)
{
	unsigned int nr;

	(void)unused;
	(void)arg;
	for (nr = 0; nr < GROUPS; nr++) {
		while (sem_wait(&filled))
			;
		memcg_free(ring[nr % RING]);
		sem_post(&empty);
	}
}

/* With a thread of the library it may take a moment; without, it is done by a tick. */
static void wait_for_the_dead(void)
{
	while (!ledger_settle())
		usleep(1000);
}

static void a_storm_of_queries(void **state)
{
	static struct crew crew;
	struct memcg *service = group_make(NULL, "service");
	unsigned int nr;

	(void)state;
	sem_init(&filled, 0, 0);
	sem_init(&empty, 0, RING);
	crew_start(&crew, 1, consumer, NULL);
	for (nr = 0; nr < GROUPS; nr++) {
		query(service, nr);
		if (nr == GROUPS / 10)
			resident_early = resident();
	}
	resident_late = resident();
	crew_join(&crew);
	wait_for_the_dead();
	dprintf(STDERR_FILENO, "resident %lu KiB, then %lu KiB\n", resident_early >> 10, resident_late >> 10);
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	assert_int_equal(ledger_live_bytes(service->objcg), 0);
	if (!SANITIZED && !library_thread)
		assert_true(resident_late < resident_early + GROWTH_MAX);
	group_end(service);
	wait_for_the_dead();
	tree_is_empty();
	/* Numbers came back: not one was used for each group. A thread may be late, on a busy machine. */
	if (!library_thread) {
		assert_true(css_ids.next < GROUPS / 2);
		assert_true(objcg_ids.next < GROUPS / 2);
	}
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_storm_of_queries) };

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	int err;

	stress_first = true;
	err = stress_main(run);
	library_thread = true;
	stress_first = true;
	return forms_run(forms_stress, 1, MEMCG_INIT_NO_HOST_MAX, run) || err;
}
