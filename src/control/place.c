/* SPDX-License-Identifier: MIT */
/*
 * Where the socket is.
 *
 * A directory is used if nobody but its owner, who we are, can change what is in it, and nobody but him and
 * root can put another in its place. So what is found there later is what was put there.
 *
 * The name appears by rename(2), when the socket listens: who finds it and is refused knows that its process does not
 * listen any more. It replaces what a dead process of the same number left behind.
 */
#include <errno.h>
#include <memcg/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/server.h"

#define BACKLOG 16
#define NEW_SUFFIX ".new" /* until the socket listens */

static int text_result(const struct text *text)
{
	return text->len < text->cap ? (int)text->len : -ENAMETOOLONG;
}

static const char *own_runtime_dir(uid_t uid)
{
	const char *dir = uid == geteuid() ? secure_getenv("XDG_RUNTIME_DIR") : NULL;

	return dir && *dir == '/' ? dir : NULL;
}

int memcg_control_directory(uid_t uid, unsigned int nth, char *buf, size_t len)
{
	const char *dir = own_runtime_dir(uid);
	struct text text;

	text_init(&text, buf, len);
	nth += !dir;
	switch (nth) {
	case 0:
		text_str(&text, dir);
		text_str(&text, "/memcg");
		return text_result(&text);
	case 1:
		text_str(&text, "/run/user/");
		text_u64(&text, uid);
		text_str(&text, "/memcg");
		return text_result(&text);
	case 2:
		text_str(&text, "/tmp/memcg-");
		text_u64(&text, uid);
		return text_result(&text);
	default:
		return -ENOENT;
	}
}

/* Can nobody but us and root rename what is in the directory that @path is in? */
static bool parent_is_safe(char *path)
{
	char *slash = strrchr(path, '/');
	struct stat st;
	bool safe;

	*slash = '\0';
	safe = stat(slash == path ? "/" : path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == 0) && (!(st.st_mode & 022) || st.st_mode & S_ISVTX);
	*slash = '/';
	return safe;
}

static bool directory_is_ours(char *path)
{
	struct stat st;

	if (!parent_is_safe(path) || (mkdir(path, 0700) && errno != EEXIST))
		return false;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

static int own_path(struct control_place *place)
{
	char directory[PATH_MAX];
	unsigned int nth;
	int len;

	for (nth = 0; (len = memcg_control_directory(geteuid(), nth, directory, sizeof(directory))) != -ENOENT; nth++) {
		struct text text;

		if (len < 0 || !directory_is_ours(directory))
			continue;
		text_init(&text, place->path, sizeof(place->path) - strlen(NEW_SUFFIX));
		text_str(&text, directory);
		text_char(&text, '/');
		text_u64(&text, (uint64_t)place->pid);
		if (text.len < text.cap)
			return 0;
	}
	return -EPERM;
}

static int name_address(struct sockaddr_un *address, const char *path, const char *suffix)
{
	struct text text;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	text_init(&text, address->sun_path, sizeof(address->sun_path));
	text_str(&text, path);
	text_str(&text, suffix);
	return text_result(&text);
}

/* What is there already may go if it is a socket that nobody listens to. */
static int may_replace(const char *path)
{
	struct sockaddr_un address;
	struct stat st;
	int fd, ret;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || name_address(&address, path, "") < 0)
		return -EADDRINUSE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno == ECONNREFUSED ? 0 : -EADDRINUSE;
	close(fd);
	return ret;
}

int place_choose(struct control_place *place, const char *wanted)
{
	size_t len = wanted ? strlen(wanted) : 0;
	int err;

	place->pid = getpid();
	if (!wanted)
		return own_path(place);
	if (!len)
		return -EINVAL;
	if (len + strlen(NEW_SUFFIX) >= sizeof(place->path))
		return -ENAMETOOLONG;
	err = may_replace(wanted);
	if (!err)
		memcpy(place->path, wanted, len + 1);
	return err;
}

static int bind_and_listen(int fd, struct control_place *place)
{
	struct sockaddr_un address;
	struct stat st;

	if (name_address(&address, place->path, NEW_SUFFIX) < 0)
		return -ENAMETOOLONG;
	/* Left by one that died between the two calls. */
	if (lstat(address.sun_path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(address.sun_path);
	/* The mode that the name gets, less umask: no moment at which others may connect. */
	if (fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	if (listen(fd, BACKLOG) || lstat(address.sun_path, &st) || rename(address.sun_path, place->path)) {
		int err = -errno;

		unlink(address.sun_path);
		return err;
	}
	place->dev = st.st_dev;
	place->ino = st.st_ino;
	return 0;
}

int place_listen(struct control_place *place)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : bind_and_listen(fd, place);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

void place_unlink(const struct control_place *place)
{
	struct stat st;

	if (!place->path[0] || place->pid != getpid())
		return;
	if (lstat(place->path, &st) == 0 && st.st_dev == place->dev && st.st_ino == place->ino)
		unlink(place->path);
}
