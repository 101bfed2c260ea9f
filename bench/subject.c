/* SPDX-License-Identifier: MIT */
/* Finding, opening and preparing the objects that are compared. */
#include "subject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef BENCH_LIBDIR
#define BENCH_LIBDIR "/usr/local/lib"
#endif

static const struct {
	const char *name;    /* in keys */
	const char *file;    /* of the object */
	bool copy;           /* a second instance of a file that is open already */
	unsigned int flags;  /* MEMCG_INIT_* beyond the usual */
	unsigned int budget; /* of the stocks of a CPU; 0: the default */
} table[NR_SUBJECTS] = {
	[SUBJECT_MEMCG] = { "memcg", "libmemcg.so", false, 0, 0 },
	[SUBJECT_LOCKED] = { "locked", "libmemcg-locked.so", false, 0, 0 },
	[SUBJECT_DEFERRED] = { "deferred", "libmemcg-deferred.so", false, 0, 0 },
	[SUBJECT_PORTABLE] = { "portable", "libmemcg.so", true, MEMCG_INIT_PORTABLE, 0 },
	[SUBJECT_THREAD_STOCK] = { "thread_stock", "memcg-bench-thread-stock.so", false, 0, 0 },
	[SUBJECT_ATOMIC_TREE] = { "atomic_tree", "memcg-bench-atomic-tree.so", false, 0, 0 },
	[SUBJECT_MUTEX_TREE] = { "mutex_tree", "memcg-bench-mutex-tree.so", false, 0, 0 },
	[SUBJECT_EMPTY] = { "empty", "memcg-bench-empty.so", false, 0, 0 },
	[SUBJECT_SMALL_BUDGET] = { "small_budget", "libmemcg.so", true, 0, SMALL_BUDGET },
};

const char *subject_name(enum subject_id id)
{
	return table[id].name;
}

/* Where the program is: its objects are in ../lib of a build. */
static int own_directory(char *dir, size_t len)
{
	ssize_t n = readlink("/proc/self/exe", dir, len - 1);

	if (n < 0)
		return -errno;
	dir[n] = '\0';
	*strrchr(dir, '/') = '\0';
	return 0;
}

int find_file(const struct bench *b, const char *name, char *path, size_t len)
{
	static const char *const near[] = { "../lib", "." };
	char dir[PATH_MAX];
	size_t i;

	if (b->opt.libdir) {
		snprintf(path, len, "%s/%s", b->opt.libdir, name);
		if (!access(path, R_OK))
			return 0;
	}
	for (i = 0; !own_directory(dir, sizeof(dir)) && i < sizeof(near) / sizeof(*near); i++) {
		snprintf(path, len, "%s/%s/%s", dir, near[i], name);
		if (!access(path, R_OK))
			return 0;
	}
	snprintf(path, len, "%s/%s", BENCH_LIBDIR, name);
	return access(path, R_OK) ? -ENOENT : 0;
}

/*
 * The loader gives one instance per inode. A copy in memory is another inode, so that two
 * instances with other start options can be compared within one process. The
 * descriptor stays open as long as the object does.
 */
int copy_in_memory(const char *path, char *copy, size_t len)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("memcg-bench", MFD_CLOEXEC);
	struct stat st;
	off_t left;
	int err = 0;

	if (from < 0 || to < 0 || fstat(from, &st)) {
		err = -errno;
		goto out;
	}
	for (left = st.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);

		if (n <= 0) {
			err = n ? -errno : -EIO;
			goto out;
		}
		left -= n;
	}
	snprintf(copy, len, "/proc/self/fd/%d", to);
out:
	if (from >= 0)
		close(from);
	if (err && to >= 0)
		close(to);
	return err;
}

int subject_bind(struct bench *b, void *object, const char *name, struct subject *s)
{
	*s = (struct subject){ .name = name };
	s->charge = dlsym(object, "memcg_charge");
	s->uncharge = dlsym(object, "memcg_uncharge");
	s->root = dlsym(object, "memcg_root");
	s->create = dlsym(object, "memcg_create");
	s->write = dlsym(object, "memcg_write");
	s->init = dlsym(object, "memcg_init");
	s->read = dlsym(object, "memcg_read");
	s->enter = dlsym(object, "memcg_enter");
	s->leave = dlsym(object, "memcg_leave");
	if (!s->charge || !s->uncharge || !s->root || !s->create || !s->write)
		return complain(b, -ENOSYS, "%s lacks functions", name);
	s->object = object;
	return 0;
}

int subject_open(struct bench *b, enum subject_id id, struct subject *s)
{
	/* Not the limit of the container that the bench happens to run in: near it, batches shrink. */
	struct memcg_options options = {
		.size = sizeof(options),
		.flags = table[id].flags | MEMCG_INIT_NO_HOST_MAX,
		.stock_budget = table[id].budget,
	};
	char path[PATH_MAX + 256], copy[64];
	const char *file = path;
	void *object;
	int err;

	*s = (struct subject){ .name = table[id].name };
	if (find_file(b, table[id].file, path, sizeof(path))) {
		output_text(&b->out, "no such object", "%s.skipped.%s", b->name, s->name);
		return -ENOENT;
	}
	if (table[id].copy) {
		err = copy_in_memory(path, copy, sizeof(copy));
		if (err)
			return complain(b, err, "copy of %s", path);
		file = copy;
	}
	object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return complain(b, -ELIBBAD, "%s", dlerror());
	err = subject_bind(b, object, s->name, s);
	if (err)
		return err;
	err = s->init ? s->init(&options) : 0;
	if (err && err != -EBUSY)
		return complain(b, err, "start of %s", s->name);
	return 0;
}

static int set_max(struct bench *b, const struct subject *s, struct memcg *group, const char *max)
{
	ssize_t n = s->write(group, "memory.max", max, strlen(max));

	return n < 0 ? complain(b, (int)n, "%s: memory.max", s->name) : 0;
}

int subject_groups(struct bench *b, const struct subject *s, struct memcg *parent, const char *prefix, unsigned int nr,
		   struct memcg **groups)
{
	char name[64];
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		err = s->create(parent, name, &groups[i]);
		if (err)
			return complain(b, err, "%s: group %s", s->name, name);
	}
	return 0;
}

int subject_leaves(struct bench *b, const struct subject *s, unsigned int nr, struct memcg **leaves)
{
	static unsigned int trees; /* names of siblings differ */
	struct memcg *top, *middle;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "tree%u-", trees++);
	err = subject_groups(b, s, s->root(), name, 1, &top);
	if (!err)
		err = set_max(b, s, top, "1T");
	if (!err)
		err = subject_groups(b, s, top, "b", 1, &middle);
	if (!err)
		err = set_max(b, s, middle, "64G");
	if (!err)
		err = subject_groups(b, s, middle, "leaf", nr, leaves);
	return err;
}

long subject_usage(const struct subject *s, struct memcg *group)
{
	char text[64];
	ssize_t n = s->read ? s->read(group, "memory.current", text, sizeof(text)) : -ENOSYS;

	return n < 0 ? n : strtol(text, NULL, 10) / (long)MEMCG_PAGE_SIZE;
}
