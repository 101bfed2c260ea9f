/* SPDX-License-Identifier: MIT */
/*
 * A lifeline tells others whether the thread that tied it still exists.
 *
 * A thread that ends runs the destructors of its keys in a few rounds (PTHREAD_DESTRUCTOR_ITERATIONS), and a key that is set
 * in the last one is forgotten; one that ends by a bare system call runs none. But the kernel always goes through
 * the robust mutexes that the thread holds. A lifeline is one: held from tie to untie, or until the kernel
 * marks it. It lies in memory that outlives the thread.
 *
 * Where there are no robust mutexes (qemu-user), a line never shows as cut.
 */
#ifndef BASE_LIFELINE_H
#define BASE_LIFELINE_H

#include <pthread.h>
#include <stdbool.h>

struct lifeline {
	pthread_mutex_t mutex; /* robust; held by the thread, and never waited for */
};

void lifeline_tie(struct lifeline *line);   /* by the thread itself; again in the child of a fork that it makes */
void lifeline_untie(struct lifeline *line); /* by the same thread, before the memory goes */

/*
 * By any thread, one at a time: has the thread ended, and not untied it? A thread that was joined is seen. After
 * true the line is untied, and not to be asked again.
 */
bool lifeline_is_cut(struct lifeline *line);

#endif
