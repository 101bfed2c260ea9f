/* SPDX-License-Identifier: MIT */
/*
 * What a read of a file costs, counted: the accesses to memory that are not on the reader's stack. One group has a
 * single charge; the other 100,000, in itself and in 40 groups below it, in pages and in bytes. (The keys of
 * memory.stat are sums, and are not among these files.)
 */
#include "selftest/litmus.h"

#include <memcg/charge.h>
#include <memcg/files.h>

enum {
	BELOW = 40,
	PAGE_CHARGES = 50000,
	BYTE_CHARGES = 50000
};

static struct memcg *one, *many;

static void charge_one(void)
{
	sim_check(memcg_create(NULL, "one", &one) == 0);
	sim_check(memcg_charge(one, 1, 0) == 0);
}

static void charge_many(void)
{
	struct memcg *group[BELOW + 1];
	char name[] = "aa";

	sim_check(memcg_create(NULL, "all", &group[0]) == 0);
	many = group[0];
	for (int i = 0; i < BELOW; i++) {
		name[0] = (char)('a' + i % 26);
		name[1] = (char)('a' + i / 26);
		sim_check(memcg_create(many, name, &group[i + 1]) == 0);
	}
	for (int i = 0; i < PAGE_CHARGES; i++)
		sim_check(memcg_charge(group[i % (BELOW + 1)], 1, 0) == 0);
	for (int i = 0; i < BYTE_CHARGES; i++) {
		struct memcg_objcg *owner = memcg_objcg_get(group[i % (BELOW + 1)]);

		sim_check(memcg_charge_bytes(owner, 100, 0) == 0);
		memcg_objcg_put(owner);
	}
}

static void set_stage(void)
{
	struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_THREADS | MEMCG_INIT_NO_HOST_MAX,
		.index = MEMCG_INDEX_MM_CID,
	};

	sim_check(memcg_init(&options) == 0);
	charge_one();
	charge_many();
}

/* Each access is a point, and each point takes as long. */
static uint64_t cost(struct memcg *group, const char *file)
{
	char text[256];
	uint64_t begin = sim_clock_ns();

	sim_check(memcg_read(group, file, text, sizeof(text)) > 0);
	return sim_clock_ns() - begin;
}

static void reads(void)
{
	static const char *const files[] = { "memory.current", "memory.peak",         "memory.max",
					     "memory.events",  "memory.events.local", "cgroup.events" };

	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		sim_check(cost(one, files[i]) == cost(many, files[i]));
}

const struct sim_test cost_of_reads = {
	.name = "cost-of-reads",
	.about = "reading a file costs the same with 1 and with 100,000 charges",
	.cpus = 1,
	.threads = { reads },
	.setup = set_stage,
	.exhaustive_bound = 1,
};
