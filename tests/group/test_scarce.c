/* SPDX-License-Identifier: MIT */
/*
 * What can run out: address space, memory that the kernel lets be written, numbers, the table of names. Each time it is
 * -ENOMEM, nothing is left of what was tried, and it succeeds when there is more.
 */
#include "support/machine.h"

#include <malloc.h>

#include "base/rcu.h"
#include "css/id_table.h"
#include "group/group.h"
#include "group/stat.h"
#include "percpu/area.h"
#include "stat/percpu.h"
#include "support/backing.h"
#include "support/tree.h"

static void start(void)
{
	const struct memcg_options options = { .size = sizeof(options),
					       .flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS,
					       .index = MEMCG_INDEX_THREAD,
					       .nr_cpus = 4,
					       .backing = &backing_counted };

	must(memcg_init(&options) == 0);
	rcu_lock(); /* liburcu ends a process whose thread it cannot register */
	rcu_unlock();
}

#define ANY (-1)

/* What a creation could leave behind. */
struct trace {
	uint64_t descendants, dying, refs; /* of the root */
	unsigned long usage;               /* the same, in pages */
	long blocks;                       /* of the backing, or ANY */
};

static struct trace trace(void)
{
	memcg_tick();
	return (struct trace){ memcg_root()->css.nr_descendants, memcg_root()->css.nr_dying, memcg_root()->css.refs,
			       usage_of(memcg_root()), backing_live };
}

static void no_trace_since(const struct trace *before)
{
	struct trace now = trace();

	must(now.descendants == before->descendants && now.dying == before->dying && now.refs == before->refs);
	must(now.usage == before->usage);
	must(before->blocks == ANY || now.blocks == before->blocks);
}

/* What the C library needs is not what is short. */
static void heap_has_room(void)
{
	volatile char *room; /* which the compiler does not leave out */

	must(mallopt(M_MMAP_MAX, 0) && mallopt(M_TRIM_THRESHOLD, 1 << 30));
	room = malloc(16 << 20);
	must(room != NULL);
	free((void *)(uintptr_t)room);
}

/* The start with ever more of it: refused, clean, and at last there. */
static void starts_with_ever_more(const void *arg)
{
	const int which = *(const int *)arg;
	const size_t step = which == RLIMIT_AS ? 1 << 20 : 16 << 10;
	struct memcg_options options = { .size = sizeof(options), .index = MEMCG_INDEX_THREAD, .nr_cpus = 4 };
	size_t before, more, refused = 0;
	int err = -ENOMEM;

	heap_has_room();
	before = machine_has(which);
	for (more = 0; err; more += step) {
		if (!machine_limit(which, before + more))
			child_end(CHILD_SKIP);
		err = memcg_init(&options);
		must(!err || err == -ENOMEM);
		refused += err != 0;
	}
	must(refused > 10);
	machine_limit_none(which);
	must(memcg_charge(NULL, 300, 0) == 0);
	memcg_uncharge(NULL, 300);
}

static void a_start_with_ever_more(void **state)
{
	static const int kinds[] = { RLIMIT_AS, RLIMIT_DATA };
	size_t i;

	(void)state;
	if (!machine_own_only())
		skip();
	for (i = 0; i < array_size(kinds); i++)
		child_expect_ok(child_run(starts_with_ever_more, &kinds[i]));
}

/* What was given out is there: each block can be written. */
static void used(struct memcg *group)
{
	must(memcg_charge(group, 200, 0) == 0);
	memcg_mod_node(group, 0, STAT_SHMEM, 200);
	memcg_mod_node(group, 0, STAT_SHMEM, -200);
	memcg_uncharge(group, 200);
}

struct fullness {
	int resource; /* that is limited */
	int steps;    /* chunks become usable in steps */
};

/* Groups until no more chunk of statistics can be had; then more can, and groups too. */
static void creates_until_full(const void *arg)
{
	const struct fullness *how = arg;
	const int which = how->resource;
	struct memcg *group;
	struct trace before;
	unsigned int nr = 0, full;
	int err;

	heap_has_room();
	stat_steps = how->steps;
	start();
	group_end(group_make(NULL, "warm"));
	if (!machine_limit(which, machine_has(which)))
		child_end(CHILD_SKIP);
	do {
		char name[24];

		before = trace();
		snprintf(name, sizeof(name), "g%u", nr);
		err = memcg_create(NULL, name, &group);
		if (!err)
			used(group);
		nr += !err;
	} while (!err);
	full = nr;
	must(err == -ENOMEM && full > 0 && full < 10000);
	before.blocks = ANY; /* a chunk that is reserved, and not usable yet, stays */
	no_trace_since(&before);
	before = trace();
	must(memcg_create(NULL, "another", &group) == -ENOMEM);
	no_trace_since(&before);
	machine_limit_none(which);
	for (; nr < full + 200; nr++)
		used(group_make_nr(NULL, nr));
}

