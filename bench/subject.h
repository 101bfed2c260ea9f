/* SPDX-License-Identifier: MIT */
/*
 * What is compared: builds of the library, and peers, each a shared object.
 *
 * A peer exports a few of the library's own symbols (peers/). Every object is
 * opened with RTLD_LOCAL and called through a pointer of one type, so the call
 * is the same for all and no two of them see each other.
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <memcg/charge.h>
#include <memcg/files.h>

#include "harness.h"

#define SMALL_BUDGET 512 /* pages */

enum subject_id {
	SUBJECT_MEMCG,
	SUBJECT_LOCKED,
	SUBJECT_DEFERRED,
	SUBJECT_PORTABLE, /* the default build again, started without restartable sequences */
	SUBJECT_THREAD_STOCK,
	SUBJECT_ATOMIC_TREE,
	SUBJECT_MUTEX_TREE,
	SUBJECT_EMPTY, /* what the two calls cost by themselves */
	NR_COMPARED,
	SUBJECT_SMALL_BUDGET = NR_COMPARED, /* the default build again, with SMALL_BUDGET */
	NR_SUBJECTS,
};

struct subject {
	const char *name; /* in keys */
	void *object;     /* dlopen()ed, never closed; NULL: not available */
	int (*charge)(struct memcg *group, unsigned long nr_pages, unsigned int flags);
	void (*uncharge)(struct memcg *group, unsigned long nr_pages);
	struct memcg *(*root)(void);
	int (*create)(struct memcg *parent, const char *name, struct memcg **group);
	ssize_t (*write)(struct memcg *group, const char *file, const char *buf, size_t len);
	/* NULL in peers: */
	int (*init)(const struct memcg_options *options);
	ssize_t (*read)(struct memcg *group, const char *file, char *buf, size_t len);
	struct memcg *(*enter)(struct memcg *group);
	void (*leave)(struct memcg *previous);
};

const char *subject_name(enum subject_id id);

/*
 * 0, or a negative errno with a complaint. -ENOENT without one when the object is not
 * there: then NAME.skipped.SUBJECT was printed.
 */
int subject_open(struct bench *b, enum subject_id id, struct subject *s);
/* The symbols of an object that is open already. */
int subject_bind(struct bench *b, void *object, const char *name, struct subject *s);

/* Groups below @parent named @prefix0 ...; 0 or a negative errno with a complaint. */
int subject_groups(struct bench *b, const struct subject *s, struct memcg *parent, const char *prefix, unsigned int nr,
		   struct memcg **groups);
/*
 * @nr leaves as the fourth level of a tree: root, a, b, leaf. a and b have a max that is
 * finite and far away, as a server's tenants and their queries have.
 */
int subject_leaves(struct bench *b, const struct subject *s, unsigned int nr, struct memcg **leaves);

/* Pages charged to @group as the library counts them, stock included; negative errno. */
long subject_usage(const struct subject *s, struct memcg *group);

/* A second instance: @copy receives the path of a copy in memory, 64 bytes. 0 or a negative errno. */
int copy_in_memory(const char *path, char *copy, size_t len);

/* Path of a file of the build or of the installation. 0 or -ENOENT. */
int find_file(const struct bench *b, const char *name, char *path, size_t len);

#endif
