/* SPDX-License-Identifier: MIT */
/*
 * Event descriptors. The count is a word of the arena, so that reports name it; numbers are never
 * given out again, so that a write to a closed one is seen.
 */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

enum {
	FIRST_FD = 1000,
	MAX_FDS = 64
};

int sim_eventfd(unsigned int count, int flags);
int sim_fcntl(int fd, int cmd, ...);
int sim_fcntl64(int fd, int cmd, ...);
ssize_t sim_read(int fd, void *buf, size_t size);

static uint64_t *counts[MAX_FDS]; /* by number; NULL: closed */
static unsigned int nr_fds;       /* numbers given out */

void sim_fds_reset(void)
{
	nr_fds = 0;
}

static int new_fd(uint64_t *count)
{
	if (nr_fds == MAX_FDS) {
		errno = EMFILE;
		return -1;
	}
	counts[nr_fds] = count;
	return FIRST_FD + (int)nr_fds++;
}

/* After a point: others may have closed it. A system call that takes the count's lock. */
static uint64_t *use(int fd, const char *what, uintptr_t pc)
{
	uint64_t **at;

	if (fd < FIRST_FD || fd >= FIRST_FD + (int)nr_fds)
		sim_fail(SIM_FAIL_MISUSE, pc, 0, "%s of a descriptor that never was", what);
	at = &counts[fd - FIRST_FD];
	sim_point(SIM_RMW, (uintptr_t)*at, pc);
	if (!*at)
		sim_fail(SIM_FAIL_MISUSE, pc, 0, "%s of a closed descriptor", what);
	if (sim.live)
		sim_buffer_drain(sim.current->cpu);
	return *at;
}

int sim_eventfd(unsigned int count, int flags)
{
	uint64_t *fresh = sim_alloc(sizeof(*fresh), 0);

	(void)flags;
	if (!fresh) {
		errno = ENOMEM;
		return -1;
	}
	*fresh = count;
	return new_fd(fresh);
}

int sim_fcntl(int fd, int cmd, ...)
{
	if (cmd == F_DUPFD_CLOEXEC)
		return new_fd(use(fd, "a copy", SIM_PC));
	errno = EINVAL;
	return -1;
}

int sim_fcntl64(int fd, int cmd, ...)
{
	return sim_fcntl(fd, cmd);
}

ssize_t sim_read(int fd, void *buf, size_t size)
{
	uint64_t *count = use(fd, "a read", SIM_PC);

	if (!*count || size != sizeof(*count)) {
		errno = EAGAIN;
		return -1;
	}
	sim_before_libc(buf, size, SIM_PC);
	memcpy(buf, count, size);
	*count = 0;
	sim_written((uintptr_t)count, sizeof(*count), true);
	return (ssize_t)size;
}

void sim_fd_write(int fd)
{
	uint64_t *count = use(fd, "a write", SIM_PC);

	++*count;
	sim_written((uintptr_t)count, sizeof(*count), true);
}

void sim_fd_close(int fd)
{
	use(fd, "a close", SIM_PC);
	counts[fd - FIRST_FD] = NULL;
}
