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
#include "base/tasks.h"
#include "group/member.h"
#include "group/slow.h"

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

/* By the thread itself. */
static void entry_free(struct attached *entry)
{
	lifeline_untie(&entry->lifeline);
	mem_free(entry);
}

/* Not @value: where a thread that ended barely had its stack, another finds what that one had set. */
static void detach(void *value)
{
	struct thread_state *self = thread_self();
	struct attached *entry = self->attached;
	struct memcg *home;

	(void)value;
	if (!entry)
		return;
	threads_lock();
	home = member_del(entry);
	store_relaxed(&self->home, NULL);
	self->attached = NULL;
	threads_unlock();
	kept_put(entry->kept);
	entry_free(entry);
	memcg_put(home);
}

int thread_start(void)
{
	static bool have_key; /* a start that failed later made it; start lock */
	int err = have_key ? 0 : -pthread_key_create(&exit_key, detach);

	have_key = !err;
	return err;
}

bool threads_trylock(void)
{
	return lock_try_nowait(&threads_mutex);
}

void threads_untry(void)
{
	lock_drop_tried(&threads_mutex);
}

/* An entry whose thread's exit will find it; NULL: no memory. */
static struct attached *entry_make(void)
{
	struct attached *entry = mem_zalloc(sizeof(*entry));

	if (!entry)
		return NULL;
	if (pthread_setspecific(exit_key, entry)) {
		mem_free(entry);
		return NULL;
	}
	entry->tid = (pid_t)syscall(SYS_gettid);
	entry->start = task_start(entry->tid);
	lifeline_tie(&entry->lifeline);
	return entry;
}

/* What an attach leaves behind, to be let go without the lock. */
struct left {
	struct memcg *home;     /* until now */
	struct kept *kept;      /* what others moved the thread out of */
	struct attached *entry; /* that another made for it */
	bool sweep_due;         /* there are many */
};

/* Threads lock. The thread's own entry, or @fresh, which becomes it. */
static void attach(struct thread_state *self, struct attached *fresh, struct memcg *group, struct left *left)
{
	struct attached *entry = self->attached;

	left->sweep_due = member_sweep_due();
	if (entry) {
		left->home = member_rehome(entry, group);
		left->kept = entry->kept;
		entry->kept = NULL;
		return;
	}
	left->entry = member_find(fresh->tid);
	fresh->words = self;
	member_add(fresh, group);
	self->attached = fresh;
	store_relaxed(&self->home, group);
	if (left->entry) {
		left->home = member_del(left->entry);
		left->kept = left->entry->kept;
	}
}

int memcg_attach(struct memcg *group)
{
	struct thread_state *self = thread_self();
	struct attached *fresh = NULL;
	struct left left = { .home = NULL };
	int err = 0;

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
	if (memcg_dying(group))
		err = -ENODEV;
	else
		attach(self, fresh, group, &left);
	threads_unlock();
	if (err && fresh) {
		pthread_setspecific(exit_key, NULL);
		entry_free(fresh);
	}
	kept_put(left.kept);
	memcg_put(left.home);
	mem_free(left.entry);
	if (left.sweep_due)
		threads_forget_ended(NULL);
	return err;
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
	struct thread_state *self = thread_self();
	struct memcg *home;

	if (self->current)
		return self->current;
	if (unlikely(threads_unowned()) && self->looked != load_relaxed(&thread_moves))
		thread_begin();
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

static struct attached *forking; /* entry of the thread that forks; NULL: none; threads lock */

void thread_fork_prepare(void)
{
	struct attached *own = thread_self()->attached;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	threads_lock();
	forking = own ? own : member_find(tid);
	if (!own && forking && !task_same(forking->start, task_start(tid)))
		forking = NULL; /* of one that had this tid before */
}

void thread_fork_parent(void)
{
	threads_unlock();
}

/* The other threads are not in the child; the one that is has another tid. */
void thread_fork_child(void)
{
	struct memcg *home = forking ? member_del(forking) : NULL;
	struct attached *entry;

	while ((entry = member_any())) {
		memcg_put(member_del(entry));
		kept_put(entry->kept);
		mem_free(entry);
	}
	if (forking) {
		forking->tid = (pid_t)syscall(SYS_gettid);
		forking->start = task_start(forking->tid);
		if (forking->words)
			lifeline_tie(&forking->lifeline);
		member_add(forking, home);
		memcg_put(home);
	}
	lock_reinit(&threads_mutex);
}
