/* SPDX-License-Identifier: MIT */
/*
 * Housekeeping.
 *
 * A destroyed group goes through this queue in order of destruction, children before
 * parents, in batches that share one fence and one grace period each (a million short
 * queries would otherwise pay a million membarriers):
 *
 *   1. its stock and its owner's go back to the counters (the charge floor's step)
 *   2. a grace period: no slow section from before the destruction is under way
 *   3. its statistics are flushed into the parent's, and their per-CPU parts given back
 *   4. its owner is settled: what objects still hold belongs to the parent, the group's
 *      own level no longer counts it, its blocks in the areas are zeroed
 *   5. the reference of being online is dropped
 *
 * A group whose last reference is gone is freed when its own level holds no page
 * either (D1): whoever makes the last of both true pushes it on the free stack, from
 * any context. What is on the stack is freed after one more grace period.
 *
 * The thread exists while a group but the root does, dying or not, and while anybody listens to a file: it also flushes
 * statistics every 2 s, and delivers what notify.c could not deliver at once. Without threads, memcg_tick() and every
 * BACKLOG-th destroy do the work. Whoever destroys faster than the thread tidies up helps, so that short
 * lives cannot use up numbers and memory.
 */
#include "group/house.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "base/mem.h"
#include "base/rcu.h"
#include "group/objcg.h"
#include "group/thread.h"
#include "percpu/area.h"
#include "stat/rstat.h"

#define BATCH_NS 2000000   /* wait for more to share a fence with */
#define IDLE_SECONDS 2     /* of a flush, if nothing rings; the thread ends after so long without a group */
#define BACKLOG 64U        /* without a thread: queued groups that make destroy do the work */
#define BACKLOG_MOST 4096U /* with it: more than it keeps up with */
#define ZOMBIE_FREEING 4U  /* css.flags: is on the free stack */

static struct lock house_lock = LOCK_INIT(LOCK_RANK_HOUSE);
static struct lock wake_lock = LOCK_INIT(LOCK_RANK_WAKE);

static struct memcg *offline_head; /* oldest first, by queue_next; tree lock */
static struct memcg **offline_tail = &offline_head;
static uint32_t offline_nr; /* in the queue; written under the tree lock */
static uint64_t queued;     /* groups that ever were in it; written under the tree lock */
static uint64_t settled;    /* of these, whose owner is settled; written under the house lock */

static struct memcg *free_groups;       /* stack by queue_next; atomic */
static struct memcg_objcg *free_objcgs; /* stack by queue_next; atomic */
static uint64_t pending;                /* dying groups and dead owners that still exist; atomic */

static sem_t bell;          /* posted when there is work; async-signal-safe */
static bool threads_wanted; /* constant after start */

static void ring(void)
{
	sem_post(&bell);
}

int house_start(bool threads)
{
	threads_wanted = threads;
	notify_wake = ring;
	return sem_init(&bell, 0, 0) ? -errno : 0;
}

bool house_threads(void)
{
	return threads_wanted;
}

void house_queue_offline(struct memcg *memcg)
{
	memcg->queue_next = NULL;
	*offline_tail = memcg;
	offline_tail = &memcg->queue_next;
	store_release(&offline_nr, offline_nr + 1);
	store_seq(&queued, queued + 1);
	atomic_add(&pending, 2); /* the group and its owner */
}

static void push_group(struct memcg *memcg)
{
	memcg->queue_next = load_relaxed(&free_groups);
	while (!atomic_cas(&free_groups, &memcg->queue_next, memcg))
		;
	sem_post(&bell);
}

void house_free_objcg(struct memcg_objcg *objcg)
{
	objcg->queue_next = load_relaxed(&free_objcgs);
	while (!atomic_cas(&free_objcgs, &objcg->queue_next, objcg))
		;
	sem_post(&bell);
}

