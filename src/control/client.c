/* SPDX-License-Identifier: MIT */
/* A connection. */
#include "control/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "control/server.h"

struct control_bounds control_bounds = {
	.clients = 16,
	.request_ms = 5000,
	.send_ms = 5000,
	.idle_ms = 30000,
	.quiet_ms = 20,
	.look_ms = 60000,
};

int client_open(struct control_client *client, int fd, uint64_t now)
{
	int err;

	memset(client, 0, sizeof(*client));
	client->socket.fd = -1;
	client->since = now;
	client->in = mem_zalloc(REQUEST_MAX);
	if (!client->in) {
		close(fd);
		return -ENOMEM;
	}
	err = control_fd_take(&client->socket, fd);
	if (err) {
		mem_free(client->in);
		client->in = NULL;
	}
	return err;
}

void client_forget(struct control_client *client)
{
	char *in = client->in;

	watch_end(client);
	cursor_end(&client->cursor);
	store_relaxed(&client->in, NULL);
	mem_free(in);
	out_free(&client->out);
	client->in_len = 0;
}

void client_close(struct control_client *client)
{
	server_lock();
	control_fd_drop(&client->socket);
	server_unlock();
	client_forget(client);
}

/* Whole requests, or the end of what was sent: is there a step to make? */
static bool has_step(const struct control_client *client)
{
	if (client->closing || !out_empty(&client->out))
		return false;
	return client->cursor.top || (client->in_len && !client->in_partial);
}

short client_events(const struct control_client *client)
{
	short events = 0;

	if (!client->eof && !client->closing && client->in_len < REQUEST_MAX)
		events |= POLLIN;
	if (!out_empty(&client->out))
		events |= POLLOUT;
	return events;
}

static uint64_t after(uint64_t since, unsigned int ms)
{
	return since + ms * MS_NS;
}

uint64_t client_deadline(const struct control_client *client)
{
	uint64_t deadline = UINT64_MAX;

	if (has_step(client))
		return 0;
	if (!out_empty(&client->out))
		return after(client->since, control_bounds.send_ms);
	if (client->begun)
		deadline = after(client->begun, control_bounds.request_ms);
	else if (!watch_any(client))
		deadline = after(client->since, control_bounds.idle_ms);
	return deadline < watch_deadline(client) ? deadline : watch_deadline(client);
}

/* The last words to it. */
static void end(struct control_client *client, int err, const char *what)
{
	out_error(&client->out, err, what);
	client->closing = true;
}

static bool receive(struct control_client *client, uint64_t now)
{
	ssize_t n = recv(client->socket.fd, client->in + client->in_len, REQUEST_MAX - client->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n)
		client->eof = true;
	else if (!client->in_len)
		client->begun = now;
	client->in_len += (size_t)n;
	client->in_partial = false;
	return true;
}

static bool send_some(struct control_client *client, uint64_t now)
{
	struct control_out *out = &client->out;
	ssize_t n;

	if (out_empty(out))
		return true;
	n = send(client->socket.fd, out->buf + out->sent, out->len - out->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n)
		client->since = now;
	out->sent += (size_t)n;
	if (out_empty(out))
		out_reset(out);
	return true;
}

static void used_up(struct control_client *client, size_t used, uint64_t now)
{
	client->in_len -= used;
	memmove(client->in, client->in + used, client->in_len);
	client->begun = client->in_len ? now : 0;
	client->since = now;
}

/* One request of what was received. Negative errno: there is no memory for the answer. */
static int serve_request(struct control_client *client, const struct control_service *service)
{
	struct control_request request;
	struct request_result result = request_parse(client->in, client->in_len, &request);
	int err = 0;

	switch (result.state) {
	case REQUEST_MORE:
		client->in_partial = true;
		if (client->eof)
			end(client, -EINVAL, "request");
		return 0;
	case REQUEST_LOST:
		end(client, result.err, result.what);
		return 0;
	case REQUEST_WRONG:
		out_error(&client->out, result.err, result.what);
		break;
	case REQUEST_READY:
		err = client_execute(client, service, &request);
		break;
	}
	used_up(client, result.used, service->now);
	return err;
}

static int step(struct control_client *client, const struct control_service *service)
{
	if (client->cursor.top)
		return cursor_send(&client->cursor, service->scratch, &client->out);
	if (client->in_len && !client->in_partial)
		return serve_request(client, service);
	return watch_push(client, service);
}

/* Who is late: told so, unless it does not read. */
static bool in_time(struct control_client *client, uint64_t now)
{
	if (!out_empty(&client->out))
		return now < after(client->since, control_bounds.send_ms);
	if (client->closing)
		return false;
	if (client->begun && client->in_partial && now >= after(client->begun, control_bounds.request_ms))
		end(client, -ETIMEDOUT, "request");
	else if (!client->begun && !watch_any(client) && now >= after(client->since, control_bounds.idle_ms))
		end(client, -ETIMEDOUT, "client");
	return true;
}

/* It sends nothing more, has all it asked for, and watches nothing. */
static bool finished(const struct control_client *client)
{
	if (!out_empty(&client->out))
		return false;
	return client->closing || (client->eof && !client->in_len && !client->cursor.top && !watch_any(client));
}

/* False: the connection is of no more use. */
static bool turn(struct control_client *client, const struct control_service *service, short revents)
{
	bool full = client->in_len == REQUEST_MAX;

	if (revents & (POLLERR | POLLNVAL))
		return false;
	if (revents & (POLLIN | POLLHUP) && !client->eof && !client->closing && !full && !receive(client, service->now))
		return false;
	/* Closed at the other end too, and all that was sent is served: nobody reads what would be answered. */
	if (revents & POLLHUP && client->eof && !has_step(client))
		return false;
	if (!send_some(client, service->now))
		return false;
	if (out_empty(&client->out) && !client->closing) {
		if (step(client, service) < 0)
			return false;
		if (!out_empty(&client->out))
			client->since = service->now;
	}
	return in_time(client, service->now) && send_some(client, service->now) && !finished(client);
}

void client_turn(struct control_client *client, const struct control_service *service, short revents)
{
	if (!control_fd_ours(&client->socket) || !turn(client, service, revents))
		client_close(client);
}

/* A name of the program's own making, in a line of ours. */
static void put_printable(struct text *text, const char *name, size_t most)
{
	for (; *name && most; name++, most--)
		text_char(text, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

void client_greet(struct control_client *client)
{
	char line[256];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_str(&text, "memcg-control ");
	text_u64(&text, CONTROL_PROTOCOL);
	text_char(&text, ' ');
	text_u64(&text, (uint64_t)getpid());
	text_char(&text, ' ');
	put_printable(&text, program_invocation_short_name, 128);
	if (out_line(&client->out, line))
		client->closing = true;
}
