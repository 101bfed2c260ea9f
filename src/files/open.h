/* SPDX-License-Identifier: MIT */
/* Open files. */
#ifndef FILES_OPEN_H
#define FILES_OPEN_H

#include "files/table.h"

struct memcg_file {
	struct memcg *group;          /* holds a reference; constant */
	const struct file_type *type; /* constant */
	int flags;                    /* of memcg_file_open(); constant */
	bool watches;                 /* memory.peak was reset through it: is in its group's list; tree lock */
	bool polled;                  /* has had a descriptor; tree lock */
	unsigned long peak; /* pages: highest usage that a reset found since its own; tree lock, read anywhere */
	struct memcg_file *next_peak; /* in its group's list; tree lock */
	struct listener poll;         /* its fd is the descriptor, -1: none; set under the tree lock */
};

void peak_close(struct memcg_file *file); /* the file is in its group's list no more */

#endif
