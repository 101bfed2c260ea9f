/* SPDX-License-Identifier: MIT */
/* Events of a group. */
#include "stat/events.h"

const char *const event_names[EVENT_NR] = {
	[EVENT_LOW] = "low",
	[EVENT_HIGH] = "high",
	[EVENT_MAX] = "max",
	[EVENT_OOM] = "oom",
	[EVENT_OOM_KILL] = "oom_kill",
	[EVENT_OOM_GROUP_KILL] = "oom_group_kill",
	[EVENT_SOCK_THROTTLED] = "sock_throttled",
};

/* Counts first, in one order with the look for listeners (N1). */
void events_raise(struct events *events, enum memcg_event event)
{
	atomic_add(&events->local[event], 1);
	notify_changed(&events->files[EVENTS_LOCAL]);
	for (; events; events = events->parent) {
		atomic_add(&events->total[event], 1);
		notify_changed(&events->files[EVENTS_TOTAL]);
	}
}

void events_gone(struct events *events)
{
	unsigned int i;

	for (i = 0; i < EVENTS_FILES; i++)
		notify_gone(&events->files[i]);
}
