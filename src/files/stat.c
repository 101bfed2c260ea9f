/* SPDX-License-Identifier: MIT */
/*
 * memory.stat: every key of the kernel's, in its order, so that existing parsers work.
 * One that nothing feeds reads 0; docs/files.md says which are live.
 */
#include "base/rcu.h"
#include "files/table.h"
#include "group/house.h"

static const char *const stat_keys[] = {
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

/* Heap bytes of the subtree, in whole pages as charged: with what byte stocks hold of them, as the kernel counts. */
static uint64_t heap_bytes(struct memcg *top)
{
	struct css *pos = NULL;
	int64_t pages = 0;

	lock_take(&tree_lock);
	while ((pos = css_next(pos, &top->css)))
		pages += objcg_pages(memcg_of(pos)->objcg);
	lock_drop(&tree_lock);
	return pages > 0 ? (uint64_t)pages * MEMCG_PAGE_SIZE : 0;
}

void stat_read(struct memcg *memcg, struct text *out)
{
	uint64_t anon;
	size_t i;

	/* What destroyed groups left is counted where it belongs before it is read. */
	if (!house_idle() && !rcu_inside())
		house_run();
	anon = heap_bytes(memcg);
	for (i = 0; i < array_size(stat_keys); i++)
		text_line(out, stat_keys[i], i ? 0 : anon);
}