void house_check_zombie(struct memcg *memcg)
{
	const uint64_t empty = ~(uint64_t)(((1ULL << COUNTER_VERSION_BITS) - 1) << COUNTER_CLIMB_BITS);

	/* Pairs with house_released(): page gone, then flag read; flag set, then page read. */
	if (!(load_seq(&memcg->css.flags) & CSS_RELEASED) || (load_seq(&memcg->memory.word) & empty))
		return;
	if (!(__atomic_fetch_or(&memcg->css.flags, ZOMBIE_FREEING, __ATOMIC_SEQ_CST) & ZOMBIE_FREEING))
		push_group(memcg);
}

void house_released(struct memcg *memcg)
{
	rcu_lock(); /* an uncharge may push it, and the housekeeper free it, at any moment from here on */
	__atomic_fetch_or(&memcg->css.flags, CSS_RELEASED, __ATOMIC_SEQ_CST);
	house_check_zombie(memcg);
	rcu_unlock();
}

void house_queue_unborn(struct memcg *memcg)
{
	struct css *above;

	/* It has been visible by its number, to nobody that holds it. */
	for (above = memcg->css.parent; above; above = above->parent)
		atomic_add(&above->nr_dying, 1);
	__atomic_fetch_or(&memcg->css.flags, CSS_DYING, __ATOMIC_SEQ_CST);
	objcg_kill(memcg->objcg);
	group_stat_kill(memcg->stat);
	lock_take(&tree_lock);
	house_queue_offline(memcg);
	lock_drop(&tree_lock);
	memcg_put(memcg);
	house_wake();
}

static struct memcg *take_offline(void)
{
	struct memcg *list;

	lock_take(&tree_lock);
	list = offline_head;
	offline_head = NULL;
	offline_tail = &offline_head;
	store_release(&offline_nr, 0);
	lock_drop(&tree_lock);
	return list;
}

/* After the grace period: their last counts go up, and nobody adds to them any more. */
static void retire_stats(struct memcg *list)
{
	rstat_retire_begin();
	for (; list; list = list->queue_next)
		rstat_retire(list->stat);
	rstat_retire_end();
}

/* Event descriptors that go with their groups. */
static void take_listeners(struct memcg *list, struct cds_list_head *taken)
{
	unsigned int i;

	for (; list; list = list->queue_next) {
		for (i = 0; i < EVENTS_FILES; i++)
			notify_take_group(&list->events.files[i], taken);
	}
}

static void run_offline(void)
{
	struct memcg *list = take_offline();
	CDS_LIST_HEAD(listeners);

	if (!list)
		return;
	take_listeners(list, &listeners);
	if (group_steps.drain_dying)
		group_steps.drain_dying();
	rcu_synchronize();
	retire_stats(list);
	notify_release(&listeners);
	while (list) {
		struct memcg *memcg = list;

		list = memcg->queue_next;
		objcg_reparent(memcg->objcg);
		store_seq(&settled, settled + 1);
		memcg_put(memcg);
	}
}

/*
 * Who has the house lock may go on for long, where groups are destroyed all the time; but the queue is in order, so
 * that what is in it now is settled in the next round but one.
 */
void house_settle(void)
{
	uint64_t until = load_seq(&queued);
	unsigned int attempt = 0;

	while ((int64_t)(load_seq(&settled) - until) < 0) {
		if (lock_try(&house_lock)) {
			run_offline();
			lock_drop(&house_lock);
		} else {
			clock_pause(attempt++, &settled);
		}
	}
}

static bool run_free(void)
{
	struct memcg *groups = atomic_xchg(&free_groups, NULL);
	struct memcg_objcg *objcgs = atomic_xchg(&free_objcgs, NULL);

	if (!groups && !objcgs)
		return false;
	if (!sim_fault(FAULT_NO_GRACE_PERIOD))
		rcu_synchronize();
	while (groups) {
		struct memcg *memcg = groups, *parent = memcg_parent(memcg);

		groups = memcg->queue_next;
		objcg_put_ref(memcg->objcg);
		group_release(memcg);
		memcg_put(parent);
		atomic_sub(&pending, 1);
	}
	while (objcgs) {
		struct memcg_objcg *objcg = objcgs;

		objcgs = objcg->queue_next;
		if (objcg->parent)
			objcg_put_ref(objcg->parent);
		id_free(&objcg_ids, objcg_id(objcg));
		mem_free(objcg);
		atomic_sub(&pending, 1);
	}
	return true;
}

