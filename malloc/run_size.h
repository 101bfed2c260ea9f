/* SPDX-License-Identifier: MIT */
/* What a limit may be, for `memcg run` and for the library that it hands it to. */
#ifndef MEMCG_RUN_SIZE_H
#define MEMCG_RUN_SIZE_H

#include <stdbool.h>

#define RUN_SIZE_BYTES 64 /* of the longest, with its NUL */

__attribute__((visibility("hidden"))) bool run_size_is_valid(const char *text);

#endif
