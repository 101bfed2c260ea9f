/* SPDX-License-Identifier: MIT */
/*
 * The variants: each source's before and after, from one tree. The default is the
 * best known; benches and the simulator compile the library once per variant.
 *
 * MEMCG_STOCK  LOCKED    seven slots under a per-CPU lock; a full slot is given back
 *                        to the counters while the lock is held (S2, before)
 *              DEFERRED  the same, given back after the lock is released (S2, after)
 *              RSEQ      one word per slot, committed by one store: no lock (default)
 *
 * MEMCG_LAYOUT BASE      per-node part of a group: list heads next to what every update reads (S1, before)
 *              PAIRED    the cold part next to it (S1, after)
 *              ALIGNED   the same, on pairs of lines, and each object on one (default)
 *
 * MEMCG_STAT_PATH LRUVEC node items are counted by way of the lruvec (S1, before)
 *                 DIRECT by group and node (default)
 */
#ifndef BASE_VARIANT_H
#define BASE_VARIANT_H

#define MEMCG_STOCK_LOCKED 0
#define MEMCG_STOCK_DEFERRED 1
#define MEMCG_STOCK_RSEQ 2

#ifndef MEMCG_STOCK
#define MEMCG_STOCK MEMCG_STOCK_RSEQ
#endif

#define MEMCG_LAYOUT_BASE 0
#define MEMCG_LAYOUT_PAIRED 1
#define MEMCG_LAYOUT_ALIGNED 2

#ifndef MEMCG_LAYOUT
#define MEMCG_LAYOUT MEMCG_LAYOUT_ALIGNED
#endif

#define MEMCG_STAT_LRUVEC 0
#define MEMCG_STAT_DIRECT 1

#ifndef MEMCG_STAT_PATH
#define MEMCG_STAT_PATH MEMCG_STAT_DIRECT
#endif

#endif
