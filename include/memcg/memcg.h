/* SPDX-License-Identifier: MIT */
/*
 * libmemcg: memory cgroups for the tenants inside one process.
 *
 * This header: the tree of groups, and which group a thread works for.
 * <memcg/charge.h> charges memory, <memcg/heap.h> allocates charged memory,
 * <memcg/files.h> is the operator's view.
 *
 * Units: a page is MEMCG_PAGE_SIZE bytes, whatever the machine's page is;
 * bytes are size_t. Functions return 0 or a count, or a negative errno.
 *
 * Contexts, named at each declaration:
 *   fast       no lock shared between CPUs, no allocation, no sleep; callable
 *              from a signal handler and from the library's callbacks.
 *   nowait     as fast, but may walk the counters up to the root; callable from
 *              a signal handler; never sleeps, reclaims or calls back.
 *   may-sleep  only what is given MEMCG_MAY_SLEEP, and writes to limit files.
 *   thread     takes internal locks and may allocate: not from a signal
 *              handler; from callbacks where the declaration says so.
 */
#ifndef MEMCG_MEMCG_H
#define MEMCG_MEMCG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MEMCG_API __attribute__((visibility("default")))
#else
#define MEMCG_API
#endif

#define MEMCG_PAGE_SHIFT 12
#define MEMCG_PAGE_SIZE (1UL << MEMCG_PAGE_SHIFT)
#define MEMCG_NAME_MAX 255 /* bytes of a group's name, as a file system has it */
#define MEMCG_DEPTH_MAX 63 /* levels below the root; memcg_create() says -EAGAIN beyond */

/* A group: named, limited, in the tree. Opaque, reference counted. */
struct memcg;

/* How a per-CPU area is found; see docs/design.md. */
enum memcg_index {
	MEMCG_INDEX_AUTO = 0,   /* the best that this kernel and libc give */
	MEMCG_INDEX_MM_CID = 1, /* concurrency id: bounded by running threads */
	MEMCG_INDEX_CPU_ID = 2, /* CPU number */
	MEMCG_INDEX_THREAD = 3, /* a number per thread, modulo nr_cpus; implies the portable form */
};

#define MEMCG_STOCK_BUDGET 2048U /* pages that one CPU's stocks can hold, where no option says otherwise: 8 MiB */

#define MEMCG_INIT_PORTABLE (1U << 0)    /* atomics instead of restartable sequences */
#define MEMCG_INIT_NO_THREADS (1U << 1)  /* no library threads: the host calls memcg_tick() */
#define MEMCG_INIT_NO_HOST_MAX (1U << 2) /* the root starts unlimited, whatever the process' own cgroup says */
#define MEMCG_INIT_V1 (1U << 3)          /* the statistics and limit files of cgroup v1 too (docs/files.md) */
#define MEMCG_INIT_METADATA (1U << 4) /* what a group costs the library is charged to its parent (docs/statistics.md) */

/**
 * struct memcg_backing - where the library takes memory from
 *
 * All members or none. The functions must not charge to this library. Both the
 * library's own structures and memcg_malloc() use them.
 */
struct memcg_backing {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t nr, size_t size);
	void *(*realloc)(void *ptr, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	void (*free)(void *ptr);
};

/**
 * struct memcg_options - start options
 *
 * Zero everything, set @size, then what is wanted: a zero member means the default.
 */
struct memcg_options {
	size_t size;               /* sizeof(struct memcg_options) */
	unsigned int flags;        /* MEMCG_INIT_* */
	unsigned int index;        /* enum memcg_index */
	unsigned int nr_cpus;      /* per-CPU areas; may exceed the machine's CPUs; default: all possible CPUs */
	unsigned int stock_budget; /* most pages that one CPU's stocks can hold; default MEMCG_STOCK_BUDGET */
	const struct memcg_backing *backing; /* default: malloc and free of the C library */
	unsigned int nr_nodes; /* memory nodes to pretend, at most 64, all with memory; default: the machine's */
};

/**
 * memcg_init - start the library with options
 * @options: NULL for the defaults
 *
 * Optional: the first call of any other function starts the library with the
 * defaults. Context: thread, before other threads use the library.
 *
 * Without a backing, malloc() is called once before anything else: a malloc that starts the
 * library by itself does so then.
 *
 * Return: 0; -EBUSY when it runs already and @options is not NULL, and when an allocator calls it from
 * within itself; -EINVAL for options that make no sense; -ENOMEM; -EOPNOTSUPP when the index asked for
 * cannot be had. What failed may be tried again.
 */
MEMCG_API int memcg_init(const struct memcg_options *options);

/** memcg_root - the group that all others are in. Context: fast after the first call. Never NULL. */
MEMCG_API struct memcg *memcg_root(void);

/**
 * memcg_create - make a group below @parent
 * @parent: NULL for the root
 * @name:   1..255 bytes, no '/', no newline, neither "." nor ".."
 * @group:  receives a reference; give it back by memcg_put()
 *
 * Context: thread; also from memcg_walk() visits and library callbacks.
 * Return: 0; -EINVAL or -ENAMETOOLONG for the name; -EEXIST; -ENODEV when @parent was
 * destroyed; -EAGAIN when a depth or descendants limit is reached; -ENOMEM.
 */
