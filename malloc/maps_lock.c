/* SPDX-License-Identifier: MIT */
/*
 * Whose calls of mmap() count, the lock of the ranges, and fork.
 *
 * The fork handlers are registered after the library's, and so run before them: a thread that holds the lock
 * may be in the library, which waits for the fork when the library's have run.
 */
#include "maps_lock.h"
#include "fast.h"
#include "maps.h"
#include "run_env.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <memcg/charge.h>
#include <pthread.h>
#include <unistd.h>

#define OWN_OBJECTS 4 /* this one, the library, liburcu, the malloc below */

struct object {
	uintptr_t start; /* of its first segment */
	uintptr_t end;   /* of its last */
};

static bool counted;                   /* MEMCG_RUN_MMAP; constant after start */
static size_t page;                    /* bytes; constant after start */
static struct object own[OWN_OBJECTS]; /* whose calls are not the program's; constant after start */
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER; /* the ranges; held over their system calls */
static sigset_t fork_mask;                                    /* of the thread that forks; under maps_lock */

static bool is_own(const void *caller)
{
	for (int i = 0; i < OWN_OBJECTS; i++) {
		if ((uintptr_t)caller - own[i].start < own[i].end - own[i].start)
			return true;
	}
	return false;
}

/* A handler that interrupts one of our calls is nested in it: what it maps is nobody's. */
bool maps_begin(const void *caller)
{
	if (likely(!counted) || thread_self.phase == THREAD_BUSY || is_own(caller))
		return false;
	if (!is_idle() && call_mode() != CALL_CHARGED)
		return false;
	thread_self.phase = THREAD_BUSY;
	return true;
}

void maps_end(void)
{
	thread_self.phase = THREAD_IDLE;
}

void maps_lock_take(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, mask);
	pthread_mutex_lock(&maps_lock);
}

void maps_lock_drop(const sigset_t *mask)
{
	int saved = errno;

	pthread_mutex_unlock(&maps_lock);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	errno = saved;
}

size_t maps_round(size_t len)
{
	return (len + page - 1) & -page;
}

static void fork_prepare(void)
{
	sigset_t mask;

	maps_lock_take(&mask);
	fork_mask = mask;
}

static void fork_done(void)
{
	sigset_t mask = fork_mask;

	maps_lock_drop(&mask);
}

/* Of the object that @data is in: from its first to its last segment. */
static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *object = data, found = { UINTPTR_MAX, 0 };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		found.start = start < found.start ? start : found.start;
		found.end = start + header->p_memsz > found.end ? start + header->p_memsz : found.end;
	}
	if (object->start - found.start >= found.end - found.start)
		return 0;
	*object = found;
	return 1;
}

static struct object object_of(const void *function)
{
	struct object object = { (uintptr_t)function, 0 };

	if (!function || !dl_iterate_phdr(find_object, &object))
		return (struct object){ 0, 0 };
	return object;
}

void maps_start(void)
{
	int err;

	if (!run_env.mmap)
		return;
	page = (size_t)sysconf(_SC_PAGESIZE);
	own[0] = object_of((const void *)(uintptr_t)maps_start);
	own[1] = object_of((const void *)(uintptr_t)memcg_init);
	own[2] = object_of(dlsym(RTLD_DEFAULT, "urcu_bp_synchronize_rcu"));
	own[3] = object_of((const void *)(uintptr_t)next_malloc.malloc);
	err = pthread_atfork(fork_prepare, fork_done, fork_done);
	if (err)
		start_fail("MEMCG_RUN_MMAP", err);
	counted = true;
}
