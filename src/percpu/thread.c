/* SPDX-License-Identifier: MIT */
/* The library's thread-local block. */
#include "percpu/thread.h"

#ifndef MEMCG_SIM
__thread struct thread_state thread_state;
#endif
