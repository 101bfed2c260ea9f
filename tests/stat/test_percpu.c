/* SPDX-License-Identifier: MIT */
/*
 * Per-CPU parts: memory where it is touched only, blocks that are zero when they are given out, chunks that come and go, and
 * the late index.
 */
#include "support/stat_tree.h"

#include <sys/mman.h>

static void start(unsigned int nr_cpus, unsigned int nr_nodes)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = FORM_FLAGS,
		.index = MEMCG_INDEX_THREAD,
		.nr_cpus = nr_cpus,
		.nr_nodes = nr_nodes,
	};

	must(memcg_init(&options) == 0);
}

static void destroy(struct memcg *memcg)
{
	must(memcg_destroy(memcg) == 0);
	memcg_put(memcg);
}

/* Resident pages of the stripe that @memcg's block on @index is in. */
static size_t resident(const struct memcg *memcg, unsigned int index)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), nr = STAT_STRIDE / page, i, sum = 0;
	char *stripe = (char *)stat_stripe_of(memcg->stat->number, memcg->stat->base, index);
	unsigned char vec[STAT_STRIDE / 4096];

	must(mincore(stripe, STAT_STRIDE, vec) == 0);
	for (i = 0; i < nr; i++)
		sum += vec[i] & 1;
	return sum;
}

/* A group that nobody counts for costs no memory per CPU, on however many; flushes do not touch it. */
static void idle(const void *arg)
{
	struct memcg *group, *busy;
	unsigned int i;

	(void)arg;
	start(64, 1);
	group = group_make(NULL, "idle");
	for (i = 0; i < stat_nr_index; i++)
		must(resident(group, i) == 0);
	busy = group_make(NULL, "busy");
	memcg_mod_node(busy, 0, STAT_ANON, 1);
	rstat_flush(memcg_root()->stat);
	must(resident(busy, 0) >= 1 && resident(busy, 0) <= 2);
	for (i = 1; i < stat_nr_index; i++)
		must(resident(busy, i) == 0);
}

static void idle_costs_nothing(void **state)
{
	(void)state;
	child_expect_ok(child_run(idle, NULL));
}

static bool all_zero(const struct memcg *memcg)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < stat_nr_index; i++) {
		const char *block = (const char *)stat_block_at(memcg->stat->base, i);

		for (k = 0; k < 2 * stat_flushed_off; k++) {
			if (block[k])
				return false;
		}
	}
	return true;
}

/* Numbers are given out again, lowest first, and their blocks are as new. */
static void again(const void *arg)
{
	struct memcg *first, *second;
	uint32_t number;
	unsigned int item;

	(void)arg;
	start(4, 2);
	first = group_make(NULL, "first");
	number = first->stat->number;
	for (item = 0; item < STAT_NR; item++)
		stat_mod(first, item < STAT_NODE_END, (enum stat_item)item, 100);
	rstat_flush(memcg_root()->stat);
	for (item = 0; item < STAT_NR; item++)
		stat_mod(first, 0, (enum stat_item)item, -1);
	must(!all_zero(first));
	destroy(first);
	memcg_tick();
	second = group_make(NULL, "second");
	must(second->stat->number == number);
	must(all_zero(second));
	memcg_count_event(second, STAT_PGFAULT, 2);
	stat_conserved();
	must(stat_state(second->stat, STAT_PGFAULT) == 2);
	must(stat_state(memcg_root()->stat, STAT_PGFAULT) == 101);
}

static void given_out_again(void **state)
{
	(void)state;
	child_expect_ok(child_run(again, NULL));
}

/* More groups than one chunk holds; an empty chunk goes, and the marks that were set in it do no harm. */
static void chunks(const void *arg)
{
	enum {
		NR = 200
	};
	struct memcg *groups[NR];
	unsigned int round, i;
	uint32_t highest = 0;

	(void)arg;
	start(2, 4);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < NR; i++) {
			groups[i] = group_make_nr(NULL, i);
			highest = groups[i]->stat->number > highest ? groups[i]->stat->number : highest;
			memcg_mod_node(groups[i], i % 4, STAT_FILE, (long)i + 1);
		}
		stat_conserved();
		for (i = 0; i < NR; i++) {
			must(stat_node_state(groups[i]->stat, i % 4, STAT_FILE) == i + 1);
			memcg_mod_node(groups[i], i % 4, STAT_FILE, -(long)i - 1);
			destroy(groups[i]);
		}
		memcg_tick();
		memcg_tick();
		stat_conserved();
		must(stat_state(memcg_root()->stat, STAT_FILE) == 0);
		must(memcg_root()->css.nr_dying == 0);
	}
	must(STAT_BLOCK_CHUNK(highest) >= 3);
	must(STAT_BLOCK_CHUNK(highest) < NR); /* numbers were used again */
	must(stat_stripe_at(STAT_BLOCK_CHUNK(highest), 0) == NULL);
}

