/* SPDX-License-Identifier: MIT */
/* Anonymous private mappings, charged by their size (MEMCG_RUN_MMAP=1). */
#ifndef MEMCG_MAPS_H
#define MEMCG_MAPS_H

/* After the library and the malloc below were started: fork handlers, and whose mappings are not the program's. */
__attribute__((visibility("hidden"))) void maps_start(void);

#endif
