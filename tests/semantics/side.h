/* SPDX-License-Identifier: MIT */
/* What test_kernel.c drives twice: groups, and actors that touch pages in them. */
#ifndef SEMANTICS_SIDE_H
#define SEMANTICS_SIDE_H

#include "support/tree.h"

#define ACTORS 2U
#define ARENA_PAGES 500U /* that an actor can touch: below the 512 of one page table */
#define PATIENCE 200000  /* turns of 50 us that an actor may take for an order */

/* One of the two. Paths are "g/a" and so on; amounts are pages; errors are negative errno. */
struct side {
	int (*make)(const char *path);
	int (*end)(const char *path);
	int (*limit)(const char *path, const char *bytes);
	void (*show_limit)(const char *path, char *bytes);
	unsigned long (*usage)(const char *path);
	unsigned long (*failures)(const char *path);
	unsigned long (*peak)(const char *path);
	void (*reset_peak)(const char *path);
	void (*join)(unsigned int actor, const char *path);
	unsigned long (*touch)(unsigned int actor, unsigned long pages); /* until refused: how many */
	void (*release)(unsigned int actor, unsigned long pages);        /* those that were touched last */
};

enum order {
	IDLE,
	JOIN,
	TOUCH,
	RELEASE,
	QUIT,
};

/* What an actor and the test share. */
struct stage {
	int order;           /* enum order; atomic; IDLE when done */
	unsigned long pages; /* asked for, then done */
	int result;          /* of JOIN: errno */
	unsigned long held;  /* pages of the arena that are touched */
	char procs[640];     /* where to join */
};

static void command(struct stage *stage, enum order order, unsigned long pages)
{
	unsigned int turns;

	stage->pages = pages;
	store_seq(&stage->order, order);
	for (turns = 0; load_seq(&stage->order) != IDLE; turns++) {
		must(turns < PATIENCE);
		usleep(50);
	}
}

#endif
