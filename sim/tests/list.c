/* SPDX-License-Identifier: MIT */
/* Every test of the library, in the order of --all. */
#include "tests/tests.h"

const struct sim_test *const sim_tests[] = {
	NULL,
};