void house_run(void)
{
	lock_take(&house_lock);
	do {
		run_offline();
	} while (run_free());
	lock_drop(&house_lock);
}

void memcg_tick(void)
{
	memcg_root();
	threads_settle();
	house_run();
	if (group_steps.drain_idle)
		group_steps.drain_idle();
	rstat_flush_periodic(memcg_root()->stat);
	if (notify_run())
		ring();
	group_control_check();
	if (group_steps.control_tick)
		group_steps.control_tick();
}

#ifdef MEMCG_SIM

void house_born(void)
{
}

void house_wake(void)
{
}

void house_fork_child(void)
{
	lock_reinit(&wake_lock);
	lock_reinit(&house_lock);
}

#else

static bool thread_running; /* wake lock */

/* True while there is something to wait for; ends the thread under the wake lock, so that no wake is lost. */
static bool thread_goes_on(bool rung)
{
	bool on;

	lock_take(&wake_lock);
	on = rung || load_seq(&pending) > 0 || load_seq(&memcg_root()->css.nr_descendants) > 0 || notify_wanted();
	thread_running = on;
	lock_drop(&wake_lock);
	return on;
}

static void nap(uint64_t ns)
{
	struct timespec time = { .tv_nsec = (long)ns };

	nanosleep(&time, NULL);
}

/* False: nothing for long enough. */
static bool wait_for_bell(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += IDLE_SECONDS;
	return sem_timedwait(&bell, &until) == 0;
}

static void *house_thread(void *unused)
{
	bool rung;

	(void)unused;
	pthread_setname_np(pthread_self(), "memcg/house");
	memcg_enter(memcg_unaccounted());
	do {
		uint64_t left;

		threads_settle();
		left = notify_run();
		/* A notification that waits for its time has the thread come back for it. */
		rung = left || wait_for_bell();
		rstat_flush_periodic(memcg_root()->stat);
		if (!rung)
			continue;
		nap(left ? left : BATCH_NS);
		while (sem_trywait(&bell) == 0)
			;
		house_run();
	} while (thread_goes_on(rung));
	return NULL;
}

/* Wake lock. Without the thread the work waits for memcg_tick(), or for a backlog. */
static void thread_make(void)
{
	struct memcg *previous = memcg_enter(memcg_unaccounted());
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	thread_running = pthread_create(&thread, &attr, house_thread, NULL) == 0;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	memcg_leave(previous);
}

void house_born(void)
{
	if (!threads_wanted)
		return;
	lock_take(&wake_lock);
	if (!thread_running)
		thread_make();
	lock_drop(&wake_lock);
}

void house_wake(void)
{
	bool running = false;

	if (threads_wanted) {
		sem_post(&bell);
		lock_take(&wake_lock);
		if (!thread_running)
			thread_make();
		running = thread_running;
		lock_drop(&wake_lock);
	}
	if (load_relaxed(&offline_nr) >= (running ? BACKLOG_MOST : BACKLOG) && !rcu_inside())
		house_run();
}

void house_fork_child(void)
{
	lock_reinit(&wake_lock);
	lock_reinit(&house_lock);
	thread_running = false;
	sem_init(&bell, 0, load_relaxed(&pending) > 0);
}

#endif

void house_fork_prepare(void)
{
	lock_take(&house_lock);
}

void house_fork_parent(void)
{
	lock_drop(&house_lock);
}

void house_fork_lock_wake(void)
{
	lock_take(&wake_lock);
}

void house_fork_unlock_wake(void)
{
	lock_drop(&wake_lock);
}
