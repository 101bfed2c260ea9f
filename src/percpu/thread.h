/* SPDX-License-Identifier: MIT */
/*
 * What the library keeps per thread: one structure in initial-exec thread-local storage, under
 * 128 bytes, so that the library can be loaded late. Reached through thread_self() only.
 */
#ifndef PERCPU_THREAD_H
#define PERCPU_THREAD_H

#include <memcg/inline.h>

#include "base/compiler.h"
#include "base/sim.h"

struct thread_state {
	struct memcg *current; /* what memcg_enter() set; NULL: home */
	struct memcg *home;    /* what memcg_attach() set, or another thread (member.c); NULL: the root; atomic */
	struct memcg_refusal refusal; /* of the last refused charge */
	uint32_t index;               /* area, where the kind is MEMCG_INDEX_THREAD */
	uint32_t started;             /* 1: has its index */
	uint32_t looked;              /* thread_moves when it last looked for a move of itself; 0: never */
	void *attached;               /* this thread's entry in the table of attached ones */
	uint32_t start_phase;         /* start.c: how far this thread is in memcg_init() */
	uint64_t scratch[2];          /* where the rseq form writes in a process without rseq; never read */
};

_Static_assert(offsetof(struct thread_state, current) == offsetof(struct memcg_thread_head_, current) &&
		       offsetof(struct thread_state, home) == offsetof(struct memcg_thread_head_, home),
	       "the inline path finds them at the head");
_Static_assert(sizeof(struct thread_state) <= 128, "the initial-exec block is scarce");

#ifdef MEMCG_SIM

static inline struct thread_state *thread_self(void)
{
	return sim_thread_state(sizeof(struct thread_state));
}

static inline ptrdiff_t thread_index_offset(void)
{
	return 0;
}

static inline ptrdiff_t thread_head_offset(void)
{
	return 0;
}

static inline ptrdiff_t thread_scratch_offset(void)
{
	return 0;
}

#else

extern __thread struct thread_state thread_state __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct thread_state *thread_self(void)
{
	return &thread_state;
}

/* The same for every thread: the block is part of the static one. */
static inline ptrdiff_t thread_index_offset(void)
{
	return (char *)&thread_state.index - (char *)__builtin_thread_pointer();
}

static inline ptrdiff_t thread_head_offset(void)
{
	return (char *)&thread_state - (char *)__builtin_thread_pointer();
}

static inline ptrdiff_t thread_scratch_offset(void)
{
	return (char *)thread_state.scratch - (char *)__builtin_thread_pointer();
}

#endif
#endif
