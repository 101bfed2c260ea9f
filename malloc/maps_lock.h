/* SPDX-License-Identifier: MIT */
/* What maps.c works under: whose calls count, the lock of the ranges, and fork. */
#ifndef MEMCG_MAPS_LOCK_H
#define MEMCG_MAPS_LOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define MAPS_HIDDEN __attribute__((visibility("hidden")))

/* False: the call is none of the program's, or nothing is counted. True: the thread is busy until maps_end(). */
MAPS_HIDDEN bool maps_begin(const void *caller);
MAPS_HIDDEN void maps_end(void);

MAPS_HIDDEN void maps_lock_take(sigset_t *mask); /* and blocks signals; @mask is what there was */
MAPS_HIDDEN void maps_lock_drop(const sigset_t *mask);

MAPS_HIDDEN size_t maps_round(size_t len); /* up to whole pages; 0 for 0, and for what cannot be */

#endif
