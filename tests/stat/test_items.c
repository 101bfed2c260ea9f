/* SPDX-License-Identifier: MIT */
/* The item table: order, units, what an update is worth in pages. */
#include "support/child.h"

#include <limits.h>

#include "stat/add.h"

/* memory.stat of Linux 7.2, with every option of its configuration on, but for hugetlb's mount option. */
static const char *const keys[] = {
	"anon",
	"file",
	"kernel",
	"kernel_stack",
	"pagetables",
	"sec_pagetables",
	"percpu",
	"sock",
	"vmalloc",
	"shmem",
	"zswap",
	"zswapped",
	"zswap_incomp",
	"file_mapped",
	"file_dirty",
	"file_writeback",
	"swapcached",
	"anon_thp",
	"file_thp",
	"shmem_thp",
	"inactive_anon",
	"active_anon",
	"inactive_file",
	"active_file",
	"unevictable",
	"slab_reclaimable",
	"slab_unreclaimable",
	"slab",
	"workingset_refault_anon",
	"workingset_refault_file",
	"workingset_activate_anon",
	"workingset_activate_file",
	"workingset_restore_anon",
	"workingset_restore_file",
	"workingset_nodereclaim",
	"pgdemote_kswapd",
	"pgdemote_direct",
	"pgdemote_khugepaged",
	"pgdemote_proactive",
	"pgsteal_kswapd",
	"pgsteal_direct",
	"pgsteal_khugepaged",
	"pgsteal_proactive",
	"pgscan_kswapd",
	"pgscan_direct",
	"pgscan_khugepaged",
	"pgscan_proactive",
	"pgrefill",
	"pgpromote_success",
	"pgscan",
	"pgsteal",
	"pswpin",
	"pswpout",
	"pgfault",
	"pgmajfault",
	"pgactivate",
	"pgdeactivate",
	"pglazyfree",
	"pglazyfreed",
	"swpin_zero",
	"swpout_zero",
	"zswpin",
	"zswpout",
	"zswpwb",
	"thp_fault_alloc",
	"thp_collapse_alloc",
	"thp_swpout",
	"thp_swpout_fallback",
	"numa_pages_migrated",
	"numa_pte_updates",
	"numa_hint_faults",
};

static void order(void **state)
{
	unsigned int i, k = 0;

	(void)state;
	for (i = 0; i < stat_nr_lines; i++) {
		if (!stat_lines[i].key)
			continue;
		assert_in_range(k, 0, array_size(keys) - 1);
		assert_string_equal(stat_lines[i].key, keys[k++]);
	}
	assert_int_equal(k, array_size(keys));
}

/* 47 node items, 7 of the group alone, 22 events; each has a line of its own, and a unit. */
static void complete(void **state)
{
	unsigned int seen[STAT_NR] = { 0 }, i;

	(void)state;
	assert_int_equal(STAT_NODE_END, 47);
	assert_int_equal(STAT_STATE_END, 54);
	assert_int_equal(STAT_END, 76);
	for (i = 0; i < stat_nr_lines; i++) {
		const struct stat_line *line = &stat_lines[i];

		if (line->kind == STAT_LINE_SUM)
			continue;
		assert_int_equal(line->first, line->last);
		assert_int_equal(line->kind == STAT_LINE_NODE, line->first < STAT_NODE_END);
		seen[line->first]++;
	}
	for (i = 0; i < STAT_NR; i++) {
		assert_int_equal(seen[i], 1);
		assert_true(stat_units[i].bytes == 1 || stat_units[i].bytes == 1024 || stat_units[i].bytes == 4096);
	}
}

static void units(void **state)
{
	(void)state;
	assert_int_equal(stat_shown(STAT_ANON, 3), 3 * 4096);
	assert_int_equal(stat_shown(STAT_KERNEL_STACK, 16), 16 * 1024);
	assert_int_equal(stat_shown(STAT_SLAB_RECLAIMABLE, 100), 100);
	assert_int_equal(stat_shown(STAT_PERCPU, 100), 100);
	assert_int_equal(stat_shown(STAT_ZSWAPPED, 2), 2 * 4096);
	assert_int_equal(stat_shown(STAT_WORKINGSET_REFAULT_FILE, 3), 3);
	assert_int_equal(stat_shown(STAT_PGSCAN_KSWAPD, 3), 3);
	assert_int_equal(stat_shown(STAT_PGFAULT, 3), 3);
	assert_int_equal(stat_shown(STAT_ANON, -3), 0);
}

/* Rounded down, at least 1, whatever the sign; what is counted in pages passes. */
static void in_pages(void **state)
{
	(void)state;
	assert_int_equal(stat_in_pages(STAT_ANON, 5), 5);
	assert_int_equal(stat_in_pages(STAT_ANON, -5), 5);
	assert_int_equal(stat_in_pages(STAT_ANON, 0), 0);
	assert_int_equal(stat_in_pages(STAT_PGFAULT, 7), 7);
	assert_int_equal(stat_in_pages(STAT_SLAB_RECLAIMABLE, 1), 1);
	assert_int_equal(stat_in_pages(STAT_SLAB_RECLAIMABLE, 8191), 1);
	assert_int_equal(stat_in_pages(STAT_SLAB_RECLAIMABLE, 8192), 2);
	assert_int_equal(stat_in_pages(STAT_SLAB_UNRECLAIMABLE, -8192), 2);
	assert_int_equal(stat_in_pages(STAT_KERNEL_STACK, 3), 1);
	assert_int_equal(stat_in_pages(STAT_KERNEL_STACK, -16), 4);
	assert_int_equal(stat_in_pages(STAT_PERCPU, -1), 1);
	assert_int_equal(stat_in_pages(STAT_ANON, LONG_MIN), 1UL << 63);
}

/* Sums are of what they say. */
static void sums(void **state)
{
	struct group_stat *stat = calloc(1, sizeof(*stat));
	unsigned int i;

	(void)state;
	assert_non_null(stat);
	stat->state[STAT_SLAB_RECLAIMABLE] = 100;
	stat->state[STAT_SLAB_UNRECLAIMABLE] = 7;
	stat->state[STAT_PGSCAN_KSWAPD] = 1;
	stat->state[STAT_PGSCAN_DIRECT] = 10;
	stat->state[STAT_PGSCAN_KHUGEPAGED] = 100;
	stat->state[STAT_PGSCAN_PROACTIVE] = 1000;
	stat->state[STAT_PGSCAN_ANON] = 5;
	stat->state[STAT_PGSTEAL_DIRECT] = 3;
	stat->state[STAT_PGSTEAL_FILE] = 5;
	for (i = 0; i < stat_nr_lines; i++) {
		uint64_t value = stat_line_value(stat, &stat_lines[i]);

		if (!stat_lines[i].key)
			continue;
		if (!strcmp(stat_lines[i].key, "slab"))
			assert_int_equal(value, 107);
		if (!strcmp(stat_lines[i].key, "pgscan"))
			assert_int_equal(value, 1111);
		if (!strcmp(stat_lines[i].key, "pgsteal"))
			assert_int_equal(value, 3);
	}
	free(stat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),    cmocka_unit_test(complete), cmocka_unit_test(units),
		cmocka_unit_test(in_pages), cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
