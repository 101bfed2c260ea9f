/* SPDX-License-Identifier: MIT */
/*
 * T3, T7, A6: one group without children, 256 threads that each ask for 4 MiB, may-sleep, under a
 * limit of 64 MiB. Exactly 64 MiB are granted, in whatever sizes they ask.
 */
#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define THREADS 256U
#define EACH 1024UL   /* pages: 4 MiB */
#define LIMIT 16384UL /* pages: 64 MiB */

static struct memcg *group;
static unsigned long granted, over;
static pthread_barrier_t barrier;

static void ask(unsigned long pages)
{
	if (memcg_charge(group, pages, MEMCG_MAY_SLEEP) == 0)
		atomic_add(&granted, pages);
	if (usage_of(group) > LIMIT)
		atomic_add(&over, 1);
}

static void page_by_page(unsigned int nr, void *arg)
{
	unsigned long i;

	(void)nr;
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < EACH; i++)
		ask(1);
}

static void all_at_once(unsigned int nr, void *arg)
{
	(void)nr;
	(void)arg;
	pthread_barrier_wait(&barrier);
	ask(EACH);
}

/* Single pages at the end, so that what is left can be had by somebody. */
static void mixed_sizes(unsigned int nr, void *arg)
{
	unsigned long left = EACH;
	uint32_t state = nr + 1;

	(void)arg;
	pthread_barrier_wait(&barrier);
	while (left > 512) {
		unsigned long pages = 1 + rng(&state) % 300;

		pages = pages < left ? pages : left;
		ask(pages);
		left -= pages;
	}
	while (left--)
		ask(1);
}

static void expect_all_of_it(void (*body)(unsigned int nr, void *arg))
{
	struct memcg *top = group_make(NULL, "top");

	group = group_make(top, "g");
	granted = over = 0;
	group_max(group, LIMIT);
	pthread_barrier_init(&barrier, NULL, THREADS);
	crew_run(THREADS, body, NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(over, 0);
	assert_int_equal(granted, LIMIT);
	assert_int_equal(usage_of(group), LIMIT);
	assert_int_equal(usage_of(top), LIMIT);
	assert_int_equal(peak_of(group), LIMIT);
	assert_int_equal(ledger_stock(group), 0);
	memcg_uncharge(group, LIMIT);
	group_end(group);
	group_end(top);
	tree_is_empty();
}

static void in_single_pages(void **state)
{
	(void)state;
	expect_all_of_it(page_by_page);
}

static void in_one_piece(void **state)
{
	(void)state;
	expect_all_of_it(all_at_once);
}

static void in_mixed_sizes(void **state)
{
	(void)state;
	expect_all_of_it(mixed_sizes);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_single_pages),
		cmocka_unit_test(in_one_piece),
		cmocka_unit_test(in_mixed_sizes),
	};

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
