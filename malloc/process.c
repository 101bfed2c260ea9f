/* SPDX-License-Identifier: MIT */
/*
 * Whose memory is this? The child of vfork(), and of clone() with CLONE_VM, works in its parent's until it ends or calls
 * exec(): what it says of itself must not be noted here, since it would be noted of the parent's thread.
 *
 * Its process id is not the one in the page below. A child with memory of its own finds the page empty, whichever call
 * made it: the kernel wipes it (MADV_WIPEONFORK). Without that (Linux 4.14) nobody is taken for a guest.
 *
 * Tolerated: the child of a bare clone(), which no handler tells of the fork, and whose guest asks before it did itself. It
 * is taken for the guest from then on, and its names are not seen.
 */
#include "preload.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static pid_t *owner; /* process that the memory belongs to, 0: not noted yet; NULL: not known. Atomic */

bool process_is_guest(void)
{
	pid_t noted = 0, self;

	if (!owner)
		return false;
	self = getpid();
	if (__atomic_compare_exchange_n(owner, &noted, self, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	return noted != self;
}

static void fork_child(void)
{
	process_is_guest();
}

void process_start(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK)) {
		munmap(page, size);
		return;
	}
	owner = page;
	*owner = getpid();
	if (pthread_atfork(NULL, NULL, fork_child))
		start_fail("groups by thread name", ENOMEM);
}
