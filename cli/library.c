/* SPDX-License-Identifier: MIT */
/*
 * Where the preload library is: ../lib beside the directory of this program, as in a build tree,
 * the library directory of an installation that may have been moved, then where it was installed to.
 */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmemcg-malloc.so"

/* The directory of this program, without a final '/'. */
static bool own_directory(char *path, size_t len)
{
	ssize_t ret = readlink("/proc/self/exe", path, len - 1);
	char *slash;

	if (ret < 0)
		return false;
	path[ret] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool beside_us(const char *directory, char *path, size_t len)
{
	char self[PATH_MAX], near[PATH_MAX + 256];
	bool good;
	char *real;

	if (!own_directory(self, sizeof(self)) ||
	    snprintf(near, sizeof(near), "%s/../%s/" LIBRARY, self, directory) >= (int)sizeof(near))
		return false;
	real = realpath(near, NULL);
	good = real && !access(real, R_OK) && strlen(real) < len;
	if (good)
		strcpy(path, real);
	free(real);
	return good;
}

int library_find(char *path, size_t len)
{
	if (!beside_us("lib", path, len) && !beside_us(MEMCG_LIBDIR_NAME, path, len)) {
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
