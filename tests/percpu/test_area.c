/* SPDX-License-Identifier: MIT */
/*
 * The range of areas: memory where it is touched only, none committed before, clear errors where
 * address space is short, and E1 where objects really land.
 */
#include "support/machine.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "group/group.h"
#include "percpu/area.h"
#include "percpu/thread.h"

static void start(unsigned int nr_cpus, unsigned int index)
{
	struct memcg_options options = { .size = sizeof(options) };

	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	options.nr_cpus = nr_cpus;
	options.index = index;
	must(memcg_init(&options) == 0);
}

static size_t resident_pages(unsigned int index)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = ((size_t)1 << MEMCG_AREA_SHIFT) / page, i, nr = 0;
	unsigned char *vec = malloc(pages);

	must(vec && mincore(percpu_area(index), pages * page, vec) == 0);
	for (i = 0; i < pages; i++)
		nr += vec[i] & 1;
	free(vec);
	return nr;
}

static void untouched_costs_nothing(const void *arg)
{
	bool told = machine_mincore();
	unsigned int i, touched = 0;
	size_t resident = 0;

	(void)arg;
	start(256, MEMCG_INDEX_AUTO);
	for (i = 0; i < percpu_nr; i++) {
		must(!told || resident_pages(i) == 0);
		must(!percpu_touched(i));
	}
	must(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
	for (i = 0; i < percpu_nr; i++) {
		touched += percpu_touched(i);
		resident += told ? resident_pages(i) : 0;
	}
	must(touched >= 1 && touched <= 2); /* two: moved to another CPU between the calls */
	must(!told || (resident >= 1 && resident <= 4 * touched));
}

static void memory_follows_touch(void **state)
{
	(void)state;
	child_expect_ok(child_run(untouched_costs_nothing, NULL));
}

/* Blocks of owner numbers become usable in steps; the number given out last always is. */
static void blocks(const void *arg)
{
	unsigned int i;

	(void)arg;
	start(2, MEMCG_INDEX_THREAD);
	must(percpu_extend(1) == 0);
	must(percpu_extend(5000) == 0);
	for (i = 0; i < percpu_nr; i++) {
		must(percpu_area(i)->owner_pages[5000] == 0);
		percpu_area(i)->owner_pages[8191] = 1;
	}
	must(percpu_extend(OWNER_NUMBERS - 1) == 0);
	must(percpu_area(1)->owner_pages[OWNER_NUMBERS - 1] == 0);
	must(percpu_area(1)->owner_pages[8191] == 1);
	must(percpu_extend(OWNER_NUMBERS) == -ENOMEM);
}

static void beyond(const void *arg)
{
	(void)arg;
	start(2, MEMCG_INDEX_THREAD);
	percpu_area(0)->owner_pages[OWNER_NUMBERS - 1] = 1; /* no block is usable there yet */
}

static void blocks_on_demand(void **state)
{
	int code;

	(void)state;
	child_expect_ok(child_run(blocks, NULL));
	code = child_run(beyond, NULL);
	assert_true(code == CHILD_SIGNAL(SIGSEGV) || (SANITIZED && code != 0));
}

static size_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	must(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Too little address space: -ENOMEM each time, nothing kept; with more, the same process can start. */
static void little_space(const void *arg)
{
	struct memcg_options options = { .size = sizeof(options), .nr_cpus = 64, .index = MEMCG_INDEX_THREAD };
	size_t before = address_space(), i;
	struct rlimit limit;

	(void)arg;
	must(getrlimit(RLIMIT_AS, &limit) == 0);
	if (!machine_limit_space(before + (64 << 20)))
		child_end(CHILD_SKIP);
	for (i = 0; i < 1000; i++)
		must(memcg_init(&options) == -ENOMEM);
	must(address_space() < before + (1 << 20));
	must(setrlimit(RLIMIT_AS, &limit) == 0);
	must(memcg_init(&options) == 0);
	must(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
}

static void short_of_address_space(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	child_expect_ok(child_run(little_space, NULL));
}

#define MOST_CPUS 8192

/* No /sys, as in many a sandbox: not an area for each CPU that any Linux could have. */
static void without_sys(const void *arg)
{
	unsigned long mask[MOST_CPUS / 8 / sizeof(long)];
	uid_t uid = getuid();

	(void)arg;
	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys", "tmpfs", 0, NULL))
		child_end(CHILD_SKIP);
	must(access("/sys/devices", F_OK) != 0);
	start(0, MEMCG_INDEX_AUTO);
	if (percpu_index_kind == MEMCG_INDEX_THREAD)
		child_end(CHILD_SKIP);
	must(percpu_nr >= (unsigned long)sysconf(_SC_NPROCESSORS_CONF));
	must(percpu_nr < MOST_CPUS || syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) == MOST_CPUS / 8);
	must(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
}

static void the_number_of_cpus_without_sys(void **state)
{
	(void)state;
	child_expect_ok(child_run(without_sys, NULL));
}

static int allocations_left;

static void *scarce_malloc(size_t size)
{
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void *scarce_calloc(size_t nr, size_t size)
{
	return allocations_left-- > 0 ? calloc(nr, size) : NULL;
}

static void *scarce_realloc(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static void *scarce_aligned(size_t align, size_t size)
{
	return allocations_left-- > 0 ? aligned_alloc(align, size) : NULL;
}

/* Each allocation of the start may fail: -ENOMEM, and a later start works. */
static void scarce_start(const void *arg)
{
	const struct memcg_backing backing = { scarce_malloc, scarce_calloc, scarce_realloc, scarce_aligned, free };
	struct memcg_options options = { .size = sizeof(options), .nr_cpus = 4 };
	int nr, err = -ENOMEM;

	(void)arg;
	options.backing = &backing;
	for (nr = 0; err && nr < 50; nr++) {
		allocations_left = nr;
		err = memcg_init(&options);
		must(!err || err == -ENOMEM);
	}
	must(!err && nr > 3);
	must(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
}

static void start_survives_each_failed_allocation(void **state)
{
	(void)state;
	child_expect_ok(child_run(scarce_start, NULL));
}

/* E1: static assertions give offsets; here is where objects land. */
static void layout(const void *arg)
{
	unsigned int i;

	(void)arg;
	start(8, MEMCG_INDEX_THREAD);
	for (i = 0; i < percpu_nr; i++) {
		struct percpu_area *area = percpu_area(i);

		must((uintptr_t)area % PAIR_SIZE == 0);
		must((uintptr_t)&area->page_slots % PAIR_SIZE == 0);
		must((uintptr_t)&area->byte_slots % PAIR_SIZE == 0);
		must((uintptr_t)&area->owner_pages % PAIR_SIZE == 0);
		must((char *)(area + 1) <= memcg_percpu.base + ((size_t)(i + 1) << MEMCG_AREA_SHIFT));
	}
	for (i = 0; i < 20; i++) {
		struct memcg *group;
		char name[16];

		snprintf(name, sizeof(name), "group-%u", i);
		must(memcg_create(NULL, name, &group) == 0);
		must((uintptr_t)group % PAIR_SIZE == 0);
		must((uintptr_t)&group->memory.word % PAIR_SIZE == 0);
		must((uintptr_t)&group->css.refs % PAIR_SIZE == 0);
		must((uintptr_t)&group->objcg->residue % PAIR_SIZE == 0);
		must((uintptr_t)&group->fast / PAIR_SIZE != (uintptr_t)&group->css.refs / PAIR_SIZE);
		must((uintptr_t)&group->memory.limit / PAIR_SIZE != (uintptr_t)&group->memory.word / PAIR_SIZE);
		must((uintptr_t)&group->objcg->fast / PAIR_SIZE != (uintptr_t)&group->objcg->residue / PAIR_SIZE);
		memcg_put(group);
	}
}

static void hot_lines_keep_apart(void **state)
{
	(void)state;
	child_expect_ok(child_run(layout, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_follows_touch),
		cmocka_unit_test(blocks_on_demand),
		cmocka_unit_test(short_of_address_space),
		cmocka_unit_test(start_survives_each_failed_allocation),
		cmocka_unit_test(the_number_of_cpus_without_sys),
		cmocka_unit_test(hot_lines_keep_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