MEMCG_API int memcg_create(struct memcg *parent, const char *name, struct memcg **group);

/**
 * memcg_open - find a group by its path from the root
 * @path:  "tenants/a"; "" and "/" name the root; empty components are ignored
 * @group: receives a reference
 *
 * Context: thread. Return: 0; -ENOENT; -EINVAL for NULL.
 */
MEMCG_API int memcg_open(const char *path, struct memcg **group);

/**
 * memcg_destroy - take a group out of the tree
 *
 * What is charged to it may stay: each page and byte remains charged to the
 * ancestors until it is uncharged, and byte charges belong to the parent from
 * then on. The caller's reference stays the caller's (memcg_put()).
 * Context: thread; also from visits and callbacks.
 * Return: 0; -EBUSY for children, attached threads or the root; -ENODEV when
 * destroyed already.
 */
MEMCG_API int memcg_destroy(struct memcg *group);

/** memcg_get - take another reference. Context: fast. Return: @group. */
MEMCG_API struct memcg *memcg_get(struct memcg *group);

/** memcg_put - give a reference back; NULL is ignored. Context: fast: the last put only queues. */
MEMCG_API void memcg_put(struct memcg *group);

/**
 * memcg_path - the path from the root, without a leading '/'; the root is "/"
 *
 * A destroyed group keeps its path, followed by " (deleted)".
 * Context: fast. Return: the length without the final NUL; -ENAMETOOLONG when
 * @len is too small (nothing useful is in @buf then).
 */
MEMCG_API int memcg_path(const struct memcg *group, char *buf, size_t len);

/** memcg_id - a number that is never given to another group in this process. Context: fast. */
MEMCG_API uint64_t memcg_id(const struct memcg *group);

/** memcg_parent - the group above, NULL for the root; no reference is taken (a group keeps its parent). Context: fast. */
MEMCG_API struct memcg *memcg_parent(const struct memcg *group);

/**
 * memcg_walk - visit @top and all below it, parents first
 * @top:   NULL for the root
 * @visit: may create, destroy, dump and walk; non-zero ends the walk
 *
 * A group that is created or destroyed meanwhile is visited or not; every other
 * group exactly once. No lock is held over a visit. Context: thread.
 * Return: 0, or what @visit returned; -EINVAL without @visit, or below memcg_unaccounted().
 */
MEMCG_API int memcg_walk(struct memcg *top, int (*visit)(struct memcg *group, void *arg), void *arg);

/**
 * memcg_tick - housekeeping: what destroyed groups left, last references, stocks of idle CPUs
 *
 * Needed under MEMCG_INIT_NO_THREADS, a few times a second. With library threads it has the first two done
 * now, and is the only thing that takes back what idle CPUs hold (no slow path since the last tick)
 * before a limit asks for it. Context: thread; not from callbacks.
 */
MEMCG_API void memcg_tick(void);

/* The thread's group. */

/**
 * memcg_attach - make @group the home of the calling thread
 *
 * The home is what memcg_current() gives outside any scope. It lasts until the
 * thread ends, and keeps the group from being destroyed. NULL is the root.
 * Context: thread. Return: 0; -ENODEV when the group was destroyed; -ENOMEM.
 */
MEMCG_API int memcg_attach(struct memcg *group);

/**
 * memcg_enter - work for @group until memcg_leave()
 *
 * Nothing is flushed, nothing sleeps. The caller's reference must last until leave.
 * Context: fast. Return: what to give to memcg_leave().
 */
MEMCG_API struct memcg *memcg_enter(struct memcg *group);

/** memcg_leave - back to what memcg_enter() returned; NULL is the thread's home. Context: fast; never sleeps. */
MEMCG_API void memcg_leave(struct memcg *previous);

/** memcg_current - the group that the calling thread works for; no reference is taken. Context: fast. */
MEMCG_API struct memcg *memcg_current(void);

/** memcg_unaccounted - enter this, and nothing is charged. Context: fast. */
MEMCG_API struct memcg *memcg_unaccounted(void);

#if defined(__GNUC__) && !defined(__cplusplus)
static inline void memcg_scope_leave_(struct memcg **previous)
{
	memcg_leave(*previous);
}
#define MEMCG_PASTE_(a, b) a##b
#define MEMCG_SCOPE_NAME_(line) MEMCG_PASTE_(memcg_scope_, line)
/* Enters now, leaves at the end of the block. C++ has libmemcg::scope in <memcg/memcg.hpp>. */
#define MEMCG_SCOPE(group)                                                                               \
	struct memcg *MEMCG_SCOPE_NAME_(__LINE__) __attribute__((cleanup(memcg_scope_leave_), unused)) = \
		memcg_enter(group)
#endif

#ifdef __cplusplus
}
#endif
#endif
