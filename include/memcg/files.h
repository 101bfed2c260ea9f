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

#ifdef __cplusplus
}
#endif
#endif
