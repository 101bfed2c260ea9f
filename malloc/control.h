/* SPDX-License-Identifier: MIT */
/* The control socket of a program under `memcg run`. */
#ifndef MEMCG_MALLOC_CONTROL_H
#define MEMCG_MALLOC_CONTROL_H

__attribute__((visibility("hidden"))) void control_start(void);  /* by our constructor */
__attribute__((visibility("hidden"))) void control_arrive(void); /* an allocation asks; the thread is busy */
__attribute__((visibility("hidden"))) void control_end(void);    /* the process is about to end; context: fast */

#endif
