/* SPDX-License-Identifier: MIT */
/* Processes that ask, or only burn. */
#include "clients.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE_NS 1000000.0 /* of burning and resting, together */

struct order {
	enum client_mode mode;
	double share;   /* of a CPU; BURN */
	char path[128]; /* of the socket; HAMMER */
};

/* A client's own words, in its process. */
struct self {
	int end;                  /* where its orders come from */
	const char *const *lines; /* its requests, ended by NULL */
	int socket;               /* -1: not connected */
	size_t next;              /* of lines */
	size_t len, at;           /* bytes in buf, and those that were looked at */
	struct clients_done done; /* since the last order */
	char buf[1 << 16];        /* received */
};

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static bool fill(struct self *self)
{
	ssize_t n;

	self->len -= self->at;
	memmove(self->buf, self->buf + self->at, self->len);
	self->at = 0;
	n = recv(self->socket, self->buf + self->len, sizeof(self->buf) - self->len, 0);
	self->len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* The next line; NULL at the end of the connection. Valid until the next call. */
static const char *next_line(struct self *self)
{
	char *end, *line;

	while (!(end = memchr(self->buf + self->at, '\n', self->len - self->at))) {
		if (!fill(self))
			return NULL;
	}
	*end = '\0';
	line = self->buf + self->at;
	self->at = (size_t)(end - self->buf) + 1;
	return line;
}

static bool skip(struct self *self, size_t len)
{
	while (self->len - self->at < len) {
		len -= self->len - self->at;
		self->at = self->len;
		if (!fill(self))
			return false;
	}
	self->at += len;
	return true;
}

/* "more" and "ok" bring bytes; anything else that is no push ends the answer too. */
static bool take_answer(struct self *self)
{
	const char *line, *length;
	bool last;

	do {
		line = next_line(self);
		if (!line)
			return false;
		last = strncmp(line, "more ", 5) != 0 && strncmp(line, "event ", 6) != 0;
		length = strrchr(line, ' ');
		if (strncmp(line, "error ", 6) != 0 && length && !skip(self, strtoul(length, NULL, 10)))
			return false;
	} while (!last);
	self->done.requests++;
	return true;
}

static void disconnect(struct self *self)
{
	if (self->socket >= 0)
		close(self->socket);
	self->socket = -1;
	self->len = self->at = 0;
}

static bool connect_to(struct self *self, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	self->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return self->socket >= 0 && !connect(self->socket, (struct sockaddr *)&address, sizeof(address)) &&
	       next_line(self);
}

static void hammer(struct self *self, const struct order *order)
{
	const char *line;

	if (self->socket < 0 && !connect_to(self, order->path)) {
		disconnect(self);
		usleep(1000);
		return;
	}
	if (!self->lines[self->next])
		self->next = 0;
	line = self->lines[self->next++];
	if (send(self->socket, line, strlen(line), MSG_NOSIGNAL) < 0 || !take_answer(self))
		disconnect(self);
}

static void burn(const struct order *order)
{
	double work = order->share < 1 ? order->share * PIECE_NS : PIECE_NS, until = cpu_ns() + work;
	struct timespec rest = { .tv_nsec = (long)(PIECE_NS - work) };

	while (cpu_ns() < until)
		;
	if (rest.tv_nsec)
		nanosleep(&rest, NULL);
}

static _Noreturn void client(struct self *self)
{
	struct order order = { .mode = CLIENT_IDLE };
	double since = cpu_ns();

	for (;;) {
		ssize_t n = recv(self->end, &order, sizeof(order), order.mode == CLIENT_IDLE ? 0 : MSG_DONTWAIT);

		if (!n)
			_exit(0);
		if (n == sizeof(order)) {
			self->done.cpu_ns = cpu_ns() - since;
			since = cpu_ns();
			if (send(self->end, &self->done, sizeof(self->done), MSG_NOSIGNAL) < 0)
				_exit(0);
			self->done = (struct clients_done){ 0 };
			if (order.mode != CLIENT_HAMMER)
				disconnect(self);
		}
		if (order.mode == CLIENT_HAMMER)
			hammer(self, &order);
		else if (order.mode == CLIENT_BURN)
			burn(&order);
	}
}

static int start_one(struct clients *clients, int i, const char *const *lines)
{
	static struct self self;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	clients->pids[i] = fork();
	if (!clients->pids[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int k = 0; k < i; k++)
			close(clients->ends[k]);
		close(fds[1]);
		self = (struct self){ .end = fds[0], .lines = lines, .socket = -1 };
		client(&self);
	}
	close(fds[0]);
	clients->ends[i] = fds[1];
	return clients->pids[i] < 0 ? -EAGAIN : 0;
}

int clients_start(struct clients *clients, const char *const *const *requests)
{
	int i, err = 0;

	for (i = 0; i < CLIENTS && !err; i++)
		err = start_one(clients, i, requests[i]);
	return err;
}

void clients_end(struct clients *clients)
{
	for (int i = 0; i < CLIENTS; i++) {
		close(clients->ends[i]);
		waitpid(clients->pids[i], NULL, 0);
	}
}

int clients_tell(struct clients *clients, enum client_mode mode, const char *path, double share,
		 struct clients_done *done)
{
	struct order order = { .mode = mode, .share = share };
	struct clients_done one;

	snprintf(order.path, sizeof(order.path), "%s", path ? path : "");
	*done = (struct clients_done){ 0 };
	for (int i = 0; i < CLIENTS; i++) {
		if (send(clients->ends[i], &order, sizeof(order), MSG_NOSIGNAL) < 0)
			return -errno;
	}
	for (int i = 0; i < CLIENTS; i++) {
		if (recv(clients->ends[i], &one, sizeof(one), 0) != (ssize_t)sizeof(one))
			return -EPIPE;
		done->cpu_ns += one.cpu_ns;
		done->requests += one.requests;
	}
	return 0;
}
