/* SPDX-License-Identifier: MIT */
/* A client of the control socket, as plain as can be: what a test sends and what it expects, byte by byte. */
#ifndef SUPPORT_CONTROL_H
#define SUPPORT_CONTROL_H

#include <memcg/control.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "support/child.h"

#define PEER_MS 20000 /* an answer that has not come by then never comes */

static inline int peer_try(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0 && strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -errno;
}

/* The next bytes, or the end: 0. Connections that were reset have ended. */
static inline size_t peer_read(int fd, char *buf, size_t len)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	ssize_t n;

	must(poll(&polled, 1, PEER_MS) == 1);
	n = recv(fd, buf, len, 0);
	must(n >= 0 || errno == ECONNRESET);
	return n > 0 ? (size_t)n : 0;
}

/* A line without its newline; false at the end. */
static inline bool peer_line(int fd, char *line, size_t len)
{
	size_t n = 0;

	while (n + 1 < len && peer_read(fd, line + n, 1) == 1) {
		if (line[n] == '\n') {
			line[n] = '\0';
			return true;
		}
		n++;
	}
	must(n + 1 < len);
	line[n] = '\0';
	must(!n);
	return false;
}

static inline void peer_bytes(int fd, char *buf, size_t len)
{
	size_t n, done = 0;

	while (done < len) {
		n = peer_read(fd, buf + done, len - done);
		must(n);
		done += n;
	}
	buf[len] = '\0';
}

static inline void peer_send(int fd, const char *bytes, size_t len)
{
	must(send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static inline void peer_ask(int fd, const char *request)
{
	peer_send(fd, request, strlen(request));
}

/* The greeting is the first line. */
static inline int peer_open(const char *path)
{
	char line[256], own[32];
	int fd = peer_try(path);

	must(fd >= 0);
	must(peer_line(fd, line, sizeof(line)));
	snprintf(own, sizeof(own), "memcg-control 1 ");
	must(!strncmp(line, own, strlen(own)));
	return fd;
}

/* Who answers, by its greeting. */
static inline pid_t peer_pid(const char *path)
{
	char line[256];
	int fd = peer_try(path);

	must(fd >= 0 && peer_line(fd, line, sizeof(line)));
	close(fd);
	return (pid_t)strtol(line + strlen("memcg-control 1 "), NULL, 10);
}

static inline void peer_expect_line(int fd, const char *wanted)
{
	char line[256];

	must(peer_line(fd, line, sizeof(line)));
	if (strcmp(line, wanted) != 0)
		dprintf(STDERR_FILENO, "answered: %s\nexpected: %s\n", line, wanted);
	must(!strcmp(line, wanted));
}

static inline void peer_expect_end(int fd)
{
	char byte;

	must(peer_read(fd, &byte, 1) == 0);
}

/* "ok LENGTH" and a payload, which is this. */
static inline void peer_expect(int fd, const char *payload)
{
	char head[32], buf[65536];

	snprintf(head, sizeof(head), "ok %zu", strlen(payload));
	peer_expect_line(fd, head);
	must(strlen(payload) < sizeof(buf));
	peer_bytes(fd, buf, strlen(payload));
	must(!strcmp(buf, payload));
}

static inline void peer_check(int fd, const char *request, const char *payload)
{
	peer_ask(fd, request);
	peer_expect(fd, payload);
}

static inline void peer_check_error(int fd, const char *request, const char *error)
{
	peer_ask(fd, request);
	peer_expect_line(fd, error);
}

/* A directory of this test's own, as XDG_RUNTIME_DIR: removed by who calls, or not. */
static inline const char *peer_runtime_dir(void)
{
	static char dir[] = "/tmp/memcg-test-XXXXXX";

	must(mkdtemp(dir));
	must(setenv("XDG_RUNTIME_DIR", dir, 1) == 0);
	return dir;
}

static inline void peer_runtime_dir_end(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/memcg", dir);
	rmdir(path);
	must(rmdir(dir) == 0);
}

#endif
