/* SPDX-License-Identifier: MIT */
/* Events of a group: counts that only grow; local, and with those of the whole subtree; and who wants to know. */
#ifndef STAT_EVENTS_H
#define STAT_EVENTS_H

#include "base/compiler.h"
#include "stat/notify.h"

/* In the order of memory.events. */
enum memcg_event {
	EVENT_LOW,
	EVENT_HIGH,
	EVENT_MAX,
	EVENT_OOM,
	EVENT_OOM_KILL,
	EVENT_OOM_GROUP_KILL,
	EVENT_SOCK_THROTTLED,
	EVENT_NR,
};

extern const char *const event_names[EVENT_NR];

/* Files of a group that tell of changes. */
enum events_file {
	EVENTS_TOTAL,     /* memory.events */
	EVENTS_LOCAL,     /* memory.events.local */
	EVENTS_POPULATED, /* cgroup.events */
	EVENTS_FILES,
};

struct events {
	struct events *parent;             /* NULL for the root; constant */
	unsigned long local[EVENT_NR];     /* raised on this group; atomic */
	unsigned long total[EVENT_NR];     /* raised on this group or below; atomic */
	struct notify files[EVENTS_FILES]; /* who listens */
};

void events_raise(struct events *events, enum memcg_event event); /* context: nowait */
void events_gone(struct events *events);                          /* the group was destroyed; nowait */

#endif
