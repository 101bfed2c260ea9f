/* SPDX-License-Identifier: MIT */
/*
 * The statistics items: one table, from which come the arrays, memory.stat, memory.numa_stat, and the files of v1.
 *
 * A row is NODE (per group and node; of the whole group too), GROUP (of the group alone), EVENT (counts
 * that only grow) or SUM (no item: a line made of others). Rows are in the order of memory.stat, and
 * memory.numa_stat is the NODE rows of it. Columns:
 *
 *   id       STAT_<id>
 *   key      its line in the v2 files; HIDE keeps it out of them
 *   native   what an update counts in: PAGES, KIB, BYTES
 *   output   BYTES: shown in bytes; RAW: as counted. Numbers of pages that the kernel calls counts are RAW
 */
#ifndef STAT_ITEMS_H
#define STAT_ITEMS_H

#include "base/compiler.h"

/* clang-format off */
#define STAT_TABLE(NODE, GROUP, EVENT, SUM)                             \
	NODE(ANON, "anon", PAGES, BYTES)                                \
	NODE(FILE, "file", PAGES, BYTES)                                \
	GROUP(KERNEL, "kernel", PAGES, BYTES)                           \
	NODE(KERNEL_STACK, "kernel_stack", KIB, BYTES)                  \
	NODE(PAGETABLES, "pagetables", PAGES, BYTES)                    \
	NODE(SEC_PAGETABLES, "sec_pagetables", PAGES, BYTES)            \
	GROUP(PERCPU, "percpu", BYTES, BYTES)                           \
	GROUP(SOCK, "sock", PAGES, BYTES)                               \
	NODE(VMALLOC, "vmalloc", PAGES, BYTES)                          \
	NODE(SHMEM, "shmem", PAGES, BYTES)                              \
	GROUP(ZSWAP, "zswap", BYTES, BYTES)                             \
	GROUP(ZSWAPPED, "zswapped", PAGES, BYTES)                       \
	GROUP(ZSWAP_INCOMP, "zswap_incomp", PAGES, BYTES)               \
	NODE(FILE_MAPPED, "file_mapped", PAGES, BYTES)                  \
	NODE(FILE_DIRTY, "file_dirty", PAGES, BYTES)                    \
	NODE(FILE_WRITEBACK, "file_writeback", PAGES, BYTES)            \
	NODE(SWAPCACHED, "swapcached", PAGES, BYTES)                    \
	NODE(ANON_THP, "anon_thp", PAGES, BYTES)                        \
	NODE(FILE_THP, "file_thp", PAGES, BYTES)                        \
	NODE(SHMEM_THP, "shmem_thp", PAGES, BYTES)                      \
	NODE(INACTIVE_ANON, "inactive_anon", PAGES, BYTES)              \
	NODE(ACTIVE_ANON, "active_anon", PAGES, BYTES)                  \
	NODE(INACTIVE_FILE, "inactive_file", PAGES, BYTES)              \
	NODE(ACTIVE_FILE, "active_file", PAGES, BYTES)                  \
	NODE(UNEVICTABLE, "unevictable", PAGES, BYTES)                  \
	NODE(SLAB_RECLAIMABLE, "slab_reclaimable", BYTES, BYTES)        \
	NODE(SLAB_UNRECLAIMABLE, "slab_unreclaimable", BYTES, BYTES)    \
	SUM(SLAB, "slab", SLAB_RECLAIMABLE, SLAB_UNRECLAIMABLE)         \
	NODE(HUGETLB, HIDE, PAGES, BYTES)                               \
	NODE(WORKINGSET_REFAULT_ANON, "workingset_refault_anon", PAGES, RAW)     \
	NODE(WORKINGSET_REFAULT_FILE, "workingset_refault_file", PAGES, RAW)     \
	NODE(WORKINGSET_ACTIVATE_ANON, "workingset_activate_anon", PAGES, RAW)   \
	NODE(WORKINGSET_ACTIVATE_FILE, "workingset_activate_file", PAGES, RAW)   \
	NODE(WORKINGSET_RESTORE_ANON, "workingset_restore_anon", PAGES, RAW)     \
	NODE(WORKINGSET_RESTORE_FILE, "workingset_restore_file", PAGES, RAW)     \
	NODE(WORKINGSET_NODERECLAIM, "workingset_nodereclaim", PAGES, RAW)       \
	NODE(PGDEMOTE_KSWAPD, "pgdemote_kswapd", PAGES, RAW)            \
	NODE(PGDEMOTE_DIRECT, "pgdemote_direct", PAGES, RAW)            \
	NODE(PGDEMOTE_KHUGEPAGED, "pgdemote_khugepaged", PAGES, RAW)    \
	NODE(PGDEMOTE_PROACTIVE, "pgdemote_proactive", PAGES, RAW)      \
	NODE(PGSTEAL_KSWAPD, "pgsteal_kswapd", PAGES, RAW)              \
	NODE(PGSTEAL_DIRECT, "pgsteal_direct", PAGES, RAW)              \
	NODE(PGSTEAL_KHUGEPAGED, "pgsteal_khugepaged", PAGES, RAW)      \
	NODE(PGSTEAL_PROACTIVE, "pgsteal_proactive", PAGES, RAW)        \
	NODE(PGSTEAL_ANON, HIDE, PAGES, RAW)                            \
	NODE(PGSTEAL_FILE, HIDE, PAGES, RAW)                            \
	NODE(PGSCAN_KSWAPD, "pgscan_kswapd", PAGES, RAW)                \
	NODE(PGSCAN_DIRECT, "pgscan_direct", PAGES, RAW)                \
	NODE(PGSCAN_KHUGEPAGED, "pgscan_khugepaged", PAGES, RAW)        \
	NODE(PGSCAN_PROACTIVE, "pgscan_proactive", PAGES, RAW)          \
	NODE(PGSCAN_ANON, HIDE, PAGES, RAW)                             \
	NODE(PGSCAN_FILE, HIDE, PAGES, RAW)                             \
	NODE(PGREFILL, "pgrefill", PAGES, RAW)                          \
	NODE(PGPROMOTE_SUCCESS, "pgpromote_success", PAGES, RAW)        \
	SUM(PGSCAN, "pgscan", PGSCAN_KSWAPD, PGSCAN_PROACTIVE)          \
	SUM(PGSTEAL, "pgsteal", PGSTEAL_KSWAPD, PGSTEAL_PROACTIVE)      \
	GROUP(SWAP, HIDE, PAGES, BYTES)                                 \
	EVENT(PGPGIN, HIDE, PAGES, RAW)                                 \
	EVENT(PGPGOUT, HIDE, PAGES, RAW)                                \
	EVENT(PSWPIN, "pswpin", PAGES, RAW)                             \
	EVENT(PSWPOUT, "pswpout", PAGES, RAW)                           \
	EVENT(PGFAULT, "pgfault", PAGES, RAW)                           \
	EVENT(PGMAJFAULT, "pgmajfault", PAGES, RAW)                     \
	EVENT(PGACTIVATE, "pgactivate", PAGES, RAW)                     \
	EVENT(PGDEACTIVATE, "pgdeactivate", PAGES, RAW)                 \
	EVENT(PGLAZYFREE, "pglazyfree", PAGES, RAW)                     \
	EVENT(PGLAZYFREED, "pglazyfreed", PAGES, RAW)                   \
	EVENT(SWPIN_ZERO, "swpin_zero", PAGES, RAW)                     \
	EVENT(SWPOUT_ZERO, "swpout_zero", PAGES, RAW)                   \
	EVENT(ZSWPIN, "zswpin", PAGES, RAW)                             \
	EVENT(ZSWPOUT, "zswpout", PAGES, RAW)                           \
	EVENT(ZSWPWB, "zswpwb", PAGES, RAW)                             \
	EVENT(THP_FAULT_ALLOC, "thp_fault_alloc", PAGES, RAW)           \
	EVENT(THP_COLLAPSE_ALLOC, "thp_collapse_alloc", PAGES, RAW)     \
	EVENT(THP_SWPOUT, "thp_swpout", PAGES, RAW)                     \
	EVENT(THP_SWPOUT_FALLBACK, "thp_swpout_fallback", PAGES, RAW)   \
	EVENT(NUMA_PAGES_MIGRATED, "numa_pages_migrated", PAGES, RAW)   \
	EVENT(NUMA_PTE_UPDATES, "numa_pte_updates", PAGES, RAW)         \
	EVENT(NUMA_HINT_FAULTS, "numa_hint_faults", PAGES, RAW)

