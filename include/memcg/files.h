/* SPDX-License-Identifier: MIT */
/*
 * The operator's view: interface files, with the kernel's names, formats and errors.
 */
#ifndef MEMCG_FILES_H
#define MEMCG_FILES_H

#include <memcg/memcg.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * memcg_read - read an interface file
 * @group: NULL for the root
 * @file:  "memory.current"
 * @buf:   receives the text, always ended by a NUL when @len > 0
 *
 * Context: thread. Return: the length of the whole text, which may be >= @len: then it
 * was cut; -ENOENT for an unknown file; -EINVAL for one that cannot be read; -ENODEV
 * for a destroyed group.
 */
MEMCG_API ssize_t memcg_read(struct memcg *group, const char *file, char *buf, size_t len);

/**
 * memcg_write - write an interface file
 *
 * Context: may-sleep for limits. Return: @len; -ENOENT; -EINVAL for bad text or a read-only
 * file; -E2BIG beyond 4096 bytes; -ENODEV; what else the file's own errors are
 * (docs/files.md). A write that fails changes nothing.
 */
MEMCG_API ssize_t memcg_write(struct memcg *group, const char *file, const char *buf, size_t len);

/**
 * memcg_file_list - name every interface file
 * @each: gets the name and the permission bits that the kernel gives the file (0444, 0644, 0200);
 *        non-zero ends the list
 *
 * A group has all files, the root too. Context: thread. Return: 0, or what @each returned; -EINVAL without @each.
 */
MEMCG_API int memcg_file_list(int (*each)(const char *file, unsigned int mode, void *arg), void *arg);

/* An open interface file: what an open file is in the kernel. */
struct memcg_file;

/**
 * memcg_file_open - open an interface file of a group
 * @group: NULL for the root; the file keeps a reference
 * @name:  "memory.peak"
 * @flags: O_RDONLY, O_WRONLY or O_RDWR, with O_NONBLOCK: writes do not sleep (a lowered limit leaves
 *         stock below it, which serves charges until it is used up). O_CLOEXEC, O_APPEND, O_TRUNC and O_CREAT are
 *         accepted and mean nothing
 * @file:  receives the open file; close it by memcg_file_close()
 *
 * As for root in the kernel, each file opens in each mode; what it cannot do fails when it is done.
 * Context: thread. Return: 0; -EINVAL for NULL, memcg_unaccounted() and other flags; -ENOENT for an unknown
 * file, -EACCES with O_CREAT; -ENODEV for a destroyed group; -ENOMEM.
 */
MEMCG_API int memcg_file_open(struct memcg *group, const char *name, int flags, struct memcg_file **file);

/**
 * memcg_file_read - the text of an open file as it is now, from its beginning
 *
 * memory.peak shows the peak since the last reset through this open file. What memcg_file_poll_fd()
 * told is taken as known: the descriptor becomes unreadable until the next change.
 * Context: thread. Return: as memcg_read(); -EBADF when opened by O_WRONLY.
 */
MEMCG_API ssize_t memcg_file_read(struct memcg_file *file, char *buf, size_t len);

/**
 * memcg_file_write - write to an open file
 *
 * Anything written to memory.peak makes the peak that this open file shows begin anew.
 * Context and return: as memcg_write(); with O_NONBLOCK thread, not may-sleep; -EBADF when opened by O_RDONLY.
 */
MEMCG_API ssize_t memcg_file_write(struct memcg_file *file, const char *buf, size_t len);

/**
 * memcg_file_poll_fd - a descriptor that is readable when the file has changed since it was last read
 *
 * An eventfd for poll() and the like; it belongs to @file, which closes it. The same each time. It also is
 * readable when the group was destroyed. In the child of a fork the parent's descriptor tells nothing: ask again.
 * Context: thread. Return: the descriptor; -EOPNOTSUPP for a file that tells of no change; -ENODEV; -ENOMEM; -EMFILE.
 */
MEMCG_API int memcg_file_poll_fd(struct memcg_file *file);

/** memcg_file_close - NULL is ignored. No other call on @file may be under way. Context: thread; also from listeners. */
MEMCG_API void memcg_file_close(struct memcg_file *file);

/*
 * Change notification. memory.events, memory.events.local and cgroup.events tell of changes, and of
 * the destruction of their group. An event in a group changes memory.events of all groups above it too. As the
 * kernel's, notifications are rate limited: one at once, then one each 10 ms for each file, the last change
 * included. Those that wait are delivered by the housekeeping thread, or by memcg_tick().
 *
 * fork: the child has no listener and no descriptor of its parent. What it inherits tells nothing of its own tree.
 */

/**
 * memcg_event_fd - an eventfd that fires when the file changes
 * @group: NULL for the root
 *
 * Nonblocking, close-on-exec; read(2) clears it. After memcg_destroy() it fires once more, and reads of
 * the file give -ENODEV. Close it by memcg_event_close(): after close(2) alone the library keeps its own
 * descriptor until the group is destroyed.
 * Context: thread. Return: the descriptor; -ENOENT for an unknown file; -EOPNOTSUPP for one that tells of no change; -EINVAL;
 * -ENODEV; -ENOMEM; -EMFILE.
 */
MEMCG_API int memcg_event_fd(struct memcg *group, const char *file);

/** memcg_event_close - close a descriptor of memcg_event_fd(). Context: thread; also from listeners. */
MEMCG_API void memcg_event_close(int fd);

/* A function that is called when a file changes. */
struct memcg_listener;

/**
 * memcg_event_listen - have a function called when the file changes
 * @group:    NULL for the root; the listener keeps a reference
 * @fn:       called by the housekeeping thread, or in memcg_tick(), one call at a time in the process.
 *            No lock is held: it may create, destroy, charge, dump, read and write files, and unlisten itself or others
 * @listener: receives what memcg_event_unlisten() takes
 *
 * Several changes may be told by one call. After memcg_destroy() it is called once more; memcg_read() then
 * says -ENODEV. Context: thread. Return: 0, or as memcg_event_fd().
 */
MEMCG_API int memcg_event_listen(struct memcg *group, const char *file,
				 void (*fn)(struct memcg *group, const char *file, void *arg), void *arg,
				 struct memcg_listener **listener);

/**
 * memcg_event_unlisten - end a listener; NULL is ignored
 *
 * When this returns its function is not running and will not be called, but for the call that it is made
 * from. It waits for a call under way: hold no lock that the function takes. Context: thread; also from listeners.
 */
MEMCG_API void memcg_event_unlisten(struct memcg_listener *listener);

#ifdef __cplusplus
}
#endif
#endif
