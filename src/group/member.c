/* SPDX-License-Identifier: MIT */
/*
 * Attached threads, and moves of threads by others (a tid written to cgroup.threads).
 *
 * A thread's home is a word of its own, thread-local memory. Another may write there only while the thread
 * cannot end: under the threads lock, when the thread *owns* its entry, because it has attached itself: its exit takes the
 * entry out under that lock. A thread that never did has no entry, and nobody can find its words, nor notice its end. A move
 * makes an entry that has no owner, and changes thread_moves; the thread's next slow section or question for its group
 * sees that, and takes its home from the entry (by trylock, since it may be in a handler; in vain means again the next time).
 *
 *   M1  A group that a thread was moved out of stays allocated, destroyed or not, until the thread attaches itself or
 *       ends: it may have read its home and not yet used it, and nobody else can know when it has.
 *   M2  An entry without owner is dropped when its thread has ended, by whoever asks next who is where, and by the
 *       housekeeper. The thread is known by its tid and when it began: a tid that comes again is another thread's.
 *   M3  An entry with an owner whose exit did not take it out, because it attached itself in its last round of exit handlers
 *       or ended without them, has a cut lifeline. It is dropped where it would be seen: when threads are all that
 *       keeps a group from being destroyed, and when somebody asks who is where; and all are looked at when there are
 *       more than SWEEP_SPARE, and twice as many as lived the last time. What stays is liburcu's own record of a thread that
 *       calls it for the first time in that round, 128 bytes.
 *
 * Tolerated: a thread that M3 is for is moved by another in the instant between the look at its lifeline and the store.
 * That goes to memory which the C library may have taken back.
 */
#include "group/member.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tasks.h"
#include "group/house.h"
#include "group/slow.h"
#include "group/thread.h"

#define BUCKETS 256U
#define SWEEP_SPARE 64U

uint32_t thread_moves = 1;

static struct attached *buckets[BUCKETS]; /* by tid; threads lock */
static unsigned int nr_entries;           /* threads lock */
static unsigned int sweep_at;             /* entries that call for a sweep; threads lock */
static uint32_t nr_unowned;               /* entries without owner; written under the threads lock */

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
	nr_entries++;
	if (!entry->words)
		store_seq(&nr_unowned, nr_unowned + 1);
	count(home, 1);
}

struct memcg *member_del(struct attached *entry)
{
	struct attached **at = bucket_of(entry->tid);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	nr_entries--;
	if (!entry->words)
		store_seq(&nr_unowned, nr_unowned - 1);
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

bool thread_look(struct thread_state *self)
{
	struct attached *entry;
	pid_t tid;

	if (!threads_unowned() || self->attached)
		return true;
	if (!threads_trylock())
		return false;
	tid = (pid_t)syscall(SYS_gettid);
	entry = member_find(tid);
	if (entry && (entry->seen || task_same(entry->start, task_start(tid)))) {
		entry->seen = true;
		store_relaxed(&self->home, entry->home);
	}
	threads_untry();
	return true;
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

static bool has_ended(struct attached *entry)
{
	uint64_t start;

	if (entry->words)
		return lifeline_is_cut(&entry->lifeline);
	start = task_start(entry->tid);
	return !start || !task_same(entry->start, start);
}

/* Threads lock: out of the table, onto a list for ended_put(). */
static void take_out(struct attached *entry, struct attached **ended)
{
	member_del(entry);
	entry->next = *ended;
	*ended = entry;
}

/* Threads lock. M2, M3: in @home, or all for NULL. */
static void take_ended(const struct memcg *home, struct attached **ended)
{
	struct attached *entry, *next;
	unsigned int i;

	for (i = 0; nr_entries && i < BUCKETS; i++) {
		for (entry = buckets[i]; entry; entry = next) {
			next = entry->next;
			if ((!home || entry->home == home) && has_ended(entry))
				take_out(entry, ended);
		}
	}
	if (!home)
		sweep_at = 2 * nr_entries + SWEEP_SPARE;
}

static bool ended_put(struct attached *ended)
{
	bool some = ended;

	while (ended) {
		struct attached *entry = ended;

		ended = entry->next;
		kept_put(entry->kept);
		memcg_put(entry->home);
		mem_free(entry);
	}
	return some;
}

bool threads_forget_ended(const struct memcg *home)
{
	struct attached *ended = NULL;

	threads_lock();
	take_ended(home, &ended);
	threads_unlock();
	return ended_put(ended);
}

bool member_sweep_due(void)
{
	return nr_entries > sweep_at;
}

/* What a move needs, made before the lock is taken; what it does not use is freed after it. */
struct move {
	struct attached *fresh; /* entry for a thread without one */
	struct kept *kept;      /* for the group that it is moved out of */
	struct attached *ended; /* entries that were found to be left over */
};

static void bump_moves(void)
{
	store_release(&thread_moves, thread_moves + 1 ? thread_moves + 1 : 1);
}

/* Threads lock. 1: the thread has to find out. */
static int move(struct memcg *group, pid_t tid, struct move *with)
{
	uint64_t start = task_start(tid);
	struct attached *entry;
	struct memcg *old;

	take_ended(NULL, &with->ended);
	if (memcg_dying(group))
		return -ENODEV;
	entry = member_find(tid);
	/* Where no lifeline shows it (qemu-user): M3 too. */
	if (entry && start && !task_same(entry->start, start)) {
		take_out(entry, &with->ended);
		entry = NULL;
	}
	if (!start)
		return -ESRCH;
	if (!entry) {
		with->fresh->tid = tid;
		with->fresh->start = start;
		member_add(with->fresh, group);
		with->fresh = NULL;
		bump_moves();
		return 1;
	}
	if (entry->home == group)
		return !entry->words;
	old = member_rehome(entry, group);
	if (!entry->words)
		bump_moves();
	if (!entry->words && !entry->seen)
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
	ended_put(with.ended);
	mem_free(with.fresh);
	mem_free(with.kept);
	return ret;
}

bool threads_populated(struct memcg *memcg)
{
	if (!memcg->css.parent)
		return true;
	threads_forget_ended(NULL);
	return load_relaxed(&memcg->threads_below) > 0;
}

void threads_settle(void)
{
	if (load_seq(&nr_unowned))
		threads_forget_ended(NULL);
}

bool threads_unowned(void)
{
	return load_seq(&nr_unowned) > 0;
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
	struct attached *ended = NULL;
	unsigned int i;

	threads_lock();
	take_ended(NULL, &ended);
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
	ended_put(ended);
	return listing.nr;
}
