/* SPDX-License-Identifier: MIT */
/*
 * Interface files: one table row per file. A read fills a text; a write gets the text
 * stripped of surrounding white space, ended by a NUL.
 */
#ifndef FILES_TABLE_H
#define FILES_TABLE_H

#include "base/text.h"
#include "group/group.h"

struct file_type {
	const char *name;                                    /* "memory.max" */
	void (*read)(struct memcg *memcg, struct text *out); /* NULL: cannot be read, -EINVAL */
	int (*write)(struct memcg *memcg, const char *text); /* NULL: read-only, -EINVAL */
};

extern const struct file_type memory_files[]; /* each ends with a row without a name */
extern const struct file_type cgroup_files[];
extern const struct file_type v1_files[]; /* where MEMCG_INIT_V1 asked for them */

void stat_read(struct memcg *memcg, struct text *out);               /* memory.stat */
void numa_stat_read(struct memcg *memcg, struct text *out);          /* memory.numa_stat */
void text_node(struct text *out, unsigned int node, uint64_t value); /* " N0=value" */

/* Amounts as the kernel takes them: "max", or a number (0x, leading 0) with one suffix K M G T P E; rounded down to pages. */
int parse_pages(const char *text, unsigned long *pages);
int parse_int(const char *text, long *value);           /* base by prefix, sign allowed; -EINVAL, -ERANGE beyond long */
void text_pages(struct text *out, unsigned long pages); /* bytes or "max", and a newline */

#endif
