/* SPDX-License-Identifier: MIT */
/*
 * The server's passes.
 *
 *   P1  No system call on a client's socket waits, and one pass makes at most one step for each client: a request, or
 *       a piece of a longer answer. So a client waits for the steps of the others, never for the others.
 *   P2  What a client may leave undone has a deadline (control_bounds). What waits for it is at most OUT_MOST bytes.
 *   P3  No lock is held over a wait or over a call of the library. What a request calls is what any thread may call.
 *
 * A step may take long by itself: a write to a limit may drain. The others wait for that.
 */
#include "control/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/mem.h"

#define ACCEPTS 8U        /* connections that one pass takes */
#define REST_NS 100000000 /* after an accept that failed: descriptors or memory are short; and between two reopenings */
#define NAME_MOST 128U    /* bytes of the program's name in the greeting */

static struct lock control_lock = LOCK_INIT(LOCK_RANK_CONTROL);

/* Made by the first start, never freed. */
static struct control_server {
	struct control_fd listener;                     /* control lock for changes */
	struct control_fd bell[2];                      /* a pipe: what is written ends a wait; control lock */
	struct control_client clients[CONTROL_CLIENTS]; /* sockets: control lock for changes; else the server's alone */
	struct control_place *place;                    /* where the listener is; start.c's */
	struct control_out scratch;                     /* for texts on their way to a client */
	uint64_t rest;                                  /* clock_ns() until which nothing is accepted */
	bool read_only;                                 /* as memcg_control_start() was told */
	bool waits;                                     /* passes may wait: there is a bell */
} * server;

uid_t (*server_user)(void) = geteuid;

void server_lock(void)
{
	lock_take(&control_lock);
}

void server_unlock(void)
{
	lock_drop(&control_lock);
}

void server_unlock_child(void)
{
	lock_reinit(&control_lock);
}

void server_ring(void)
{
	server_lock();
	/* One that is full rings already. */
	if (control_fd_ours(&server->bell[1]) && write(server->bell[1].fd, "", 1) < 0)
		errno = 0;
	server_unlock();
}

static int make(void)
{
	unsigned int i;

	if (server)
		return 0;
	server = mem_zalloc(sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->listener.fd = server->bell[0].fd = server->bell[1].fd = -1;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		server->clients[i].socket.fd = -1;
	return 0;
}

/* Control lock. */
static int open_bell(void)
{
	int fds[2], err;

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	err = control_fd_take(&server->bell[0], fds[0]);
	if (err) {
		close(fds[1]);
		return err;
	}
	return control_fd_take(&server->bell[1], fds[1]);
}

static void close_own(void)
{
	control_fd_drop(&server->listener);
	control_fd_drop(&server->bell[0]);
	control_fd_drop(&server->bell[1]);
}

int server_open(struct control_place *place, bool read_only, bool waits)
{
	int err = make();

	if (err)
		return err;
	server->place = place;
	server->read_only = read_only;
	server->waits = waits;
	server->rest = 0;
	err = waits ? open_bell() : 0;
	if (!err)
		err = control_fd_take(&server->listener, place_listen(place));
	if (err)
		close_own();
	return err;
}

void server_close(void)
{
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS; i++) {
		if (server->clients[i].socket.fd >= 0)
			client_close(&server->clients[i]);
	}
	server_lock();
	close_own();
	server_unlock();
	out_free(&server->scratch);
}

/* Somebody closed what he did not know: a daemon that closes all. The name is ours still, or again. */
static void reopen_lost(uint64_t now)
{
	if (control_fd_ours(&server->listener) && (!server->waits || control_fd_ours(&server->bell[0])))
		return;
	if (now < server->rest)
		return;
	server->rest = now + REST_NS;
	server_lock();
	close_own();
	if ((server->waits && open_bell()) || control_fd_take(&server->listener, place_listen(server->place)))
		close_own();
	server_unlock();
}