static void chunks_come_and_go(void **state)
{
	(void)state;
	child_expect_ok(child_run(chunks, NULL));
}

static void most_nodes(const void *arg)
{
	struct memcg *a, *b;

	(void)arg;
	start(2, NODES_MAX);
	a = group_make(NULL, "a");
	b = group_make(NULL, "b");
	must(STAT_BLOCK_CHUNK(a->stat->number) != STAT_BLOCK_CHUNK(b->stat->number)); /* one in each */
	memcg_mod_node(a, NODES_MAX - 1, STAT_PGPROMOTE_SUCCESS, 3);
	memcg_count_event(a, STAT_NUMA_HINT_FAULTS, 4);
	stat_conserved();
	must(stat_node_state(a->stat, NODES_MAX - 1, STAT_PGPROMOTE_SUCCESS) == 3);
	must(stat_state(a->stat, STAT_NUMA_HINT_FAULTS) == 4);
	must(stat_state(b->stat, STAT_PGPROMOTE_SUCCESS) == 0);
}

static void as_many_nodes_as_can_be(void **state)
{
	(void)state;
	child_expect_ok(child_run(most_nodes, NULL));
}

/* What a storm of handlers pushes to the late index is flushed like the rest. */
static void late(const void *arg)
{
	unsigned int index;
	struct memcg *group;
	int64_t *value;

	(void)arg;
	start(2, 1);
	group = group_make(NULL, "late");
	index = stat_nr_index - 1;
	value = stat_value_at(group->stat->base, index, stat_item_off(STAT_SHMEM, 0));
	*value += 5;
	rstat_mark(group->stat, index);
	memcg_mod_node(group, 0, STAT_SHMEM, 2);
	rstat_flush(memcg_root()->stat);
	must(stat_state(memcg_root()->stat, STAT_SHMEM) == 7);
	must(stat_node_local(group->stat, 0, STAT_SHMEM) == 7);
	destroy(group);
	memcg_tick();
	must(stat_state(memcg_root()->stat, STAT_SHMEM) == 7);
}

static void late_index(void **state)
{
	(void)state;
	child_expect_ok(child_run(late, NULL));
}

/* Where the kernel does not overcommit: usable as far as slots are given out, on every index, and no further. */
static void steps(const void *arg)
{
	enum {
		NR = 10
	};
	struct memcg *groups[NR];
	unsigned int i, k;

	stat_steps = 1;
	start(3, 2);
	for (i = 0; i < NR; i++) {
		groups[i] = group_make_nr(NULL, i);
		for (k = 0; k < stat_nr_index; k++)
			*stat_value_at(groups[i]->stat->base, k, stat_item_off(STAT_SHMEM, 1)) += 1;
		for (k = 0; k < stat_nr_index; k++)
			rstat_mark(groups[i]->stat, k);
	}
	stat_conserved();
	must(stat_state(memcg_root()->stat, STAT_SHMEM) == NR * stat_nr_index);
	/* The end of the stripe belongs to nobody yet. */
	if (arg)
		((volatile char *)stat_stripe_of(groups[0]->stat->number, groups[0]->stat->base, 1))[STAT_STRIDE - 1] =
			1;
}

static void usable_in_steps(void **state)
{
	int code;

	(void)state;
	child_expect_ok(child_run(steps, NULL));
	code = child_run(steps, "beyond");
	assert_true(code == CHILD_SIGNAL(SIGSEGV) || (SANITIZED && code != 0));
}

static int allocations_left;

static void *scarce_aligned(size_t align, size_t size)
{
	return allocations_left-- > 0 ? aligned_alloc(align, size) : NULL;
}

/* Creation that fails anywhere leaves nothing, and the next has the same block. */
static void scarce(const void *arg)
{
	const struct memcg_backing backing = { malloc, calloc, realloc, scarce_aligned, free };
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = FORM_FLAGS | (MEMCG_V1 ? MEMCG_INIT_V1 : 0),
		.backing = &backing,
	};
	struct memcg *group = NULL;
	uint32_t number;
	int i, err = -1;

	(void)arg;
	allocations_left = 1000;
	must(memcg_init(&options) == 0);
	group = group_make(NULL, "a");
	number = group->stat->number;
	destroy(group);
	memcg_tick();
	for (i = 0; err; i++) {
		must(i < 100);
		allocations_left = i;
		err = memcg_create(NULL, "b", &group);
		must(err == 0 || err == -ENOMEM);
	}
	must(i > 4);
	must(group->stat->number == number);
	stat_conserved();
}

static void out_of_memory(void **state)
{
	(void)state;
	child_expect_ok(child_run(scarce, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_costs_nothing), cmocka_unit_test(given_out_again),
		cmocka_unit_test(chunks_come_and_go), cmocka_unit_test(as_many_nodes_as_can_be),
		cmocka_unit_test(late_index),         cmocka_unit_test(out_of_memory),
		cmocka_unit_test(usable_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
