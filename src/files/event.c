/* SPDX-License-Identifier: MIT */
/* Change notification for callers: descriptors and functions. */
#include <errno.h>
#include <memcg/files.h>

#include "base/eventfd.h"
#include "base/mem.h"
#include "files/table.h"
#include "group/house.h"

struct memcg_listener {
	struct listener listener;                                     /* what is told */
	struct memcg *group;                                          /* holds a reference; constant */
	const char *file;                                             /* name in the table; constant */
	void (*fn)(struct memcg *group, const char *file, void *arg); /* NULL for a descriptor; constant */
	void *arg;                                                    /* the caller's; constant */
};

static void call_fn(struct listener *self)
{
	const struct memcg_listener *listener = container_of(self, struct memcg_listener, listener);

	listener->fn(listener->group, listener->file, listener->arg);
}

static void listener_free(struct listener *self)
{
	struct memcg_listener *listener = container_of(self, struct memcg_listener, listener);

	memcg_put(listener->group);
	mem_free(listener);
}

/* One that is told of nothing yet. */
static int listener_make(struct memcg *group, const char *file, struct memcg_listener **out)
{
	const struct file_type *type;
	struct memcg_listener *listener;
	int err;

	group = group ? group : memcg_root();
	err = file_find(group, file, &type);
	if (err)
		return err;
	if (!type->tells)
		return -EOPNOTSUPP;
	listener = mem_zalloc(sizeof(*listener));
	if (!listener)
		return -ENOMEM;
	listener->group = memcg_get(group);
	listener->file = type->name;
	listener->listener.on = &group->events.files[type->tells - 1];
	listener->listener.release = listener_free;
	listener->listener.fd = -1;
	listener->listener.known_as = -1;
	*out = listener;
	return 0;
}

/* Under the lock that destruction takes: the group is destroyed before, which is seen here, or after, which is told. */
static int listener_start(struct memcg_listener *listener)
{
	int err = 0;

	lock_take(&tree_lock);
	if (memcg_dying(listener->group))
		err = -ENODEV;
	else
		notify_add(&listener->listener);
	lock_drop(&tree_lock);
	if (!err)
		house_wake(); /* the thread that delivers */
	return err;
}

int memcg_event_listen(struct memcg *group, const char *file,
		       void (*fn)(struct memcg *group, const char *file, void *arg), void *arg,
		       struct memcg_listener **listener)
{
	struct memcg_listener *made;
	int err;

	if (!fn || !listener)
		return -EINVAL;
	err = listener_make(group, file, &made);
	if (err)
		return err;
	made->fn = fn;
	made->arg = arg;
	made->listener.call = call_fn;
	*listener = made; /* the function may want it before this returns */
	err = listener_start(made);
	if (err) {
		*listener = NULL;
		listener_free(&made->listener);
	}
	return err;
}

void memcg_event_unlisten(struct memcg_listener *listener)
{
	if (listener)
		notify_del(&listener->listener);
}

/* The caller's descriptor in @known_as, the library's own in @fd. */
static int descriptors_make(struct listener *listener)
{
	listener->known_as = event_open();
	if (listener->known_as < 0)
		return listener->known_as;
	listener->fd = event_dup(listener->known_as);
	return listener->fd < 0 ? listener->fd : 0;
}

int memcg_event_fd(struct memcg *group, const char *file)
{
	struct memcg_listener *listener;
	int err, fd;

	err = listener_make(group, file, &listener);
	if (err)
		return err;
	listener->listener.group_ends = true;
	err = descriptors_make(&listener->listener);
	fd = listener->listener.known_as;
	if (!err)
		err = listener_start(listener);
	if (!err)
		return fd;
	event_shut(fd);
	event_shut(listener->listener.fd);
	listener_free(&listener->listener);
	return err;
}

void memcg_event_close(int fd)
{
	if (fd < 0)
		return;
	notify_del_fd(fd);
	event_shut(fd);
}
