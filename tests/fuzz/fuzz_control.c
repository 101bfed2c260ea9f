/* SPDX-License-Identifier: MIT */
/*
 * A connection of the control socket, given any bytes in any parts, against a plain reader of docs/control.md: each
 * request has one answer, of a kind that it may have, in order; nothing is answered behind the end.
 *
 * The first byte says in parts of how many bytes the rest comes.
 */
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <memcg/files.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/client.h"

#define LINE_MOST 16640
#define OUTPUT_MOST ((size_t)1 << 26)

/* What is still to be answered, of what the client has sent. */
struct reader {
	const char *at; /* the rest of the input */
	size_t left;    /* bytes of it */
	int ended;      /* nothing more is answered */
	int wrong;      /* the next answer is an error about the request */
};

static size_t word(const char *line, size_t len)
{
	const char *blank = memchr(line, ' ', len);

	return blank && blank != line ? (size_t)(blank - line) : 0;
}

static int is(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(line, name, len);
}

/* The bytes behind the line that belong to it; -1: nobody can tell; -2: not a request. */
static long payload(const char *line, size_t len)
{
	size_t verb = word(line, len), file, digits, i;
	long value = 0;

	if (memchr(line, 0, len))
		return -1;
	if (is(line, verb, "list") || is(line, verb, "tree") || is(line, verb, "files") || is(line, verb, "mkdir") ||
	    is(line, verb, "rmdir"))
		return 0;
	if (!is(line, verb, "read") && !is(line, verb, "watch") && !is(line, verb, "write"))
		return -2;
	file = word(line + verb + 1, len - verb - 1);
	if (is(line, verb, "read") || is(line, verb, "watch"))
		return file && file <= 63 ? 0 : -2;
	if (!file || file > 63)
		return -1;
	line += verb + 1 + file + 1;
	digits = word(line, len - verb - 1 - file - 1);
	if (!digits || digits > 4)
		return -1;
	for (i = 0; i < digits; i++) {
		if (line[i] < '0' || line[i] > '9')
			return -1;
		value = 10 * value + line[i] - '0';
	}
	return value <= 4096 ? value : -1;
}

/* 1: an answer is to come. */
static int next_request(struct reader *reader)
{
	const char *end = memchr(reader->at, '\n', reader->left < LINE_MOST + 1 ? reader->left : LINE_MOST + 1);
	size_t len = end ? (size_t)(end - reader->at) : 0;
	long behind = end ? payload(reader->at, len) : -1;

	if (reader->ended || !reader->left)
		return 0;
	reader->wrong = behind < 0;
	if (behind == -1 || (behind > 0 && (size_t)behind > reader->left - len - 1)) {
		reader->ended = 1;
		reader->wrong = 1;
		return 1;
	}
	behind = behind < 0 ? 0 : behind;
	reader->at += len + 1 + (size_t)behind;
	reader->left -= len + 1 + (size_t)behind;
	return 1;
}

static const char *skip_bytes(const char *line, const char *end, const char *number)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));
	char *rest;
	unsigned long len = strtoul(number, &rest, 10);

	must(newline && rest == newline && len <= (size_t)(end - newline - 1));
	return newline + 1 + len;
}

/* One answer, and what was pushed before it. Returns what is behind it. */
static const char *read_answer(const char *at, const char *end, int wrong)
{
	for (;;) {
		must(at < end);
		if (!strncmp(at, "event ", 6)) {
			at = skip_bytes(at, end, strchr(at + 6, ' ') + 1);
		} else if (!strncmp(at, "gone ", 5)) {
			at = strchr(at, '\n') + 1;
		} else if (!strncmp(at, "more ", 5)) {
			must(!wrong);
			at = skip_bytes(at, end, at + 5);
		} else if (!strncmp(at, "ok ", 3)) {
			must(!wrong);
			return skip_bytes(at, end, at + 3);
		} else {
			const char *newline = memchr(at, '\n', (size_t)(end - at));

			must(newline && !strncmp(at, "error E", 7));
			if (wrong)
				must(!strncmp(newline - 8, " request", 8) || !strncmp(newline - 6, " value", 6));
			else
				must(strncmp(newline - 8, " request", 8) != 0 || !strncmp(at, "error EMFILE", 12));
			return newline + 1;
		}
	}
}

static void check_output(const char *input, size_t size, const char *output, size_t len)
{
	struct reader reader = { .at = input, .left = size };
	const char *at = output, *end = output + len;

	while (next_request(&reader))
		at = read_answer(at, end, reader.wrong);
	while (at < end) {
		must(!strncmp(at, "event ", 6) || !strncmp(at, "gone ", 5));
		at = *at == 'g' ? strchr(at, '\n') + 1 : skip_bytes(at, end, strchr(at + 6, ' ') + 1);
	}
}

static void take_output(int fd, char *output, size_t *len)
{
	ssize_t n;

	while ((n = recv(fd, output + *len, OUTPUT_MOST - *len - 1, MSG_DONTWAIT)) > 0)
		*len += (size_t)n;
	must(*len + 1 < OUTPUT_MOST);
	output[*len] = '\0';
}

/* The client's turns, until all is sent and answered. */
static void converse(struct control_client *client, int fd, const char *input, size_t size, size_t part, char *output,
		     size_t *len)
{
	static struct control_out scratch;
	struct control_service service = { .scratch = &scratch };
	size_t sent = 0, turns = 0;

	while (client->socket.fd >= 0) {
		ssize_t n = sent < size ? send(fd, input + sent, size - sent < part ? size - sent : part,
					       MSG_DONTWAIT | MSG_NOSIGNAL) :
					  0;

		sent += n > 0 ? (size_t)n : 0;
		if (sent == size || (n < 0 && errno != EAGAIN))
			shutdown(fd, SHUT_WR);
		service.now += 1000;
		client_turn(client, &service, (short)(client_events(client) & (POLLIN | POLLOUT)));
		take_output(fd, output, len);
		must(turns++ < 16 * size + 100);
		/* Who watches stays. */
		if (sent == size && client->eof && !client->in_len && out_empty(&client->out) && !client->cursor.top &&
		    watch_any(client))
			break;
	}
	if (client->socket.fd >= 0)
		client_close(client);
}

static int destroy_leaf(struct memcg *group, void *arg)
{
	int *left = arg;

	if (memcg_parent(group) && memcg_destroy(group))
		(*left)++;
	return 0;
}

/* As it was before: the next input must not depend on this one. */
static void tidy(void)
{
	static const char *const limits[] = { "memory.max", "memory.high", "cgroup.max.depth",
					      "cgroup.max.descendants" };
	size_t i;
	int left;

	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		must(memcg_write(NULL, limits[i], "max", 3) == 3);
	must(memcg_write(NULL, "memory.min", "0", 1) == 1 && memcg_write(NULL, "memory.low", "0", 1) == 1);
	do {
		left = 0;
		must(memcg_walk(NULL, destroy_leaf, &left) == 0);
	} while (left);
	memcg_tick();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct control_client client;
	static char *output;
	size_t len = 0;
	int fds[2];
	char *input;

	fuzz_start();
	if (!size)
		return 0;
	output = output ? output : malloc(OUTPUT_MOST);
	input = malloc(size);
	must(output && input);
	memcpy(input, data + 1, size - 1);
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	must(client_open(&client, fds[0], 1) == 0);
	converse(&client, fds[1], input, size - 1, data[0] ? (size_t)data[0] * 16 : 1, output, &len);
	check_output(input, size - 1, output, len);
	close(fds[1]);
	free(input);
	tidy();
	return 0;
}
