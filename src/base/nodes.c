/* SPDX-License-Identifier: MIT */
/* Memory nodes. A machine without the files of /sys has one node, 0. */
#include "base/nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/small_file.h"

#define NODE_FILES "/sys/devices/system/node/"

unsigned int nodes_nr;

static uint64_t online; /* mask; atomic */
static bool real;       /* the machine's, not faked; constant after start */

uint64_t nodes_parse(const char *list)
{
	uint64_t mask = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			break;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				break;
		}
		for (; first <= last && first < NODES_MAX; first++)
			mask |= 1ULL << first;
		list = *end == ',' ? end + 1 : end;
	}
	return mask;
}

/* 0 where the file cannot be read. */
static uint64_t read_mask(const char *path)
{
	char text[256];

	return small_file_read(path, text, sizeof(text)) > 0 ? nodes_parse(text) : 0;
}

static uint64_t possible_mask(unsigned int nr)
{
	return nr < NODES_MAX ? (1ULL << nr) - 1 : UINT64_MAX;
}

void nodes_refresh(void)
{
	uint64_t mask;

	if (!real)
		return;
	mask = read_mask(NODE_FILES "has_memory") & possible_mask(nodes_nr);
	store_relaxed(&online, mask ? mask : 1);
}

int nodes_start(unsigned int faked)
{
	uint64_t possible;

	if (faked > NODES_MAX)
		return -EINVAL;
	real = faked == 0;
	if (real) {
		possible = read_mask(NODE_FILES "possible") | 1;
		nodes_nr = NODES_MAX - (unsigned int)__builtin_clzll(possible);
		nodes_refresh();
	} else {
		nodes_nr = faked;
		store_relaxed(&online, possible_mask(faked));
	}
	return 0;
}

void nodes_set_online(unsigned int node, bool on)
{
	if (on)
		__atomic_fetch_or(&online, 1ULL << node, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&online, ~(1ULL << node), __ATOMIC_RELAXED);
}

uint64_t nodes_online(void)
{
	return load_relaxed(&online);
}
