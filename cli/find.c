/* SPDX-License-Identifier: MIT */
/*
 * Which process a command is for: the one of -p or --socket, else the only one of this user that has a control
 * socket. Sockets that dead processes left behind are removed on the way.
 */
#include "cli.h"
#include "remote.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <memcg/control.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTED_MOST 8 /* processes that are named when there are several */

/* Processes that were found. The connection is to the first. */
struct found {
	struct remote *remote;                           /* the first one's */
	struct remote *other;                            /* a place for those after it */
	char names[LISTED_MOST * (REMOTE_PROGRAM + 24)]; /* "PID (PROGRAM), ..." */
	int nr;                                          /* live ones */
	int silent;                                      /* those that did not answer */
};

static bool is_dead(long pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Is it the user's own directory, which nobody else can write to? Whoever else made it could answer for anybody. */
static bool is_own(const char *directory, uid_t uid)
{
	struct stat st;

	return !lstat(directory, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid && !(st.st_mode & 077);
}

/* "123", or "123.new", which a process left that died while it made its socket. 0: neither. */
static long pid_of(const char *name, bool *unfinished)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(name, &end, 10);
	*unfinished = !strcmp(end, ".new");
	return isdigit((unsigned char)*name) && !errno && pid > 0 && pid <= INT_MAX && (!*end || *unfinished) ? pid : 0;
}

static void add_name(struct found *found, const struct remote *remote)
{
	size_t len = strlen(found->names);

	if (found->nr <= LISTED_MOST)
		snprintf(found->names + len, sizeof(found->names) - len, "%s%ld (%s)", len ? ", " : "", remote->pid,
			 remote->program);
}

static void look_at(struct found *found, const char *path, long pid)
{
	struct remote *remote = found->nr ? found->other : found->remote;
	int err = connect_path(path, remote);

	if (!err) {
		found->nr++;
		add_name(found, remote);
		if (remote == found->other)
			remote_close(remote);
	} else if (err == -ECONNREFUSED && is_dead(pid)) {
		unlink(path);
	} else if (err == -ETIMEDOUT || err == -EAGAIN) {
		found->silent++;
	}
}

static void scan(struct found *found, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		bool unfinished;
		long pid = pid_of(entry->d_name, &unfinished);
		char path[PATH_MAX + 256];

		if (!pid)
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (!unfinished)
			look_at(found, path, pid);
		else if (is_dead(pid))
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

static int find_only(const char *command, struct remote *remote)
{
	static struct remote other;
	struct found found = { .remote = remote, .other = &other };
	char directory[PATH_MAX];
	int len;

	for (unsigned int nth = 0;
	     (len = memcg_control_directory(geteuid(), nth, directory, sizeof(directory))) != -ENOENT; nth++) {
		if (len > 0 && is_own(directory, geteuid()))
			scan(&found, directory);
	}
	if (found.nr == 1)
		return CLI_OK;
	if (found.nr) {
		remote_close(remote);
		return cli_wrong("%s: %d processes have a control socket: %s%s; choose one by -p", command, found.nr,
				 found.names, found.nr > LISTED_MOST ? " ..." : "");
	}
	if (found.silent)
		return cli_wrong("%s: no process of yours answers, and %d did not; choose one by -p", command,
				 found.silent);
	return cli_wrong("%s: no process of yours has a control socket; start one by memcg run, or see -p", command);
}

/* The effective user of a process. False: there is no such process. */
static bool owner_of(long pid, uid_t *uid)
{
	char path[64], line[256];
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	status = fopen(path, "re");
	while (status && !found && fgets(line, sizeof(line), status)) {
		char *real = line + strlen("Uid:\t"), *effective;

		found = !strncmp(line, "Uid:\t", strlen("Uid:\t"));
		if (found && strtoul(real, &effective, 10) <= UINT_MAX)
			*uid = (uid_t)strtoul(effective, NULL, 10);
	}
	if (status)
		fclose(status);
	return found;
}

static const char *user_name(uid_t uid, char *buf, size_t len)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(buf, len, "%s", user->pw_name);
	else
		snprintf(buf, len, "%u", uid);
	return buf;
}

/* -ENOENT: it has no socket in the directories of @uid. */
static int connect_in(uid_t uid, long pid, struct remote *remote)
{
	char directory[PATH_MAX], path[PATH_MAX + 32];
	int len, err = -ENOENT;

	for (unsigned int nth = 0; err == -ENOENT || err == -ECONNREFUSED; nth++) {
		len = memcg_control_directory(uid, nth, directory, sizeof(directory));
		if (len == -ENOENT)
			break;
		if (len < 0 || !is_own(directory, uid))
			continue;
		snprintf(path, sizeof(path), "%s/%ld", directory, pid);
		err = connect_path(path, remote);
		if (err == -ECONNREFUSED && is_dead(pid))
			unlink(path);
	}
	return err;
}

/* Why a connection to a process that is there cannot be had. */
static int not_connected(const char *command, const char *which, int err)
{
	const char *why = err == -EPERM        ? "serves only its own user, and root" :
			  err == -EAGAIN       ? "has as many connections as it serves; try again" :
			  err == -ETIMEDOUT    ? "does not answer; is it stopped?" :
			  err == -EPIPE        ? "has closed the connection" :
			  err == -EPROTO       ? "is no control socket of this version" :
			  err == -ECONNREFUSED ? "does not listen: its process has ended, or became another" :
			  err == -ENAMETOOLONG ? "is longer than the 107 bytes that a socket's path has" :
						 strerror(-err);

	return cli_wrong("%s: %s %s", command, which, why);
}

static int find_pid(const struct args *args, struct remote *remote)
{
	const char *command = args->command->name;
	char which[64], user[64];
	uid_t uid = 0;
	int err;

	snprintf(which, sizeof(which), "process %ld", args->pid);
	if (!owner_of(args->pid, &uid)) {
		connect_in(geteuid(), args->pid, remote); /* removes what it may have left */
		remote_close(remote);
		return cli_wrong("%s: there is no %s", command, which);
	}
	err = connect_in(uid, args->pid, remote);
	/* One that changed its user after its socket was made. */
	if ((err == -ENOENT || err == -ECONNREFUSED) && uid != geteuid())
		err = connect_in(geteuid(), args->pid, remote);
	if (!err)
		return CLI_OK;
	if (uid != geteuid() && geteuid())
		return cli_wrong("%s: %s is %s's: only that user and root may ask it", command, which,
				 user_name(uid, user, sizeof(user)));
	if (err == -ENOENT || err == -ECONNREFUSED)
		return cli_wrong(
			"%s: %s has no control socket: it was not started by memcg run, and opened none itself",
			command, which);
	return not_connected(command, which, err);
}

int find_process(const struct args *args, struct remote *remote)
{
	int err;

	if (args->pid)
		return find_pid(args, remote);
	if (!args->socket)
		return find_only(args->command->name, remote);
	err = connect_path(args->socket, remote);
	return err ? not_connected(args->command->name, args->socket, err) : CLI_OK;
}
