/* SPDX-License-Identifier: MIT */
/* Names of what the options of memcg-sim explore choose, and which test finds which fault. */
#include "explore/explore.h"

#include <stdio.h>

static const char *const scheduler_names[] = {
	[SIM_SCHED_MIX] = "mix",       [SIM_SCHED_RANDOM] = "random",
	[SIM_SCHED_PCT] = "pct",       [SIM_SCHED_EXHAUSTIVE] = "exhaustive",
	[SIM_SCHED_REPLAY] = "replay",
};

static const char *const fault_names[] = { [FAULT_NONE] = "none",
#define X(id, name) [FAULT_##id] = (name),
					   SIM_FAULTS(X)
#undef X
};

enum {
	NR_FAULTS = sizeof(fault_names) / sizeof(fault_names[0])
};

/* The test that meets the fault within 10,000 schedules: tests/cli/explore.bats makes sure of it. */
static const char *const finders[] = {
	[FAULT_NONE] = "",
	[FAULT_LOST_STORE_IN_REFILL] = "charge-preempted",
	[FAULT_EARLY_REOPEN] = "two-drains",
	[FAULT_NO_FENCE_IN_DRAIN] = "charge-drain",
	[FAULT_FENCE_BY_CID] = "charge-drain",
	[FAULT_NO_DYING_CHECK] = "destroy-charge",
	[FAULT_NO_GRACE_PERIOD] = "zombie",
	[FAULT_ADD_THEN_BACK_OFF] = "limit-race",
	[FAULT_DROP_REMAINDER] = "destroy-bytes",
	[FAULT_VICTIM_REREAD] = "replace-irq",
	[FAULT_CHILD_AFTER_PARENT] = "stat-preempted",
	[FAULT_NO_FENCE_IN_FLUSH] = "stat-flush",
	[FAULT_MARK_BEFORE_BITS] = "stat-preempted",
	[FAULT_EPOCH_FIRST] = "stat-flush",
};

_Static_assert(sizeof(finders) == sizeof(fault_names), "each fault has a test that finds it");

const char *sim_scheduler_name(enum sim_scheduler scheduler)
{
	return scheduler_names[scheduler];
}

bool sim_scheduler_find(const char *name, enum sim_scheduler *scheduler)
{
	for (unsigned int i = SIM_SCHED_MIX; i <= SIM_SCHED_EXHAUSTIVE; i++)
		if (strcmp(name, scheduler_names[i]) == 0) {
			*scheduler = (enum sim_scheduler)i;
			return true;
		}
	return false;
}

const char *sim_fault_name(enum sim_fault fault)
{
	return fault_names[fault];
}

bool sim_fault_find(const char *name, enum sim_fault *fault)
{
	for (unsigned int i = 0; i < NR_FAULTS; i++) {
		if (strcmp(name, fault_names[i]) != 0)
			continue;
		*fault = (enum sim_fault)i;
		return true;
	}
	return false;
}

bool sim_memory_find(const char *name, bool *tso)
{
	*tso = strcmp(name, "tso") == 0;
	return *tso || strcmp(name, "sc") == 0;
}

const char *sim_fault_choices(void)
{
	static char choices[512];
	size_t len = 0;

	for (unsigned int i = 0; i < NR_FAULTS && len < sizeof(choices); i++)
		len += (size_t)snprintf(choices + len, sizeof(choices) - len, "%s%s", i ? ", " : "", fault_names[i]);
	return choices;
}

void sim_fault_table(void)
{
	for (unsigned int i = FAULT_NONE + 1; i < NR_FAULTS; i++)
		printf("  %-20s %s\n", fault_names[i], finders[i]);
}
