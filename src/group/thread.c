/* SPDX-License-Identifier: MIT */
/*
 * Membership of threads: the home (attach), the scope (enter, leave).
 *
 * A home is a membership that others see: it keeps the group from being destroyed and
 * ends with the thread. A scope is the thread's own affair: one store.
 *
 * The entry of a thread goes by a key's destructor. One that attaches in the last round of destructors, or that ends
 * without them, leaves its entry, whose lifeline is cut then. Such entries are looked for where they would be seen:
 * when threads are all that keeps a group from being destroyed, and when its threads are listed. And all are looked at
 * when there are more than SWEEP_SPARE, and twice as many as the threads that lived the last time. What stays is liburcu's own
 * record of a thread that calls it for the first time in that round, 128 bytes.
 */
#include "group/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <urcu/list.h>

#include "base/lifeline.h"
#include "base/mem.h"
#include "percpu/thread.h"

#define SWEEP_SPARE 64U

struct attached {
	struct cds_list_head node; /* all attached threads; threads lock */
	struct memcg *home;        /* holds a reference; threads lock */
	pid_t tid;                 /* of the thread; constant */
	struct lifeline lifeline;  /* the thread's */
};

static struct lock threads_mutex = LOCK_INIT(LOCK_RANK_THREADS);
static CDS_LIST_HEAD(attached_threads); /* struct attached; threads lock */
static unsigned int nr_attached;        /* entries; threads lock */
static unsigned int sweep_at;           /* entries that call for a sweep; threads lock */
static pthread_key_t exit_key;          /* its destructor detaches */

void threads_lock(void)
{
	lock_take(&threads_mutex);
}

void threads_unlock(void)
{
	lock_drop(&threads_mutex);
}

/* Threads lock. */
static struct memcg *unhook(struct attached *entry)
{
	struct memcg *home = entry->home;

	cds_list_del(&entry->node);
	nr_attached--;
	home->nr_threads--;
	return home;
}

/* Drops the entries of threads that have ended, and were never detached: in @home, or all for NULL. How many? */
static unsigned int sweep(const struct memcg *home)
{
	struct cds_list_head ended, *node, *next;
	unsigned int nr = 0;

	CDS_INIT_LIST_HEAD(&ended);
	threads_lock();
	for (node = attached_threads.next; node != &attached_threads; node = next) {
		struct attached *entry = container_of(node, struct attached, node);

		next = node->next;
		if ((home && entry->home != home) || !lifeline_is_cut(&entry->lifeline))
			continue;
		unhook(entry);
		cds_list_add_tail(&entry->node, &ended);
		nr++;
	}
	if (!home)
		sweep_at = 2 * nr_attached + SWEEP_SPARE;
	threads_unlock();
	for (node = ended.next; node != &ended; node = next) {
		struct attached *entry = container_of(node, struct attached, node);

		next = node->next;
		memcg_put(entry->home);
		mem_free(entry);
	}
	return nr;
}

bool threads_forget_ended(const struct memcg *home)
{
	return sweep(home) > 0;
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
	home = unhook(entry);
	threads_unlock();
	self->home = NULL;
	self->attached = NULL;
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

static struct attached *entry_make(void)
{
	struct attached *entry = mem_zalloc(sizeof(*entry));

	if (!entry)
		return NULL;
	entry->tid = (pid_t)syscall(SYS_gettid);
	lifeline_tie(&entry->lifeline);
	return entry;
}

/* Moves the calling thread, whose entry is @entry; the old home's reference is the caller's to put. */
static int attach_entry(struct attached *entry, struct memcg *group, struct memcg **old, bool *sweep_due)
{
	*old = entry->home;
	threads_lock();
	if (memcg_dying(group)) {
		threads_unlock();
		return -ENODEV;
	}
	if (*old)
		unhook(entry);
	entry->home = memcg_get(group);
	group->nr_threads++;
	cds_list_add_tail(&entry->node, &attached_threads);
	*sweep_due = ++nr_attached > sweep_at;
	threads_unlock();
	return 0;
}

int memcg_attach(struct memcg *group)
{
	struct thread_state *self = thread_self();
	struct attached *entry = self->attached;
	struct memcg *old = NULL;
	bool sweep_due = false;
	int err;

	group = group ? group : memcg_root();
	if (group == &unaccounted_group)
		return -EINVAL;
	if (!entry) {
		entry = entry_make();
		if (!entry)
			return -ENOMEM;
	}
	err = attach_entry(entry, group, &old, &sweep_due);
	if (err) {
		if (!self->attached)
			entry_free(entry);
		return err;
	}
	self->attached = entry;
	self->home = group;
	memcg_put(old);
	if (!old && pthread_setspecific(exit_key, entry)) {
		detach(entry);
		return -ENOMEM;
	}
	if (sweep_due)
		sweep(NULL);
	return 0;
}

int threads_list(struct memcg *memcg, void (*each)(pid_t tid, void *arg), void *arg)
{
	struct cds_list_head *node;
	int nr = 0;

	threads_forget_ended(memcg);
	threads_lock();
	for (node = attached_threads.next; node != &attached_threads; node = node->next) {
		struct attached *entry = container_of(node, struct attached, node);

		if (entry->home == memcg) {
			each(entry->tid, arg);
			nr++;
		}
	}
	threads_unlock();
	return nr;
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

	if (self->current)
		return self->current;
	return self->home ? self->home : memcg_root();
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
	struct attached *own = thread_self()->attached;
	struct cds_list_head *node, *next;

	for (node = attached_threads.next; node != &attached_threads; node = next) {
		struct attached *entry = container_of(node, struct attached, node);
		struct memcg *home;

		next = node->next;
		if (entry == own) {
			entry->tid = (pid_t)syscall(SYS_gettid);
			lifeline_tie(&entry->lifeline);
			continue;
		}
		home = unhook(entry);
		mem_free(entry);
		memcg_put(home);
	}
	lock_reinit(&threads_mutex);
}
