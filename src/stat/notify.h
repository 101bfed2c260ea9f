/* SPDX-License-Identifier: MIT */
/*
 * Change notification: who listens to a file of a group, and when he is told.
 *
 *   notify     a file that can change, of one group: who listens, and when they were told last
 *   listener   an eventfd that is written to, or a function that is called
 */
#ifndef STAT_NOTIFY_H
#define STAT_NOTIFY_H

#include <urcu/list.h>

#include "base/compiler.h"

#define NOTIFY_INTERVAL_NS 10000000U /* least time between two notifications of a file */

struct listener;

struct notify {
	struct listener *first; /* by next; changed under the notify lock, RCU; NULL: nobody listens */
	uint64_t last_ns;       /* when they were told, 0: never; atomic */
	uint32_t late;          /* 1: changed since, too soon to tell; atomic */
};

struct listener {
	struct listener *next;                  /* of the same file; notify lock, RCU */
	struct cds_list_head node;              /* all listeners, or those to be released; notify lock */
	struct notify *on;                      /* the file; constant */
	void (*call)(struct listener *self);    /* called with no lock held; NULL for an eventfd; constant */
	void (*release)(struct listener *self); /* frees it; constant */
	int fd;                                 /* the library's own eventfd; -1: none */
	int known_as;    /* the caller's number of it, who may have closed it; -1: none; constant */
	bool group_ends; /* goes by itself when its group is destroyed; constant */
	bool gone;       /* linked to no file any more; notify lock */
	bool ended;      /* by the call that runs: the deliverer releases it; notify lock */
	uint32_t due;    /* 1: is to be called; atomic */
};

extern void (*notify_wake)(void); /* there is something to deliver; nowait; set at start */

/* Context: nowait. */
void notify_changed(struct notify *on); /* after the change */
void notify_gone(struct notify *on);    /* the group was destroyed: told at once */

/* Context: thread, not in a read section. */
void notify_add(struct listener *listener);
void notify_del(struct listener *listener); /* waits for a call under way; releases it */
uint64_t notify_run(void);                  /* delivers; ns until there is more to do, 0: nothing waits */
bool notify_wanted(void);                   /* is there any listener? Any context */

void notify_del_fd(int fd); /* the same for the newest that its caller knows as @fd, if there is one */

/* Takes away what goes with a group; it is to be released a grace period later. */
void notify_take_group(struct notify *on, struct cds_list_head *taken);
void notify_release(struct cds_list_head *taken);

void notify_fork_prepare(void);
void notify_fork_parent(void);
void notify_fork_child(void);

#endif
