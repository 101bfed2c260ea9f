/* SPDX-License-Identifier: MIT */
/*
 * Attached threads, and moves of threads by others (a tid written to cgroup.threads).
 *
 * A thread's home is a word of its own, thread-local memory. Another may write there only while the thread
 * cannot end: under the threads lock, when the thread *knows* its entry, so that its exit waits for that lock.
 * A thread that never attached has no entry, and its words are nobody else's to find. A move gives it one and changes
 * thread_moves; the thread's next slow section sees that, and looks for its entry (by trylock, since it may be in a
 * handler; in vain means again the next time).
 *
 *   M1  A group that a thread was moved out of stays allocated, destroyed or not, until the thread attaches itself or
 *       ends: it may have read its home and not yet used it, and nobody else can know when it has.
 *   M2  An entry of a thread that ended without ever knowing it is dropped by whoever asks next who is where.
 *
 * Tolerated: between such an end and that question a new thread may get the same tid. It is taken for the old one.
 */
#include "group/member.h"

#include <errno.h>

#include "base/mem.h"
#include "base/tasks.h"
#include "group/house.h"
#include "group/slow.h"
#include "group/thread.h"

#define BUCKETS 256U

uint32_t thread_moves = 1;

static struct attached *buckets[BUCKETS]; /* by tid; threads lock */
static uint32_t nr_unknown;               /* entries that their threads do not know; written under the threads lock */

static struct attached **bucket_of(pid_t tid)
{
	return &buckets[(uint32_t)tid % BUCKETS];
}

struct attached *member_find(pid_t tid)
{
	struct attached *entry = *bucket_of(tid);

	while (entry && entry->tid != tid)
		entry = entry->next;
	return entry;
}

struct attached *member_any(void)
{
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		if (buckets[i])
			return buckets[i];
	}
	return NULL;
}

/* A thread comes or goes: who is populated now that was not, or the other way round? The root always is. */
static void count(struct memcg *home, int change)
{
	struct css *css;

	store_relaxed(&home->nr_threads, home->nr_threads + (uint32_t)change);
	for (css = &home->css; css; css = css->parent) {
		struct memcg *memcg = memcg_of(css);

		store_relaxed(&memcg->threads_below, memcg->threads_below + (uint32_t)change);
		if (css->parent && memcg->threads_below == (change > 0))
			notify_changed(&memcg->events.files[EVENTS_POPULATED]);
	}
}

void member_add(struct attached *entry, struct memcg *home)
{
	struct attached **bucket = bucket_of(entry->tid);

	entry->home = memcg_get(home);
	entry->next = *bucket;
	*bucket = entry;
	if (!entry->words)
		store_seq(&nr_unknown, nr_unknown + 1);
	count(home, 1);
}

struct memcg *member_del(struct attached *entry)
{
	struct attached **at = bucket_of(entry->tid);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	if (!entry->words)
		store_seq(&nr_unknown, nr_unknown - 1);
	count(entry->home, -1);
	return entry->home;
}

struct memcg *member_rehome(struct attached *entry, struct memcg *home)
{
	struct memcg *old = entry->home;

	count(home, 1);
	count(old, -1);
	entry->home = memcg_get(home);
	if (entry->words)
		store_relaxed(&entry->words->home, home);
	return old;
}

void member_know(struct attached *entry, struct thread_state *self)
{
	if (!entry->words)
		store_seq(&nr_unknown, nr_unknown - 1);
	entry->words = self;
	self->attached = entry;
	store_relaxed(&self->home, entry->home);
}

void kept_put(struct kept *list)
{
	while (list) {
		struct kept *kept = list;

		list = kept->next;
		memcg_put(kept->group);
		mem_free(kept);
	}
}

/* Threads lock. M1; @kept is used if there is not one for this group yet. The reference on @group goes with it. */
static bool keep(struct attached *entry, struct memcg *group, struct kept *kept)
{
	struct kept *other;

	for (other = entry->kept; other; other = other->next) {
		if (other->group == group) {
			memcg_put(group);
			return false;
		}
	}
	kept->group = group;
	kept->next = entry->kept;
	entry->kept = kept;
	return true;
}

/* Threads lock. M2; only what nobody knows can be left over. */
static void drop_ended(void)
{
	struct attached *entry, *next;
	unsigned int i;

	for (i = 0; nr_unknown && i < BUCKETS; i++) {
		for (entry = buckets[i]; entry; entry = next) {
			next = entry->next;
			if (entry->words || task_lives(entry->tid))
				continue;
			memcg_put(member_del(entry));
			mem_free(entry);
		}
	}
}

/* What a move needs, made before the lock is taken; what it does not use is freed after it. */
struct move {
	struct attached *fresh; /* entry for a thread without one */
	struct kept *kept;      /* for the group that it is moved out of */
};

/* Threads lock. 1: the thread does not know of it yet. */
static int move(struct memcg *group, pid_t tid, struct move *with)
{
	struct attached *entry;
	struct memcg *old;

	drop_ended();
	if (memcg_dying(group))
		return -ENODEV;
	entry = member_find(tid);
	if (!entry) {
		if (!task_lives(tid))
			return -ESRCH;
		if (!thread_can_look())
			return -EOPNOTSUPP;
		with->fresh->tid = tid;
		member_add(with->fresh, group);
		with->fresh = NULL;
		store_release(&thread_moves, thread_moves + 1 ? thread_moves + 1 : 1);
		return 1;
	}
	if (entry->home == group)
		return !entry->words;
	old = member_rehome(entry, group);
	if (!entry->words)
		memcg_put(old); /* it never was in the thread's hands */
	else if (keep(entry, old, with->kept))
		with->kept = NULL;
	return !entry->words;
}

int thread_move(struct memcg *group, pid_t tid)
{
	struct move with = { .fresh = mem_zalloc(sizeof(*with.fresh)), .kept = mem_zalloc(sizeof(*with.kept)) };
	int ret = -ENOMEM;

	if (with.fresh && with.kept) {
		threads_lock();
		ret = move(group, tid, &with);
		threads_unlock();
	}
	mem_free(with.fresh);
	mem_free(with.kept);
	return ret;
}

bool threads_populated(struct memcg *memcg)
{
	if (!memcg->css.parent)
		return true;
	threads_settle();
	return load_relaxed(&memcg->threads_below) > 0;
}

void threads_settle(void)
{
	if (!load_seq(&nr_unknown))
		return;
	threads_lock();
	drop_ended();
	threads_unlock();
}

bool threads_unknown(void)
{
	return load_seq(&nr_unknown) > 0;
}

/* How a list of threads is made. */
struct listing {
	void (*each)(pid_t tid, void *arg);
	void *arg;
	int nr;
};

/* The root has all threads that are nowhere else. */
static void list_if_in_root(pid_t tid, void *arg)
{
	struct listing *listing = arg;
	const struct attached *entry = member_find(tid);

	if (entry && entry->home->css.parent)
		return;
	listing->each(tid, listing->arg);
	listing->nr++;
}

int threads_list(struct memcg *memcg, void (*each)(pid_t tid, void *arg), void *arg)
{
	struct listing listing = { .each = each, .arg = arg };
	const struct attached *entry;
	unsigned int i;

	threads_lock();
	drop_ended();
	if (memcg->css.parent || tasks_each(list_if_in_root, &listing) < 0) {
		for (i = 0; i < BUCKETS; i++) {
			for (entry = buckets[i]; entry; entry = entry->next) {
				if (entry->home == memcg) {
					each(entry->tid, arg);
					listing.nr++;
				}
			}
		}
	}
	threads_unlock();
	return listing.nr;
}
