/* SPDX-License-Identifier: MIT */
/*
 * Where the preload library is: ../lib beside the directory of this program, which is right
 * in a build tree and in most installations, then the directory it was installed to.
 */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmemcg-malloc.so"

static bool beside_us(char *path, size_t len)
{
	char self[PATH_MAX], near[PATH_MAX + sizeof("/../lib/" LIBRARY)];
	ssize_t ret = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	char *real;

	if (ret < 0)
		return false;
	self[ret] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	snprintf(near, sizeof(near), "%s/../lib/" LIBRARY, self);
	real = realpath(near, NULL);
	if (!real || access(real, R_OK) || strlen(real) >= len) {
		free(real);
		return false;
	}
	strcpy(path, real);
	free(real);
	return true;
}

int library_find(char *path, size_t len)
{
	if (!beside_us(path, len)) {
		snprintf(path, len, "%s/" LIBRARY, MEMCG_LIBDIR);
		if (access(path, R_OK))
			return cli_error(LIBRARY " is neither in ../lib nor in " MEMCG_LIBDIR);
	}
	/* The loader splits LD_PRELOAD at blanks and colons, and expands $ORIGIN and the like. */
	if (strpbrk(path, " :$"))
		return cli_error("%s: a library whose path has a blank, ':' or '$' cannot be preloaded", path);
	return CLI_OK;
}

int library_preload(const char *path)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;
	int ret = 0;

	if (!others || !*others)
		return setenv("LD_PRELOAD", path, 1) ? cli_error("%s", strerror(errno)) : CLI_OK;
	if (asprintf(&value, "%s:%s", path, others) < 0)
		return cli_error("%s", strerror(ENOMEM));
	if (setenv("LD_PRELOAD", value, 1))
		ret = cli_error("%s", strerror(errno));
	free(value);
	return ret;
}