/* A line to one that is not served. */
static void refuse(int fd, const char *line)
{
	if (send(fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0; /* it is gone already */
	close(fd);
}

static bool may_connect(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof(peer) &&
	       (peer.uid == 0 || peer.uid == server_user());
}

static struct control_client *free_client(void)
{
	unsigned int i;

	for (i = 0; i < control_bounds.clients && i < CONTROL_CLIENTS; i++) {
		if (server->clients[i].socket.fd < 0)
			return &server->clients[i];
	}
	return NULL;
}

/* Control lock. False: nobody waits, or none can be had now. */
static bool accept_one(uint64_t now)
{
	int fd = accept4(server->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct control_client *client;

	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server->rest = now + REST_NS;
		return false;
	}
	client = free_client();
	if (!may_connect(fd))
		refuse(fd, "error EPERM client\n");
	else if (!client)
		refuse(fd, "error EAGAIN client\n");
	else if (client_open(client, fd, now) == 0)
		client_greet(client);
	return true;
}

static void accept_some(uint64_t now)
{
	unsigned int i;
	bool more = true;

	for (i = 0; i < ACCEPTS && more; i++) {
		server_lock();
		more = accept_one(now);
		server_unlock();
	}
}

static void clear_bell(void)
{
	char rings[64];

	while (read(server->bell[0].fd, rings, sizeof(rings)) == (ssize_t)sizeof(rings))
		;
}

/* What a pass looks at. */
struct pass {
	struct pollfd fds[2 + CONTROL_CLIENTS];          /* listener, bell, clients */
	struct control_client *clients[CONTROL_CLIENTS]; /* of fds[2 ...] */
	unsigned int nr;                                 /* clients */
	uint64_t deadline;                               /* clock_ns() when it goes on at the latest */
};

static void pass_collect(struct pass *pass, uint64_t now)
{
	bool rests = now < server->rest || server->listener.fd < 0;
	unsigned int i;

	pass->nr = 0;
	pass->deadline = rests ? server->rest : UINT64_MAX;
	pass->fds[0] = (struct pollfd){ .fd = rests ? -1 : server->listener.fd, .events = POLLIN };
	pass->fds[1] = (struct pollfd){ .fd = server->bell[0].fd, .events = POLLIN };
	for (i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *client = &server->clients[i];
		uint64_t deadline;

		if (client->socket.fd < 0)
			continue;
		deadline = client_deadline(client);
		pass->deadline = deadline < pass->deadline ? deadline : pass->deadline;
		pass->clients[pass->nr] = client;
		pass->fds[2 + pass->nr++] = (struct pollfd){ .fd = client->socket.fd, .events = client_events(client) };
	}
}

/* Milliseconds, rounded up. Who closes both ends of the bell ends a wait, but for a copy of them in a raw clone. */
static int pass_wait_ms(const struct pass *pass, uint64_t now)
{
	uint64_t ms;

	if (pass->deadline <= now)
		return 0;
	ms = (pass->deadline - now + MS_NS - 1) / MS_NS;
	return (int)(ms < control_bounds.look_ms ? ms : control_bounds.look_ms);
}

void server_pass(bool wait)
{
	struct control_service service = { .scratch = &server->scratch, .read_only = server->read_only };
	uint64_t now = clock_ns();
	struct pass pass;
	unsigned int i;

	reopen_lost(now);
	pass_collect(&pass, now);
	if (poll(pass.fds, 2 + pass.nr, wait ? pass_wait_ms(&pass, now) : 0) < 0) {
		/* A program may allow itself no descriptors at all, and then poll() takes none: nobody is served, at leisure. */
		if (errno != EINTR && wait)
			poll(NULL, 0, REST_NS / MS_NS);
		return;
	}
	service.now = clock_ns();
	if (pass.fds[1].revents & POLLIN && control_fd_ours(&server->bell[0]))
		clear_bell();
	if (pass.fds[0].revents & POLLIN && control_fd_ours(&server->listener))
		accept_some(service.now);
	for (i = 0; i < pass.nr; i++)
		client_turn(pass.clients[i], &service, pass.fds[2 + i].revents);
}

/* In the child of a fork: whoever is connected to the parent would wait for this process too. */
void server_drop_fds(void)
{
	unsigned int i;

	if (!server)
		return;
	close_own();
	for (i = 0; i < CONTROL_CLIENTS; i++)
		control_fd_drop(&server->clients[i].socket);
}

void server_forget(void)
{
	unsigned int i;

	if (!server)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++) {
		if (server->clients[i].in)
			client_forget(&server->clients[i]);
	}
	out_free(&server->scratch);
}
