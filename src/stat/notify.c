/* SPDX-License-Identifier: MIT */
/*
 * Change notification.
 *
 * Who changes a file may be a signal handler: it takes no lock and allocates nothing. It walks the file's
 * listeners in a read section, writes to eventfds, marks functions as due, and rings the housekeeper's bell. Functions
 * are called by notify_run() alone.
 *
 * Rate, as the kernel's: a change is told at once if the last one was told NOTIFY_INTERVAL_NS ago;
 * else the file is marked late, and notify_run() tells it when the time has come.
 *
 *   N1  No change is lost: a listener that was added before the change is told after it. Who changes counts
 *       first and then looks for listeners; who listens links itself first and then reads the file; both in
 *       one order (seq_cst). A mark is set before `work`, and `work` is cleared before marks are looked at.
 *   N2  Between two tellings of a file there are NOTIFY_INTERVAL_NS, but for the one of its destruction.
 *   N3  No eventfd is written to after it was closed: it is closed a grace period after it was unlinked.
 *   N4  One call at a time: notify_run() has one deliverer. Who ends a listener waits while its call runs,
 *       unless he is in that call; then the deliverer releases it.
 *
 * Nobody waits for a deliverer with a lock held: another notify_run() leaves its work to it.
 */
#include "stat/notify.h"

#include "base/eventfd.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/rcu.h"
#include "base/sim.h"
#include "percpu/thread.h"

void (*notify_wake)(void);

static struct lock notify_lock = LOCK_INIT(LOCK_RANK_NOTIFY);
static CDS_LIST_HEAD(listeners);       /* newest first; notify lock */
static uint32_t nr_listeners;          /* in the list; written under the notify lock */
static uint32_t work;                  /* 1: something is late or due; atomic */
static struct thread_state *deliverer; /* who is in notify_run(); notify lock */
static struct listener *running;       /* whose function is called now; notify lock */
static uint32_t nr_forks;              /* that made this process; notify lock */

static void wake(void)
{
	if (!atomic_xchg(&work, 1) && notify_wake)
		notify_wake();
}

/* Everybody who listens to @on. */
static void tell(struct notify *on)
{
	struct listener *listener;
	bool calls = false;

	rcu_lock();
	for (listener = load_seq(&on->first); listener; listener = load_acquire(&listener->next)) {
		if (!listener->call) {
			event_fire(listener->fd);
			continue;
		}
		store_seq(&listener->due, 1);
		calls = true;
	}
	rcu_unlock();
	if (calls)
		wake();
}

static uint64_t now_ns(void)
{
	return clock_ns() | 1; /* 0 is "never" */
}

static bool too_soon(uint64_t last, uint64_t now)
{
	return last && (int64_t)(now - last) < (int64_t)NOTIFY_INTERVAL_NS;
}

/* Tells now, if it is time. What changed before the mark is cleared is told of here. */
static bool tell_in_time(struct notify *on, uint64_t *last, uint64_t now)
{
	*last = load_seq(&on->last_ns);
	if (too_soon(*last, now) || !atomic_cas(&on->last_ns, last, now))
		return false;
	store_seq(&on->late, 0);
	tell(on);
	return true;
}

void notify_changed(struct notify *on)
{
	uint64_t last;

	if (!load_seq(&on->first) || tell_in_time(on, &last, now_ns()))
		return;
	store_seq(&on->late, 1);
	wake();
}

void notify_gone(struct notify *on)
{
	if (load_seq(&on->first))
		tell(on);
}

bool notify_wanted(void)
{
	return load_relaxed(&nr_listeners) > 0;
}

void notify_add(struct listener *listener)
{
	struct notify *on = listener->on;

	lock_take(&notify_lock);
	listener->next = on->first;
	cds_list_add(&listener->node, &listeners);
	store_relaxed(&nr_listeners, nr_listeners + 1);
	store_seq(&on->first, listener);
	lock_drop(&notify_lock);
}

/* Notify lock. Its own next stays, for who walks over it. */
static void leave_file(struct listener *listener)
{
	struct listener **at = &listener->on->first;

	if (listener->gone)
		return;
	while (*at != listener)
		at = &(*at)->next;
	store_release(at, listener->next);
	store_relaxed(&nr_listeners, nr_listeners - 1);
	listener->gone = true;
}

/* Notify lock. */
static void take(struct listener *listener, struct cds_list_head *taken)
{
	leave_file(listener);
	cds_list_del(&listener->node);
	cds_list_add(&listener->node, taken);
}

void notify_release(struct cds_list_head *taken)
{
	while (!cds_list_empty(taken)) {
		struct listener *listener = container_of(taken->next, struct listener, node);

		cds_list_del(&listener->node);
		event_shut(listener->fd);
		listener->release(listener);
	}
}

