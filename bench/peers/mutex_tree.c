/* SPDX-License-Identifier: MIT */
/*
 * One mutex for the tree, plain numbers below it: exact, and nothing to undo, for
 * all levels are looked at before the first is changed. A mutex per level, as some
 * have it, costs an atomic per level and the waiting besides.
 */
#include <pthread.h>

#include <memcg/charge.h>

#include "tracker.h"

static pthread_mutex_t lock __attribute__((aligned(128))) = PTHREAD_MUTEX_INITIALIZER; /* every usage and peak */

int memcg_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	struct tracker *t;
	int err = 0;

	(void)flags;
	pthread_mutex_lock(&lock);
	for (t = (struct tracker *)group; t; t = t->parent)
		if (__builtin_expect(t->usage + (long)nr_pages > t->max, 0))
			err = -ENOMEM;
	for (t = err ? NULL : (struct tracker *)group; t; t = t->parent) {
		t->usage += (long)nr_pages;
		if (__builtin_expect(t->usage > t->peak, 0))
			t->peak = t->usage;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void memcg_uncharge(struct memcg *group, unsigned long nr_pages)
{
	struct tracker *t;

	pthread_mutex_lock(&lock);
	for (t = (struct tracker *)group; t; t = t->parent)
		t->usage -= (long)nr_pages;
	pthread_mutex_unlock(&lock);
}
