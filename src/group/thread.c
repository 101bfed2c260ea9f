/* SPDX-License-Identifier: MIT */
/*
 * Membership of threads: the home (attach), the scope (enter, leave).
 *
 * A home is a membership that others see: it keeps the group from being destroyed and
 * ends with the thread. A scope is the thread's own affair: one store.
 */
#include "group/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "group/member.h"

#define KEYS_AT_HAND 32U /* keys below need no memory for a thread's first value (glibc) */

static struct lock threads_mutex = LOCK_INIT(LOCK_RANK_THREADS);
static pthread_key_t exit_key; /* its destructor detaches */

void threads_lock(void)
{
	lock_take(&threads_mutex);
}

void threads_unlock(void)
{
	lock_drop(&threads_mutex);
}

static void detach(void *arg)
{
	struct attached *entry = arg;
	struct thread_state *self = thread_self();
	struct memcg *home;

	threads_lock();
	home = member_del(entry);
	store_relaxed(&self->home, NULL);
	self->attached = NULL;
	threads_unlock();
	kept_put(entry->kept);
	mem_free(entry);
	memcg_put(home);
}

int thread_start(void)
{
	static bool have_key; /* a start that failed later made it; start lock */
	int err = have_key ? 0 : -pthread_key_create(&exit_key, detach);

	have_key = !err;
	return err;
}

bool thread_can_look(void)
{
	return exit_key < KEYS_AT_HAND;
}

bool thread_look(struct thread_state *self)
{
	struct attached *entry;

	if (!threads_unknown())
		return true;
	if (!lock_try(&threads_mutex))
		return false;
	entry = self->attached ? NULL : member_find((pid_t)syscall(SYS_gettid));
	if (entry && !pthread_setspecific(exit_key, entry))
		member_know(entry, self);
	lock_drop_tried(&threads_mutex);
	return true;
}

/* An entry whose thread's exit will find it; NULL: no memory. */
static struct attached *entry_make(void)
{
	struct attached *entry = mem_zalloc(sizeof(*entry));

	if (!entry)
		return NULL;
	entry->tid = (pid_t)syscall(SYS_gettid);
	if (pthread_setspecific(exit_key, entry)) {
		mem_free(entry);
		return NULL;
	}
	return entry;
}

/* Threads lock. The entry of the calling thread: one that it has, one that it did not know of, or @fresh. */
static struct attached *entry_of(struct thread_state *self, struct attached *fresh, struct memcg *group)
{
	struct attached *entry = self->attached ? self->attached : member_find(fresh->tid);

	if (!entry) {
		entry = fresh;
		entry->words = self;
		member_add(entry, group);
	}
	member_know(entry, self);
	return entry;
}

int memcg_attach(struct memcg *group)
{
	struct thread_state *self = thread_self();
	struct attached *entry = NULL, *fresh = NULL;
	struct memcg *old = NULL;
	struct kept *kept = NULL;

	group = group ? group : memcg_root();
	if (group == &unaccounted_group)
		return -EINVAL;
	group_control_check();
	if (!self->attached) {
		fresh = entry_make();
		if (!fresh)
			return -ENOMEM;
	}
	threads_lock();
	if (!memcg_dying(group)) {
		entry = entry_of(self, fresh, group);
		old = member_rehome(entry, group);
		kept = entry->kept;
		entry->kept = NULL;
	}
	threads_unlock();
	if (fresh && entry != fresh) {
		pthread_setspecific(exit_key, self->attached); /* has its place already: cannot fail */
		mem_free(fresh);
	}
	kept_put(kept);
	memcg_put(old);
	return entry ? 0 : -ENODEV;
}

struct memcg *memcg_enter(struct memcg *group)
{
	struct thread_state *self = thread_self();
	struct memcg *previous = self->current;

	self->current = group;
	return previous;
}

void memcg_leave(struct memcg *previous)
{
	thread_self()->current = previous;
}

struct memcg *memcg_current(void)
{
	const struct thread_state *self = thread_self();
	struct memcg *home;

	if (self->current)
		return self->current;
	home = load_relaxed(&self->home);
	return home ? home : memcg_root();
}

struct memcg *memcg_unaccounted(void)
{
	memcg_root(); /* it may be the first thing that is asked for */
	return &unaccounted_group;
}

const struct memcg_refusal *memcg_last_refusal(void)
{
	return &thread_self()->refusal;
}

void thread_fork_prepare(void)
{
	threads_lock();
}

void thread_fork_parent(void)
{
	threads_unlock();
}

void thread_fork_child(void)
{
	struct attached *own = thread_self()->attached, *entry;
	struct memcg *home = own ? member_del(own) : NULL;

	while ((entry = member_any())) {
		memcg_put(member_del(entry));
		kept_put(entry->kept);
		mem_free(entry);
	}
	if (own) {
		own->tid = (pid_t)syscall(SYS_gettid);
		member_add(own, home);
		memcg_put(home);
	}
	lock_reinit(&threads_mutex);
}
