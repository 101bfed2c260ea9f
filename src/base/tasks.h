/* SPDX-License-Identifier: MIT */
/* The threads of this process, as the kernel lists them; without stdio or allocation. */
#ifndef BASE_TASKS_H
#define BASE_TASKS_H

#include <sys/types.h>

#include "base/compiler.h"

int tasks_each(void (*each)(pid_t tid, void *arg), void *arg); /* 0; negative errno: no /proc here */
bool task_is_library(pid_t tid);                               /* is it one of the library's own, by its name? */

/* When a thread began, by the kernel's ticks. 0: no thread of this process. */
uint64_t task_start(pid_t tid);
#define TASK_START_UNKNOWN 1 /* it lives; when it began cannot be read now */

/* Can threads of one tid, which began then, be the same? Of two that live, or lived. */
static inline bool task_same(uint64_t start, uint64_t other)
{
	return start == other || start == TASK_START_UNKNOWN || other == TASK_START_UNKNOWN;
}

#endif
