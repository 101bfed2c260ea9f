/* SPDX-License-Identifier: MIT */
/*
 * Open files: what an open file is in the kernel. It keeps its group allocated, not alive: after
 * memcg_destroy() reads and writes give -ENODEV.
 */
#include "files/open.h"

#include <errno.h>
#include <fcntl.h>
#include <memcg/files.h>

#include "base/eventfd.h"
#include "base/mem.h"
#include "group/house.h"

#define FLAGS_KNOWN (O_ACCMODE | O_NONBLOCK | O_CLOEXEC | O_APPEND | O_TRUNC | O_CREAT)

int memcg_file_open(struct memcg *group, const char *name, int flags, struct memcg_file **file)
{
	const struct file_type *type;
	struct memcg_file *opened;
	int err;

	if (!file || (flags & ~FLAGS_KNOWN) || (flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	group = group ? group : memcg_root();
	err = file_find(group, name, &type);
	if (err)
		return err == -ENOENT && (flags & O_CREAT) ? -EACCES : err;
	opened = mem_zalloc(sizeof(*opened));
	if (!opened)
		return -ENOMEM;
	opened->group = memcg_get(group);
	opened->type = type;
	opened->flags = flags;
	opened->poll.fd = -1;
	opened->poll.known_as = -1;
	*file = opened;
	return 0;
}

ssize_t memcg_file_read(struct memcg_file *file, char *buf, size_t len)
{
	int fd;

	if (!file)
		return -EINVAL;
	if ((file->flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	/* Before the text: what changes from here on makes it readable again. */
	fd = load_relaxed(&file->poll.fd);
	if (fd >= 0)
		event_clear(fd);
	if (file->type->read_open && !memcg_dying(file->group) && (buf || !len)) {
		struct text out;

		text_init(&out, buf, len);
		file->type->read_open(file, &out);
		return (ssize_t)out.len;
	}
	return memcg_read(file->group, file->type->name, buf, len);
}

ssize_t memcg_file_write(struct memcg_file *file, const char *buf, size_t len)
{
	char copy[FILE_TEXT_MAX + 1];
	int err;

	if (!file)
		return -EINVAL;
	if ((file->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!file->type->write_open || memcg_dying(file->group) || !buf || !len || len > FILE_TEXT_MAX)
		return memcg_write(file->group, file->type->name, buf, len);
	err = file->type->write_open(file, file_strip(copy, buf, len));
	return err ? err : (ssize_t)len;
}

static void file_free(struct memcg_file *file)
{
	memcg_put(file->group);
	mem_free(file);
}

static void poll_release(struct listener *poll)
{
	file_free(container_of(poll, struct memcg_file, poll));
}

/* Tree lock. Returns the descriptor. */
static int poll_start(struct memcg_file *file)
{
	int fd = event_open();

	if (fd < 0)
		return fd;
	file->poll.on = &file->group->events.files[file->type->tells - 1];
	file->poll.release = poll_release;
	file->poll.gone = false;
	file->polled = true;
	store_relaxed(&file->poll.fd, fd);
	notify_add(&file->poll);
	return fd;
}

int memcg_file_poll_fd(struct memcg_file *file)
{
	bool starts;
	int fd;

	if (!file)
		return -EINVAL;
	if (!file->type->tells)
		return -EOPNOTSUPP;
	lock_take(&tree_lock);
	fd = file->poll.fd;
	starts = fd < 0;
	if (starts)
		fd = memcg_dying(file->group) ? -ENODEV : poll_start(file);
	lock_drop(&tree_lock);
	if (starts && fd >= 0)
		house_wake(); /* the thread that delivers */
	return fd;
}

void memcg_file_close(struct memcg_file *file)
{
	if (!file)
		return;
	peak_close(file);
	if (file->polled)
		notify_del(&file->poll);
	else
		file_free(file);
}