static void groups_until_full(void **state)
{
	static const struct fullness kinds[] = { { RLIMIT_AS, 0 }, { RLIMIT_DATA, 0 }, { RLIMIT_DATA, 1 } };
	size_t i;

	(void)state;
	if (!machine_own_only())
		skip();
	for (i = 0; i < array_size(kinds); i++)
		child_expect_ok(child_run(creates_until_full, &kinds[i]));
}

/* The block of a number in the areas cannot be made usable. */
static void extends_in_vain(const void *arg)
{
	struct memcg *group;
	struct trace before;

	(void)arg;
	heap_has_room();
	start();
	group_end(group_make(NULL, "warm"));
	memcg_tick();
	must(memcg_create(NULL, "takes the free number", &group) == 0);
	css_ids.next = 3 * 4096;
	before = trace();
	if (!machine_limit(RLIMIT_DATA, 4096)) /* 0 would be none, for valgrind's sake */
		child_end(CHILD_SKIP);
	must(memcg_create(NULL, "g", &group) == -ENOMEM);
	machine_limit_none(RLIMIT_DATA);
	before.blocks = ANY; /* a chunk of the table of numbers stays */
	no_trace_since(&before);
	group = group_make(NULL, "g");
	must(group->css.id == 3 * 4096);
	must(memcg_charge(group, 1, 0) == 0);
	memcg_uncharge(group, 1);
	group_end(group);
}

static void areas_that_do_not_grow(void **state)
{
	(void)state;
	if (!machine_own_only())
		skip();
	child_expect_ok(child_run(extends_in_vain, NULL));
}

/* All numbers of a kind are in use; one that comes back is used again. */
static void runs_out_of_numbers(const void *arg)
{
	struct id_table *table = arg ? &css_ids : &objcg_ids;
	struct memcg *kept, *gone, *group;
	uint32_t next, owner, id;
	struct trace before;

	start();
	kept = group_make(NULL, "kept");
	gone = group_make(NULL, "gone");
	id = gone->css.id;
	owner = objcg_id(gone->objcg);
	next = table->next;
	table->next = OWNER_NUMBERS;
	before = trace();
	must(memcg_create(NULL, "g", &group) == -ENOMEM);
	no_trace_since(&before);
	must(memcg_create(kept, "g", &group) == -ENOMEM);
	no_trace_since(&before);
	group_end(gone);
	memcg_tick();
	group = group_make(NULL, "g");
	must(arg ? group->css.id == id : objcg_id(group->objcg) == owner);
	must(memcg_create(NULL, "h", &gone) == -ENOMEM);
	group_end(group);
	table->next = next;
	group_end(kept);
	tree_is_empty();
}

static void every_number_in_use(void **state)
{
	(void)state;
	child_expect_ok(child_run(runs_out_of_numbers, NULL));
	child_expect_ok(child_run(runs_out_of_numbers, "groups"));
}

/* Creates @name with ever more allocations that succeed; returns how many it took. */
static long create_with_ever_more(const char *name, struct memcg **group)
{
	struct trace before = trace();
	int err = -ENOMEM;
	long nr = -1;

	while (err) {
		backing_left = ++nr;
		err = memcg_create(NULL, name, group);
		backing_left = 1L << 60;
		must(!err || err == -ENOMEM);
		before.blocks = ANY; /* tables stay */
		if (err)
			no_trace_since(&before);
	}
	return nr;
}

/* Without its first table of names no group can be; a larger one is for speed only. */
static void names_without_memory(const void *arg)
{
	const unsigned int first_table = 64;
	struct memcg *group, *last, *found;
	char name[24];
	unsigned int i;
	long usual;

	(void)arg;
	start();
	must(create_with_ever_more("g0", &group) > 3);
	usual = create_with_ever_more("g1", &group);
	for (i = 2; i < first_table; i++)
		last = group_make_nr(NULL, i);
	for (; i < first_table + 10; i++, last = group) {
		long chunk;

		snprintf(name, sizeof(name), "g%u", i);
		chunk = create_with_ever_more(name, &group) - usual; /* of statistics, at times */
		must(chunk == (STAT_BLOCK_CHUNK(group->stat->number) != STAT_BLOCK_CHUNK(last->stat->number)));
	}
	for (i = 0; i < first_table + 10; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		must(memcg_open(name, &found) == 0 && !strcmp(found->name, name));
		memcg_put(found);
	}
	must(memcg_open("g74", &found) == -ENOENT);
}

static void a_table_of_names_that_does_not_grow(void **state)
{
	(void)state;
	child_expect_ok(child_run(names_without_memory, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_with_ever_more),
		cmocka_unit_test(groups_until_full),
		cmocka_unit_test(areas_that_do_not_grow),
		cmocka_unit_test(every_number_in_use),
		cmocka_unit_test(a_table_of_names_that_does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
