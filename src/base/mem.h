/* SPDX-License-Identifier: MIT */
/*
 * The library's own memory and time: through hooks, so that an interposing malloc can
 * give what is below it, and the simulator its own.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <memcg/memcg.h>

#include "base/compiler.h"

extern struct memcg_backing mem_backing; /* written at start only */

void *mem_zalloc(size_t size); /* 128-byte aligned, zeroed; NULL when there is none */
void mem_free(void *ptr);      /* NULL is ignored */
void mem_ask(void);            /* a block, and back: what the allocator does at its first call, it does now */

uint64_t clock_ns(void); /* monotonic */
void clock_pause(unsigned int attempt,
		 const void *polled); /* wait a little longer with each attempt: relax, yield, sleep */

#endif
