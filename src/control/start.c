/* SPDX-License-Identifier: MIT */
/*
 * Start and stop of the control socket, its thread, and what becomes of them at fork and exit.
 *
 * fork: the child has no thread, and must not answer for its parent. Its copies of the descriptors are closed at once;
 * a socket of its own is opened by the next call that may start a thread (group_control_check()): what only forks to
 * execute another program pays nothing. exec: descriptors are closed by it. exit: the name is removed.
 */
#include <errno.h>
#include <memcg/control.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "control/server.h"
#include "group/house.h"

enum control_state {
	CONTROL_OFF,
	CONTROL_ON,     /* served, by the thread or by ticks */
	CONTROL_ENDING, /* the thread is being waited for */
	CONTROL_WANTED, /* on in the parent; not yet in this child */
};

static enum control_state state;             /* control lock */
static struct control_place place;           /* control lock; read at exit */
static char wanted_path[sizeof(place.path)]; /* as start was told; "": none; control lock */
static bool read_only;                       /* as start was told; control lock */
static bool threaded;                        /* served by the thread, not by ticks; control lock */
static pthread_t thread;                     /* which one; control lock */
static uint32_t stopping;                    /* 1: the thread ends; atomic */
static uint32_t ticking;                     /* 1: somebody is in a pass of memcg_tick(); atomic */

static void *control_thread(void *unused)
{
	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setname_np(pthread_self(), "memcg/control");
	memcg_enter(memcg_unaccounted());
	while (!load_acquire(&stopping))
		server_pass(true);
	return NULL;
}

static int thread_make(void)
{
	struct memcg *previous = memcg_enter(memcg_unaccounted());
	sigset_t all, old;
	int err;

	store_relaxed(&stopping, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&thread, NULL, control_thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	memcg_leave(previous);
	return err;
}

/* Control lock. */
static int open_at(const char *path)
{
	int err = place_choose(&place, path);

	threaded = house_threads();
	if (!err)
		err = server_open(&place, read_only, threaded);
	if (!err && threaded) {
		err = thread_make();
		if (err)
			server_drop_fds();
	}
	if (err) {
		place_unlink(&place);
		place.path[0] = '\0';
	}
	state = err ? CONTROL_OFF : CONTROL_ON;
	return err;
}

/* In the child of a fork: with what start was told in its parent, but for the name. */
static int open_again(void)
{
	char path[sizeof(wanted_path) + 16];
	struct text text;

	if (!wanted_path[0])
		return open_at(NULL);
	text_init(&text, path, sizeof(path));
	text_str(&text, wanted_path);
	text_char(&text, '.');
	text_u64(&text, (uint64_t)getpid());
	return open_at(path);
}

/* One that cannot be opened is none: nobody asked this call for it. */
static void open_wanted(void)
{
	int saved = errno;

	server_forget();
	server_lock();
	if (state == CONTROL_WANTED && open_again())
		state = CONTROL_OFF;
	server_unlock();
	errno = saved;
}

static void fork_prepare(void)
{
	server_lock();
}

static void fork_parent(void)
{
	server_unlock();
}

static void fork_child(void)
{
	state = state == CONTROL_ON || state == CONTROL_WANTED ? CONTROL_WANTED : CONTROL_OFF;
	place.path[0] = '\0';
	store_relaxed(&ticking, 0);
	server_drop_fds();
	if (state == CONTROL_WANTED)
		store_relaxed(&group_control_wanted, 1);
	server_unlock_child();
}

/* Control lock. */
static int start_forks(void)
{
	static bool registered;
	int err = registered ? 0 : -pthread_atfork(fork_prepare, fork_parent, fork_child);

	registered = !err;
	return err;
}

static int start_locked(const struct memcg_control_options *options)
{
	const char *path = options ? options->path : NULL;
	int err;

	if (state == CONTROL_ON || state == CONTROL_ENDING)
		return -EALREADY;
	if (path && strlen(path) >= sizeof(wanted_path))
		return -ENAMETOOLONG;
	err = start_forks();
	if (err)
		return err;
	wanted_path[0] = '\0';
	strncat(wanted_path, path ? path : "", sizeof(wanted_path) - 1);
	read_only = options && options->flags & MEMCG_CONTROL_READ_ONLY;
	return open_at(path);
}

int memcg_control_start(const struct memcg_control_options *options)
{
	int err;

	if (options && (options->size != sizeof(*options) || options->flags & ~MEMCG_CONTROL_READ_ONLY ||
			(options->path && !*options->path)))
		return -EINVAL;
	memcg_root();
	if (atomic_xchg(&group_control_wanted, 0))
		server_forget();
	server_lock();
	err = start_locked(options);
	server_unlock();
	return err;
}

/* The thread, or who ticks, is in its last pass. */
static void wait_for_end(void)
{
	unsigned int attempt = 0;

	if (threaded) {
		store_release(&stopping, 1);
		server_ring();
		pthread_join(thread, NULL);
		return;
	}
	while (load_seq(&ticking))
		clock_pause(attempt++, &ticking);
}

int memcg_control_stop(void)
{
	enum control_state was;

	server_lock();
	was = state;
	if (was == CONTROL_ON)
		state = CONTROL_ENDING;
	else if (was == CONTROL_WANTED)
		state = CONTROL_OFF;
	server_unlock();
	if (was != CONTROL_ON)
		return was == CONTROL_WANTED ? 0 : -ENOENT;
	wait_for_end();
	place_unlink(&place);
	server_close();
	server_lock();
	place.path[0] = '\0';
	state = CONTROL_OFF;
	server_unlock();
	return 0;
}

int memcg_control_path(char *buf, size_t len)
{
	struct text text;

	text_init(&text, buf, len);
	server_lock();
	if (state == CONTROL_ON)
		text_str(&text, place.path);
	server_unlock();
	if (!text.len)
		return -ENOENT;
	return text.len < len ? (int)text.len : -ENAMETOOLONG;
}

void memcg_control_unlink(void)
{
	int saved = errno;

	place_unlink(&place);
	errno = saved;
}

__attribute__((destructor)) static void control_exit(void)
{
	memcg_control_unlink();
}

static bool tick_serves(void)
{
	bool serves;

	server_lock();
	serves = state == CONTROL_ON && !threaded;
	server_unlock();
	return serves;
}

/* memcg_tick(): one pass, by one of those who tick at once. */
static void control_tick(void)
{
	struct memcg *previous;

	/* Pairs with wait_for_end(): the mark is set before the state is read. */
	if (atomic_xchg(&ticking, 1))
		return;
	if (tick_serves()) {
		previous = memcg_enter(memcg_unaccounted());
		server_pass(false);
		memcg_leave(previous);
	}
	store_seq(&ticking, 0);
}

__attribute__((constructor)) static void register_steps(void)
{
	group_steps.control_open = open_wanted;
	group_steps.control_tick = control_tick;
}
