/* SPDX-License-Identifier: MIT */
/*
 * The seam to the simulator. In a simulator build the hooks come from its runtime; in
 * every other build they are constants, so that no caller needs an #if.
 */
#ifndef BASE_SIM_H
#define BASE_SIM_H

#ifdef MEMCG_SIM
#include "runtime/hooks.h"
#else

#define sim_assert_fail(expr, file, line) ((void)0)
#define sim_fault(fault) 0
#define sim_relax(ptr) ((void)0)
#define sim_name(ptr, size, type, field) ((void)0)
#define sim_name_field(object, type, field) ((void)0)

#endif
#endif
