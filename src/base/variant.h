/* SPDX-License-Identifier: MIT */
/*
 * The variants: each source's before and after, from one tree. The default is the
 * best known; benches and the simulator compile the library once per variant.
 *
 * MEMCG_STOCK  LOCKED    seven slots under a per-CPU lock; a full slot is given back
 *                        to the counters while the lock is held (S2, before)
 *              DEFERRED  the same, given back after the lock is released (S2, after)
 *              RSEQ      one word per slot, committed by one store: no lock (default)
 */
#ifndef BASE_VARIANT_H
#define BASE_VARIANT_H

#define MEMCG_STOCK_LOCKED 0
#define MEMCG_STOCK_DEFERRED 1
#define MEMCG_STOCK_RSEQ 2

#ifndef MEMCG_STOCK
#define MEMCG_STOCK MEMCG_STOCK_RSEQ
#endif

#endif
