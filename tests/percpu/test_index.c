/* SPDX-License-Identifier: MIT */
/*
 * Start options: each kind of index, each form, more areas than CPUs, and what is refused.
 * Each start is a process of its own.
 */
#include "support/tree.h"

#include <memcg/files.h>
#include <pthread.h>

#include "group/group.h"
#include "percpu/area.h"

static struct memcg_options base_options(void)
{
	struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };

	return options;
}

#define WORKERS 8

static struct memcg *shared;

static void *works(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 2000; i++) {
		unsigned long nr = (unsigned long)(i % 140) + 1;

		must(percpu_index() < percpu_nr);
		must(memcg_charge(shared, nr, 0) == 0);
		memcg_uncharge(shared, nr);
	}
	return NULL;
}

/* A1: whatever the index and form, nothing is left when all was given back and drained. */
static void use_it(void)
{
	struct memcg *parent;
	pthread_t threads[WORKERS];
	size_t i;

	must(memcg_create(NULL, "parent", &parent) == 0);
	must(memcg_create(parent, "shared", &shared) == 0);
	for (i = 0; i < WORKERS; i++)
		must(pthread_create(&threads[i], NULL, works, NULL) == 0);
	for (i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	must(memcg_charge(shared, 3, 0) == 0);
	must(memcg_destroy(shared) == 0);
	memcg_tick();
	must(group_current(parent) == 3 * MEMCG_PAGE_SIZE);
	memcg_uncharge(shared, 3);
	must(group_current(parent) == 0);
	must(group_current(NULL) == 0);
	memcg_put(shared);
	memcg_put(parent);
}

struct start {
	unsigned int index;
	unsigned int flags;
	unsigned int nr_cpus;
};

static void starts(const void *arg)
{
	const struct start *start = arg;
	struct memcg_options options = base_options();
	int err;

	options.index = start->index;
	options.flags |= start->flags;
	options.nr_cpus = start->nr_cpus;
	err = memcg_init(&options);
	if (err == -EOPNOTSUPP && start->index != MEMCG_INDEX_AUTO && start->index != MEMCG_INDEX_THREAD)
		child_end(CHILD_SKIP);
	must(err == 0);
	if (start->index != MEMCG_INDEX_AUTO)
		must(percpu_index_kind == start->index);
	must(percpu_nr >= start->nr_cpus);
	if ((start->flags & MEMCG_INIT_PORTABLE) || percpu_index_kind == MEMCG_INDEX_THREAD)
		must(!memcg_percpu.rseq);
	use_it();
}

static void run_start(unsigned int index, unsigned int flags, unsigned int nr_cpus)
{
	const struct start start = { index, flags, nr_cpus };

	child_expect_ok(child_run(starts, &start));
}

static void automatic(void **state)
{
	(void)state;
	run_start(MEMCG_INDEX_AUTO, 0, 0);
	run_start(MEMCG_INDEX_AUTO, MEMCG_INIT_PORTABLE, 0);
}

static void mm_cid(void **state)
{
	(void)state;
	run_start(MEMCG_INDEX_MM_CID, 0, 0);
	run_start(MEMCG_INDEX_MM_CID, MEMCG_INIT_PORTABLE, 0);
}

static void cpu_id(void **state)
{
	(void)state;
	run_start(MEMCG_INDEX_CPU_ID, 0, 0);
	run_start(MEMCG_INDEX_CPU_ID, MEMCG_INIT_PORTABLE, 0);
}

/* More threads than areas share them, and fewer threads than areas leave some alone. */
static void thread_index(void **state)
{
	(void)state;
	run_start(MEMCG_INDEX_THREAD, 0, 0);
	run_start(MEMCG_INDEX_THREAD, 0, 1);
	run_start(MEMCG_INDEX_THREAD, 0, 3);
	run_start(MEMCG_INDEX_THREAD, 0, 64);
}

static void more_areas_than_cpus(void **state)
{
	(void)state;
	run_start(MEMCG_INDEX_AUTO, 0, 300);
	run_start(MEMCG_INDEX_CPU_ID, 0, 512);
}

/* As many areas as asked for exactly, dealt out to threads in turn. */
static void deals_indices(const void *arg)
{
	struct memcg_options options = base_options();
	unsigned int seen[3] = { 0 };
	size_t i;

	(void)arg;
	options.index = MEMCG_INDEX_THREAD;
	options.nr_cpus = 3;
	must(memcg_init(&options) == 0);
	must(percpu_nr == 3);
	for (i = 0; i < 9; i++) {
		uint32_t index;

		percpu_thread_start(&index);
		must(index < 3);
		seen[index]++;
	}
	for (i = 0; i < 3; i++)
		must(seen[i] == 3);
}

static void thread_indices_are_dealt_evenly(void **state)
{
	(void)state;
	child_expect_ok(child_run(deals_indices, NULL));
}

static void *refuses(size_t size)
{
	(void)size;
	return NULL;
}

static void bad_options(const void *arg)
{
	struct memcg_backing partial = { .malloc = refuses };
	struct memcg_options options;

	(void)arg;
	options = base_options();
	options.size = 0;
	must(memcg_init(&options) == -EINVAL);
	options.size = sizeof(options) + 8;
	must(memcg_init(&options) == -EINVAL);
	options = base_options();
	options.flags |= 1U << 31;
	must(memcg_init(&options) == -EINVAL);
	options = base_options();
	options.index = MEMCG_INDEX_THREAD + 1;
	must(memcg_init(&options) == -EINVAL);
	options = base_options();
	options.nr_cpus = 8193;
	must(memcg_init(&options) == -EINVAL);
	options = base_options();
	options.stock_budget = (1U << 20) + 1;
	must(memcg_init(&options) == -EINVAL);
	options = base_options();
	options.backing = &partial;
	must(memcg_init(&options) == -EINVAL);

	/* What was refused has not started anything, and good ones still can. */
	options = base_options();
	options.stock_budget = 1U << 20;
	must(memcg_init(&options) == 0);
	must(percpu_budget == 1U << 20);
	must(memcg_init(&options) == -EBUSY);
	must(memcg_init(NULL) == 0);
	options.size = 0;
	must(memcg_init(&options) == -EBUSY);
	use_it();
}

static void refused_options(void **state)
{
	(void)state;
	child_expect_ok(child_run(bad_options, NULL));
}

static int backing_calls;

static void *counted_malloc(size_t size)
{
	backing_calls++;
	return malloc(size);
}

static void *counted_calloc(size_t nr, size_t size)
{
	backing_calls++;
	return calloc(nr, size);
}

static void *counted_realloc(void *ptr, size_t size)
{
	backing_calls++;
	return realloc(ptr, size);
}

static void *counted_aligned(size_t align, size_t size)
{
	backing_calls++;
	return aligned_alloc(align, size);
}

/* A refused start keeps nothing of its options: not the backing either. */
static void refused_backing(const void *arg)
{
	const struct memcg_backing backing = { counted_malloc, counted_calloc, counted_realloc, counted_aligned, free };
	struct memcg_options options = base_options();

	(void)arg;
	options.backing = &backing;
	options.nr_cpus = 8193;
	must(memcg_init(&options) == -EINVAL);
	backing_calls = 0;
	must(memcg_init(NULL) == 0);
	must(backing_calls == 0);
}

static void refused_options_keep_no_backing(void **state)
{
	(void)state;
	child_expect_ok(child_run(refused_backing, NULL));
}

static void defaults_by_first_use(const void *arg)
{
	const struct memcg_options *options = arg;
	struct memcg *group;

	must(memcg_create(NULL, "first", &group) == 0);
	must(memcg_init(options) == -EBUSY);
	must(memcg_init(NULL) == 0);
	must(percpu_budget == 2048);
	memcg_put(group);
}

static void first_use_starts(void **state)
{
	struct memcg_options options = base_options();

	(void)state;
	child_expect_ok(child_run(defaults_by_first_use, &options));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(automatic),
		cmocka_unit_test(mm_cid),
		cmocka_unit_test(cpu_id),
		cmocka_unit_test(thread_index),
		cmocka_unit_test(more_areas_than_cpus),
		cmocka_unit_test(thread_indices_are_dealt_evenly),
		cmocka_unit_test(refused_options),
		cmocka_unit_test(refused_options_keep_no_backing),
		cmocka_unit_test(first_use_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
