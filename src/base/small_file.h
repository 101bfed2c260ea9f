/* SPDX-License-Identifier: MIT */
/* A small file of /proc or /sys, whole, without stdio: the library may start inside malloc. */
#ifndef BASE_SMALL_FILE_H
#define BASE_SMALL_FILE_H

#include <sys/types.h>

ssize_t small_file_read(const char *path, char *buf, size_t cap); /* length, NUL added; negative errno */

#endif
