/* SPDX-License-Identifier: MIT */
/* Event descriptors. */
#include "base/eventfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int event_open(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int event_dup(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : copy;
}

/* Not by write(2) and close(2), at which a thread can be cancelled. */
void event_fire(int fd)
{
	const uint64_t one = 1;
	int saved = errno;

	/* Full is as good: it is readable. */
	if (syscall(SYS_write, fd, &one, sizeof(one)) < 0)
		errno = saved;
}

void event_clear(int fd)
{
	int saved = errno;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		errno = saved;
}

void event_shut(int fd)
{
	if (fd >= 0)
		syscall(SYS_close, fd);
}
