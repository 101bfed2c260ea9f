/* SPDX-License-Identifier: MIT */
/* Does the system mark the robust mutexes of a thread that ended? Emulators may not. */
#ifndef SUPPORT_ROBUST_H
#define SUPPORT_ROBUST_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static inline void *robust_lock(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static inline bool robust_mutexes_work(void)
{
	static pthread_mutex_t mutex;
	pthread_mutexattr_t attr;
	pthread_t thread;
	int ret;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
	if (pthread_create(&thread, NULL, robust_lock, &mutex) || pthread_join(thread, NULL))
		return false;
	ret = pthread_mutex_trylock(&mutex);
	if (ret == EOWNERDEAD) {
		pthread_mutex_consistent(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return ret == EOWNERDEAD;
}

#endif
