/* SPDX-License-Identifier: MIT */
/*
 * Asserts in three tiers.
 *
 *   memcg_assert      always: cheap, and what goes on would corrupt the tree
 *   memcg_debug       debug builds: anything that costs a load or two
 *   memcg_expensive   debug builds with MEMCG_DEBUG >= 2: walkers over structures
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include "base/compiler.h"

#ifndef MEMCG_DEBUG
#define MEMCG_DEBUG 0
#endif

__attribute__((noreturn, cold)) void assert_failed(const char *expr, const char *file, int line);

#define memcg_assert(expr) (likely(expr) ? (void)0 : assert_failed(#expr, __FILE__, __LINE__))

#if MEMCG_DEBUG
#define memcg_debug(expr) memcg_assert(expr)
#else
#define memcg_debug(expr) ((void)sizeof(!(expr)))
#endif

#if MEMCG_DEBUG >= 2
#define memcg_expensive(expr) memcg_assert(expr)
#else
#define memcg_expensive(expr) ((void)sizeof(!(expr)))
#endif

#endif
