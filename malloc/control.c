/* SPDX-License-Identifier: MIT */
/*
 * The control socket of a program under `memcg run` (MEMCG_RUN_CONTROL=1): when it is opened, and when it must not be there.
 *
 * It has a thread. So it is opened by our constructor, not in the first allocation, which may be anybody's; and in a
 * forked child with its first allocation, not in the fork: most children only execute another program. A program that
 * enters a user namespace must have one thread, its own: the socket is closed for so long.
 *
 * Without a socket the program runs all the same: nobody is told.
 */
#include "control.h"
#include "preload.h"
#include "run_env.h"
#include <errno.h>
#include <memcg/control.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ENDING_TRIES 100 /* a thread that was joined may still be counted for a moment */
#define ENDING_NS 100000

static bool forked; /* this child has not allocated yet; written by its only thread */

static void fork_child(void)
{
	forked = true;
	__atomic_store_n(&thread_self.renamed, 1, __ATOMIC_RELAXED); /* its next allocation asks what there is to do */
}

static void begin(const struct memcg_control_options *options)
{
	unsigned int phase = thread_busy();

	memcg_control_start(options);
	thread_self.phase = phase;
}

void control_start(void)
{
	if (!run_env.control)
		return;
	begin(NULL);
	if (pthread_atfork(NULL, NULL, fork_child))
		start_fail("MEMCG_RUN_CONTROL", ENOMEM);
}

/* Any call that may start a thread opens what the fork has closed. */
void control_arrive(void)
{
	struct memcg *root;
	int saved = errno;

	if (!forked || process_is_guest())
		return;
	forked = false;
	if (!memcg_open("/", &root))
		memcg_put(root);
	errno = saved;
}

void control_end(void)
{
	if (start_done())
		memcg_control_unlink();
}

static bool needs_one_thread(int flags)
{
	return flags & CLONE_NEWUSER && run_env.control && start_done() && thread_self.phase != THREAD_BUSY &&
	       !process_is_guest();
}

/* A call that fails with EINVAL while there is a second thread. At the same place again afterwards: the user has another name. */
static int alone(long number, long first, long second)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	const struct memcg_control_options options = { .size = sizeof(options), .path = path };
	const struct timespec nap = { .tv_nsec = ENDING_NS };
	unsigned int phase = thread_busy();
	bool was = memcg_control_path(path, sizeof(path)) > 0 && !memcg_control_stop();
	int ret, saved, tries = 0;

	while ((ret = (int)syscall(number, first, second)) && errno == EINVAL && was && tries++ < ENDING_TRIES)
		nanosleep(&nap, NULL);
	saved = errno;
	if (was)
		begin(&options);
	thread_self.phase = phase;
	errno = saved;
	return ret;
}

EXPORT int unshare(int flags)
{
	return needs_one_thread(flags) ? alone(SYS_unshare, flags, 0) : (int)syscall(SYS_unshare, flags);
}

/* 0: whatever kind of namespace it is. */
EXPORT int setns(int fd, int kind)
{
	return needs_one_thread(kind ? kind : CLONE_NEWUSER) ? alone(SYS_setns, fd, kind) :
							       (int)syscall(SYS_setns, fd, kind);
}
