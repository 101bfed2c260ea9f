/* SPDX-License-Identifier: MIT */
/* A sleeping lock with a rank. */
#include "base/lock.h"

#include "base/assert.h"
#include "base/sim.h"

#if MEMCG_DEBUG && !defined(MEMCG_SIM)
static __thread unsigned int held_ranks; /* bit r: a lock of rank r is held by this thread */

static void rank_take(enum lock_rank rank)
{
	memcg_assert((held_ranks >> rank) == 0);
	held_ranks |= 1U << rank;
}

static void rank_drop(enum lock_rank rank)
{
	memcg_assert(held_ranks & (1U << rank));
	held_ranks &= ~(1U << rank);
}
#else
static void rank_take(enum lock_rank rank)
{
	(void)rank;
}

static void rank_drop(enum lock_rank rank)
{
	(void)rank;
}
#endif

#ifdef MEMCG_SIM

void lock_take(struct lock *lock)
{
	rank_take(lock->rank);
	sim_mutex_lock(lock);
}

bool lock_try(struct lock *lock)
{
	if (!sim_mutex_trylock(lock))
		return false;
	rank_take(lock->rank);
	return true;
}

void lock_drop(struct lock *lock)
{
	rank_drop(lock->rank);
	sim_mutex_unlock(lock);
}

bool lock_try_nowait(struct lock *lock)
{
	return sim_mutex_trylock(lock);
}

void lock_drop_tried(struct lock *lock)
{
	sim_mutex_unlock(lock);
}

void lock_reinit(struct lock *lock)
{
	lock_drop(lock);
}

#else

void lock_take(struct lock *lock)
{
	int state;

	rank_take(lock->rank);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	memcg_assert(pthread_mutex_lock(&lock->mutex) == 0);
	lock->cancel_state = state;
}

bool lock_try(struct lock *lock)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (pthread_mutex_trylock(&lock->mutex)) {
		pthread_setcancelstate(state, NULL);
		return false;
	}
	rank_take(lock->rank);
	lock->cancel_state = state;
	return true;
}

void lock_drop(struct lock *lock)
{
	int state = lock->cancel_state;

	rank_drop(lock->rank);
	memcg_assert(pthread_mutex_unlock(&lock->mutex) == 0);
	pthread_setcancelstate(state, NULL);
}

/* May interrupt who is about to take it, or another: its rank is not noted. */
bool lock_try_nowait(struct lock *lock)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (pthread_mutex_trylock(&lock->mutex) == 0) {
		lock->cancel_state = state;
		return true;
	}
	pthread_setcancelstate(state, NULL);
	return false;
}

void lock_drop_tried(struct lock *lock)
{
	int state = lock->cancel_state;

	memcg_assert(pthread_mutex_unlock(&lock->mutex) == 0);
	pthread_setcancelstate(state, NULL);
}

void lock_reinit(struct lock *lock)
{
	rank_drop(lock->rank);
	pthread_mutex_init(&lock->mutex, NULL);
	pthread_setcancelstate(lock->cancel_state, NULL);
}

#endif
