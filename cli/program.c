/* SPDX-License-Identifier: MIT */
/*
 * What will be executed: found as execvp(3) does, then asked whether the preload library
 * will be loaded into it. The loader says nothing when it leaves a library out, and a limit
 * that limits nothing is worse than an error. Refused are programs that are static, of
 * another machine or C library than ours, and those that gain privileges at exec; of a
 * script, its interpreter is asked.
 */
#include "cli.h"
#include "elf_kind.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4  /* the kernel gives up on longer chains of interpreters */
#define SCRIPT_LINE 256 /* of "#!" line, as the kernel reads it */

static int not_run(const char *name, const char *why)
{
	cli_error("%s: %s", name, why);
	return CLI_NOT_RUN;
}

static int not_found(const char *name, const char *why)
{
	cli_error("%s: %s", name, why);
	return CLI_NOT_FOUND;
}

/* 0, or why not: ENOENT, ENOTDIR, EACCES... */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

static int found(const char *name, int error)
{
	if (!error)
		return CLI_OK;
	if (error == ENOENT || error == ENOTDIR)
		return not_found(name, "not found");
	return not_run(name, strerror(error));
}

/* A name without '/', in PATH: the first that can be executed, else the first error that is worth telling. */
static int search_path(const char *name, char *path, size_t len)
{
	const char *directories = getenv("PATH");
	int error = ENOENT;

	if (!directories)
		directories = "/bin:/usr/bin";
	for (const char *begin = directories; begin; begin = strchr(begin, ':') ? strchr(begin, ':') + 1 : NULL) {
		int dir = (int)strcspn(begin, ":");
		int ret;

		/* an empty one is the current directory */
		if (snprintf(path, len, "%.*s/%s", dir ? dir : 1, dir ? begin : ".", name) >= (int)len)
			continue;
		ret = executable(path);
		if (!ret)
			return CLI_OK;
		if (ret != ENOENT && ret != ENOTDIR)
			error = ret;
	}
	return found(name, error);
}

int program_find(const char *name, char *path, size_t len)
{
	if (!*name)
		return not_found("''", "not found");
	if (!strchr(name, '/'))
		return search_path(name, path, len);
	if (strlen(name) >= len)
		return not_run(name, strerror(ENAMETOOLONG));
	strcpy(path, name);
	return found(name, executable(path));
}

/* exec() would change our identity, and the loader then ignores LD_PRELOAD. */
static const char *gains_privileges(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) || statvfs(path, &fs) || fs.f_flag & ST_NOSUID ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return "is setuid, and would run without its limit";
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid())
		return "is setgid, and would run without its limit";
	if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "has file capabilities, and would run without its limit";
	return NULL;
}

static int check_elf(const char *name, const char *path, int fd, const char *library)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char interpreter[PATH_MAX];
	struct elf_kind program, ours;
	int library_fd = open(library, O_RDONLY | O_CLOEXEC);
	bool is_elf = library_fd >= 0 && elf_read(library_fd, &ours, NULL, 0);

	if (library_fd >= 0)
		close(library_fd);
	if (!is_elf)
		return cli_error("%s: not a library", library);
	if (!elf_read(fd, &program, interpreter, sizeof(interpreter)))
		return not_run(name, "damaged executable");
	if (program.class != ours.class || program.data != ours.data || program.machine != ours.machine)
		return not_run(name, "is for another machine or word size than libmemcg");
	if (!strncmp(base, "ld-", 3) || !strncmp(base, "ld.so", 5))
		return CLI_OK; /* the loader itself, which loads what it is given */
	if (!program.has_interpreter)
		return not_run(name, "is statically linked, and would run without its limit");
	if (strstr(interpreter, "/ld-musl-"))
		return not_run(name, "is linked with musl, and libmemcg with glibc");
	if (access(interpreter, F_OK))
		return not_found(name, "its loader is not there");
	return CLI_OK;
}

/* The path of the interpreter in the "#!" line, in place; NULL: none. */
static char *script_interpreter(char *line)
{
	char *path = line + 2 + strspn(line + 2, " \t");

	path[strcspn(path, " \t\n")] = '\0';
	return *path ? path : NULL;
}

static int check_file(const char *name, const char *path, const char *library, int depth)
{
	char line[SCRIPT_LINE + 1] = "";
	const char *why = gains_privileges(path);
	int fd, ret, error;
	ssize_t len;

	if (why)
		return not_run(name, why);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return CLI_OK; /* may be executed and not read: the loader decides */
	len = pread(fd, line, SCRIPT_LINE, 0);
	if (len >= 4 && !memcmp(line, "\177ELF", 4)) {
		ret = check_elf(name, path, fd, library);
		close(fd);
		return ret;
	}
	close(fd);
	if (depth == SCRIPT_DEPTH)
		return not_run(name, strerror(ELOOP));

	/* What is no script either is given to the shell, as execvp() does. */
	path = !memcmp(line, "#!", 2) ? script_interpreter(line) : "/bin/sh";
	if (!path)
		return not_run(name, strerror(ENOEXEC));
	error = executable(path);
	if (error == ENOENT || error == ENOTDIR)
		return not_found(name, "its interpreter is not there");
	return error ? not_run(name, strerror(error)) : check_file(name, path, library, depth + 1);
}

int program_check(const char *name, const char *path, const char *library)
{
	return check_file(name, path, library, 0);
}
