/* SPDX-License-Identifier: MIT */
/* The tests of explore, by file. */
#ifndef SIM_TESTS_H
#define SIM_TESTS_H

#include "explore/test.h"

#endif
