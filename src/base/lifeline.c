/* SPDX-License-Identifier: MIT */
/* A robust mutex that its thread holds as long as it lives. */
#include "base/lifeline.h"

#include <errno.h>

#include "base/assert.h"

#ifdef MEMCG_SIM

/* A simulated thread ends by its destructors only. */
void lifeline_tie(struct lifeline *line)
{
	(void)line;
}

void lifeline_untie(struct lifeline *line)
{
	(void)line;
}

bool lifeline_is_cut(struct lifeline *line)
{
	(void)line;
	return false;
}

#else

/* In the child of a fork the C library has emptied the list of what the thread holds. */
void lifeline_tie(struct lifeline *line)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	memcg_assert(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
	memcg_assert(pthread_mutex_init(&line->mutex, &attr) == 0);
	pthread_mutexattr_destroy(&attr);
	memcg_assert(pthread_mutex_lock(&line->mutex) == 0);
}

/* Not destroyed: there is nothing to it, and ThreadSanitizer has it locked once more in the child of a fork. */
void lifeline_untie(struct lifeline *line)
{
	pthread_mutex_unlock(&line->mutex);
}

bool lifeline_is_cut(struct lifeline *line)
{
	if (pthread_mutex_trylock(&line->mutex) != EOWNERDEAD)
		return false;
	pthread_mutex_consistent(&line->mutex);
	lifeline_untie(line);
	return true;
}

#endif
