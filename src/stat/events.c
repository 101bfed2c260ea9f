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

void events_raise(struct events *events, enum memcg_event event)
{
	__atomic_fetch_add(&events->local[event], 1, __ATOMIC_RELAXED);
	for (; events; events = events->parent)
		__atomic_fetch_add(&events->total[event], 1, __ATOMIC_RELAXED);
}
