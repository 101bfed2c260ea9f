/* SPDX-License-Identifier: MIT */
/* Every test of the library, in the order of --all. */
#include "tests/tests.h"

const struct sim_test *const sim_tests[] = {
	&test_charge_drain,    &test_charge_preempted,
	&test_two_drains,      &test_charge_drain_small,
	&test_charge_portable, &test_force_move,
	&test_refusal,         &test_refusal_two_levels,
	&test_refusal_success, &test_exact_limit,
	&test_limit_race,      &test_undecided,
	&test_last_page,       &test_last_page_sleeping,
	&test_max_lowered,     &test_replace_refill,
	&test_replace_irq,     &test_room,
	&test_budget,          &test_destroy_charge,
	&test_destroy_bytes,   &test_destroy_small,
	&test_late_bytes,      &test_reparent,
	&test_create_destroy,  &test_walk_destroy,
	&test_scope,           &test_bytes_drain,
	&test_bytes_move,      &test_heap,
	&test_irq_charge,      &test_irq_destroy,
	&test_irq_limit,       &test_fork_charge,
	&test_fork_parent,     &test_fork_drain,
	&test_fork_destroy,    NULL,
};
