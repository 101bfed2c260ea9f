/* SPDX-License-Identifier: MIT */
/* Descriptors in a program that is not ours. */
#include "control/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int control_fd_high(int fd)
{
	static const int places[] = { 600, 200, 50 };
	size_t i;
	int high;

	for (i = 0; i < array_size(places); i++) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, places[i]);
		if (high >= 0) {
			close(fd);
			return high;
		}
	}
	return fd; /* few descriptors are allowed here */
}

int control_fd_take(struct control_fd *own, int fd)
{
	struct stat st;

	if (fd < 0)
		return fd;
	fd = control_fd_high(fd);
	if (fstat(fd, &st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	own->dev = st.st_dev;
	own->ino = st.st_ino;
	store_relaxed(&own->fd, fd);
	return 0;
}

bool control_fd_ours(const struct control_fd *own)
{
	struct stat st;

	return own->fd >= 0 && fstat(own->fd, &st) == 0 && st.st_dev == own->dev && st.st_ino == own->ino;
}

void control_fd_drop(struct control_fd *own)
{
	if (control_fd_ours(own))
		close(own->fd);
	store_relaxed(&own->fd, -1);
}
