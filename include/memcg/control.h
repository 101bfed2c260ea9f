/* SPDX-License-Identifier: MIT */
/*
 * The control socket: other processes of the same user read and write this process' groups and files, as the command
 * `memcg` does. docs/control.md has the protocol.
 */
#ifndef MEMCG_CONTROL_H
#define MEMCG_CONTROL_H

#include <memcg/memcg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCG_CONTROL_READ_ONLY (1U << 0) /* what would change something is -EROFS */

/**
 * struct memcg_control_options - where the socket is, and what it allows
 *
 * Zero everything, set @size, then what is wanted.
 */
struct memcg_control_options {
	size_t size;        /* sizeof(struct memcg_control_options) */
	const char *path;   /* of the socket; NULL: named by the process id, in the user's directory */
	unsigned int flags; /* MEMCG_CONTROL_* */
};

/**
 * memcg_control_start - open the control socket, and serve it
 * @options: NULL for the defaults
 *
 * One library thread, "memcg/control", serves all clients; under MEMCG_INIT_NO_THREADS memcg_tick() does, without
 * waiting. Only processes of the same user, and root's, are served. Nothing that a client does, or leaves
 * undone, holds up a charge or another client. The child of a fork opens a socket of its own when it next creates,
 * opens or attaches to a group, makes a charge that may sleep and is not served by stock, or ticks; if @path was
 * given, ".PID" is added to it. exit() takes the socket's name away.
 *
 * Context: thread; not from callbacks. Return: 0; -EALREADY when it runs; -EINVAL for options that make no
 * sense; -EADDRINUSE when @path is a live socket, or no socket; -ENAMETOOLONG beyond 103 bytes; -EPERM when no directory
 * is the user's own; -ENOMEM, and what socket(2), bind(2) and pthread_create(3) say.
 */
MEMCG_API int memcg_control_start(const struct memcg_control_options *options);

/**
 * memcg_control_stop - close the socket and all connections
 *
 * Waits for the request that is being served. Context: thread; not from callbacks.
 * Return: 0; -ENOENT when it does not run.
 */
MEMCG_API int memcg_control_stop(void);

/**
 * memcg_control_path - where this process' socket is
 *
 * Context: thread. Return: the length without the final NUL; -ENOENT when there is none; -ENAMETOOLONG when @len is
 * too small.
 */
MEMCG_API int memcg_control_path(char *buf, size_t len);

/**
 * memcg_control_unlink - take the socket's name away, for a process that is about to end by _exit()
 *
 * Context: fast. One that ends without leaves its name behind: the command removes those of dead processes.
 */
MEMCG_API void memcg_control_unlink(void);

/**
 * memcg_control_directory - where sockets of a user's processes are
 * @uid: whose
 * @nth: 0, 1 ... : there are several places, and a process uses the first that it can
 *
 * In this order: $XDG_RUNTIME_DIR/memcg (of the caller only), /run/user/UID/memcg, /tmp/memcg-UID. Nothing is
 * created or checked. A socket is named by the process id. Context: thread; does not start the library.
 * Return: the length without the final NUL; -ENOENT when there is no such place; -ENAMETOOLONG.
 */
MEMCG_API int memcg_control_directory(uid_t uid, unsigned int nth, char *buf, size_t len);

#ifdef __cplusplus
}
#endif
#endif