/* N3: until nobody walks over what was taken away. */
static void wait_for_tellers(void)
{
	if (!sim_fault(FAULT_NO_GRACE_PERIOD))
		rcu_synchronize();
}

void notify_del(struct listener *listener)
{
	CDS_LIST_HEAD(taken);
	unsigned int attempt = 0;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	lock_take(&notify_lock);
	while (running == listener && deliverer != thread_self()) {
		lock_drop(&notify_lock);
		clock_pause(attempt++, &running);
		lock_take(&notify_lock);
	}
	if (running == listener) {
		leave_file(listener); /* the deliverer stands on its node */
		listener->ended = true;
	} else {
		take(listener, &taken);
	}
	lock_drop(&notify_lock);
	wait_for_tellers();
	notify_release(&taken);
	pthread_setcancelstate(state, NULL);
}

void notify_take_group(struct notify *on, struct cds_list_head *taken)
{
	struct listener *listener, *next;

	if (!load_seq(&on->first))
		return;
	lock_take(&notify_lock);
	for (listener = on->first; listener; listener = next) {
		next = listener->next;
		if (listener->group_ends)
			take(listener, taken);
	}
	lock_drop(&notify_lock);
}

/* Notify lock. */
static struct listener *find_fd(int fd)
{
	struct cds_list_head *node;

	for (node = listeners.next; node != &listeners; node = node->next) {
		struct listener *listener = container_of(node, struct listener, node);

		if (listener->known_as == fd)
			return listener;
	}
	return NULL;
}

void notify_del_fd(int fd)
{
	struct listener *listener;
	CDS_LIST_HEAD(taken);
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	lock_take(&notify_lock);
	listener = find_fd(fd);
	if (listener)
		take(listener, &taken);
	lock_drop(&notify_lock);
	if (listener)
		wait_for_tellers();
	notify_release(&taken);
	pthread_setcancelstate(state, NULL);
}

/* Notify lock. Returns the ns until the first of those whose time has not come, 0: there are none. */
static uint64_t tell_late(void)
{
	struct cds_list_head *node;
	uint64_t left = 0;

	for (node = listeners.next; node != &listeners; node = node->next) {
		struct notify *on = container_of(node, struct listener, node)->on;
		uint64_t last, now = now_ns(), rest;

		if (!load_seq(&on->late) || tell_in_time(on, &last, now))
			continue;
		rest = too_soon(last, now) ? NOTIFY_INTERVAL_NS - (now - last) : NOTIFY_INTERVAL_NS;
		left = left && left < rest ? left : rest;
	}
	return left;
}

/* Notify lock, which is dropped over each call. */
static void call_due(struct cds_list_head *ended)
{
	struct cds_list_head *node, *next;
	uint32_t forks = nr_forks;

	for (node = listeners.next; node != &listeners && forks == nr_forks; node = next) {
		struct listener *listener = container_of(node, struct listener, node);

		if (listener->call && atomic_xchg(&listener->due, 0)) {
			running = listener;
			lock_drop(&notify_lock);
			listener->call(listener);
			lock_take(&notify_lock);
			running = NULL;
		}
		next = node->next;
		if (listener->ended)
			take(listener, ended);
	}
}

uint64_t notify_run(void)
{
	CDS_LIST_HEAD(ended);
	uint64_t left;
	int state;

	if (!load_seq(&work))
		return 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	lock_take(&notify_lock);
	if (deliverer) {
		left = NOTIFY_INTERVAL_NS;
	} else {
		deliverer = thread_self();
		store_seq(&work, 0);
		left = tell_late();
		call_due(&ended);
		deliverer = NULL;
		if (left)
			store_seq(&work, 1);
	}
	lock_drop(&notify_lock);
	notify_release(&ended);
	pthread_setcancelstate(state, NULL);
	return left;
}

void notify_fork_prepare(void)
{
	lock_take(&notify_lock);
}

void notify_fork_parent(void)
{
	lock_drop(&notify_lock);
}

/*
 * The parent's listeners are not the child's: its eventfds would wake the parent. Who holds one still ends it; one
 * that nobody holds goes here.
 */
void notify_fork_child(void)
{
	bool delivers = deliverer == thread_self();
	CDS_LIST_HEAD(unheld);

	while (!cds_list_empty(&listeners)) {
		struct listener *listener = container_of(listeners.next, struct listener, node);

		leave_file(listener);
		cds_list_del(&listener->node);
		CDS_INIT_LIST_HEAD(&listener->node);
		event_shut(listener->fd);
		listener->fd = -1;
		if (listener->group_ends || (listener->ended && !delivers))
			cds_list_add(&listener->node, &unheld);
	}
	if (!delivers) {
		deliverer = NULL;
		running = NULL;
	}
	nr_forks++;
	store_seq(&work, 0);
	lock_reinit(&notify_lock);
	notify_release(&unheld);
}
