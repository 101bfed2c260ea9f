/* SPDX-License-Identifier: MIT */
/*
 * Statistics as numbers: what memory.stat shows, without its text, and exactly if asked for.
 */
#ifndef MEMCG_STAT_H
#define MEMCG_STAT_H

#include <memcg/memcg.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * memcg_stat_flush - bring the statistics of @group and all below it up to date
 * @group: NULL for the root
 *
 * Every update that returned before the call is in what is read after it. Without this a reader may see
 * totals that lag by up to 127 pages for each CPU in use, and by up to two seconds.
 * Context: thread; costs what was updated since the last flush, not what exists.
 * Return: 0; -EINVAL for memcg_unaccounted(); -ENODEV for a destroyed group.
 */
MEMCG_API int memcg_stat_flush(struct memcg *group);

/**
 * memcg_stat_read - one key of memory.stat
 * @group: NULL for the root
 * @key:   "anon"
 * @value: receives what the file shows: bytes, or a count
 *
 * Flushes as a read of the file does: if the totals may lag by more than they may.
 * Context: thread. Return: 0; -ENOENT for an unknown key; -EINVAL for memcg_unaccounted(); -ENODEV.
 */
MEMCG_API int memcg_stat_read(struct memcg *group, const char *key, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