/* memory.stat of v1, in its order: key, item. All of it once more follows, of the subtree, with "total_" in front. */
#define STAT_V1_TABLE(ROW)                                      \
	ROW("cache", FILE)                                      \
	ROW("rss", ANON)                                        \
	ROW("rss_huge", ANON_THP)                               \
	ROW("shmem", SHMEM)                                     \
	ROW("mapped_file", FILE_MAPPED)                         \
	ROW("dirty", FILE_DIRTY)                                \
	ROW("writeback", FILE_WRITEBACK)                        \
	ROW("workingset_refault_anon", WORKINGSET_REFAULT_ANON) \
	ROW("workingset_refault_file", WORKINGSET_REFAULT_FILE) \
	ROW("swap", SWAP)                                       \
	ROW("swapcached", SWAPCACHED)                           \
	ROW("pgpgin", PGPGIN)                                   \
	ROW("pgpgout", PGPGOUT)                                 \
	ROW("pgfault", PGFAULT)                                 \
	ROW("pgmajfault", PGMAJFAULT)                           \
	ROW("inactive_anon", INACTIVE_ANON)                     \
	ROW("active_anon", ACTIVE_ANON)                         \
	ROW("inactive_file", INACTIVE_FILE)                     \
	ROW("active_file", ACTIVE_FILE)                         \
	ROW("unevictable", UNEVICTABLE)
/* clang-format on */

#define STAT_ID_(id, key, native, output) STAT_##id,
#define STAT_NO_ID_(id, key, native, output)

/* Dense: node items, then those of the group alone, then events. */
enum stat_item {
	STAT_TABLE(STAT_ID_, STAT_NO_ID_, STAT_NO_ID_, STAT_NO_ID_) STAT_NODE_END,
	STAT_NODE_LAST = STAT_NODE_END - 1,
	STAT_TABLE(STAT_NO_ID_, STAT_ID_, STAT_NO_ID_, STAT_NO_ID_) STAT_STATE_END,
	STAT_STATE_LAST = STAT_STATE_END - 1,
	STAT_TABLE(STAT_NO_ID_, STAT_NO_ID_, STAT_ID_, STAT_NO_ID_) STAT_END,
};

#define STAT_NR_NODE ((unsigned int)STAT_NODE_END)
#define STAT_NR ((unsigned int)STAT_END)

#endif
