/* SPDX-License-Identifier: MIT */
/* The simulator's own tests, by file. */
#ifndef SIM_LITMUS_H
#define SIM_LITMUS_H

#include "explore/test.h"

/* litmus.c: memory order, sections, fences */
extern const struct sim_test litmus_sb, litmus_sb_plain, litmus_sb_fence, litmus_mp, litmus_2plus2w;
extern const struct sim_test litmus_count_plain, litmus_count_section, litmus_irq_plain, litmus_irq_section;
extern const struct sim_test litmus_drain, litmus_drain_unfenced, litmus_drain_by_cid, litmus_toy, litmus_tls;

/* lifetime.c: memory, grace periods, locks, time, fork */
extern const struct sim_test litmus_rcu_early, litmus_rcu, litmus_uaf, litmus_double_free, litmus_bounds;
extern const struct sim_test litmus_aba, litmus_deadlock, litmus_mutex, litmus_livelock, litmus_spin, litmus_sleep;
extern const struct sim_test litmus_fork, litmus_fork_handled, litmus_null, litmus_memcpy, litmus_irq_sleeps,
	litmus_closed;

/* cost.c: of the library, counted */
extern const struct sim_test cost_of_reads;

#endif
