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
	void (*read)(struct memcg *memcg, struct text *out); /* NULL: @fixed, or cannot be read, -EINVAL */
	int (*write)(struct memcg *memcg, const char *text); /* NULL: read-only, -EINVAL */
	const char *fixed;                                   /* what it always reads; NULL: nothing */
	unsigned int tells;                                  /* enum events_file + 1: tells of changes; 0: does not */
	void (*read_open)(struct memcg_file *file, struct text *out); /* through an open file; NULL: as read */
	int (*write_open)(struct memcg_file *file, const char *text); /* through an open file; NULL: as write */
};

#define FILE_TELLS(file) ((unsigned int)(file) + 1)
#define FILE_TEXT_MAX 4096 /* bytes of one write, as a page of the kernel */

/* Each ends with a row without a name. */
extern const struct file_type memory_files[];
extern const struct file_type cgroup_files[];
extern const struct file_type v1_files[];     /* where MEMCG_INIT_V1 asked for them */
extern const struct file_type absent_files[]; /* what a process cannot have */

/* files.c */
int file_find(struct memcg *group, const char *name, const struct file_type **type); /* -EINVAL, -ENOENT, -ENODEV */
const char *file_strip(char *copy, const char *buf,
		       size_t len); /* @len bytes, into @copy of one more: what a write gets */

void stat_read(struct memcg *memcg, struct text *out);               /* memory.stat */
void numa_stat_read(struct memcg *memcg, struct text *out);          /* memory.numa_stat */
void text_node(struct text *out, unsigned int node, uint64_t value); /* " N0=value" */

/* memory.peak */
void peak_read(struct memcg *memcg, struct text *out);
int peak_write(struct memcg *memcg, const char *text);
void peak_read_open(struct memcg_file *file, struct text *out);
int peak_write_open(struct memcg_file *file, const char *text);

/* cgroup.threads */
void threads_read(struct memcg *memcg, struct text *out);
int threads_write(struct memcg *memcg, const char *text);

/* cgroup.subtree_control */
int controllers_write(struct memcg *memcg, const char *text);

/* Amounts as the kernel takes them: "max", or a number (0x, leading 0) with one suffix K M G T P E; rounded down to pages. */
int parse_pages(const char *text, unsigned long *pages);
int parse_int(const char *text, long *value);           /* base by prefix, sign allowed; -EINVAL, -ERANGE beyond long */
int parse_int32(const char *text, int *value);          /* the same, -ERANGE beyond int */
void text_pages(struct text *out, unsigned long pages); /* bytes or "max", and a newline */

#endif
