/* SPDX-License-Identifier: MIT */
/* The tests of the library, by file. */
#ifndef SIM_TESTS_H
#define SIM_TESTS_H

#include "explore/test.h"

/* charge.c */
extern const struct sim_test test_charge_drain, test_charge_preempted, test_two_drains, test_charge_drain_small,
	test_charge_portable, test_portable_irq, test_force_move;
/* limit.c */
extern const struct sim_test test_refusal, test_refusal_two_levels, test_refusal_success, test_exact_limit,
	test_limit_race, test_undecided, test_capped_above, test_refused_again, test_last_page, test_last_page_sleeping,
	test_max_lowered;
/* slots.c */
extern const struct sim_test test_replace_refill, test_replace_irq, test_room, test_budget;
/* destroy.c */
extern const struct sim_test test_destroy_charge, test_destroy_bytes, test_destroy_small, test_late_bytes,
	test_dead_bytes, test_reparent, test_zombie, test_create_destroy, test_walk_destroy, test_scope;
/* bytes.c */
extern const struct sim_test test_bytes_drain, test_bytes_move, test_heap;
/* irq.c */
extern const struct sim_test test_irq_charge, test_irq_destroy, test_irq_limit;
/* events.c */
extern const struct sim_test test_events_told, test_events_late, test_events_listen, test_events_unlisten,
	test_events_self, test_events_destroy, test_events_fork, test_moves, test_moved_out, test_moved_in_and_out;
/* fork.c */
extern const struct sim_test test_fork_charge, test_fork_parent, test_fork_drain, test_fork_destroy;
/* stat.c */
extern const struct sim_test test_stat_flush, test_stat_part, test_stat_preempted, test_stat_portable, test_stat_irq,
	test_stat_lag, test_stat_destroy, test_stat_destroy_flush, test_stat_reuse;

#endif
