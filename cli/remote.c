/* SPDX-License-Identifier: MIT */
/* Requests and their answers. */
#include "remote.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define GREETING_MS 5000
#define ANSWER_MS 60000         /* a write may reclaim */
#define ANSWER_MOST (1UL << 30) /* bytes of all pieces */
#define LINE_MOST 256           /* of the process: the greeting is the longest */

int remote_open(const struct args *args, struct remote *remote)
{
	remote->command = args->command->name;
	remote->fd = -1;
	return find_process(args, remote);
}

void remote_close(struct remote *remote)
{
	if (remote->fd >= 0)
		close(remote->fd);
	remote->fd = -1;
}

int remote_send(struct remote *remote, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(remote->fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* It may have said why: that is read next. */
		if (n < 0)
			return errno == EPIPE || errno == ECONNRESET ? 0 : -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* More bytes behind those that were not looked at. */
static int receive(struct remote *remote, int timeout)
{
	struct pollfd polled = { .fd = remote->fd, .events = POLLIN };
	ssize_t n;
	int ret;

	if (remote->at) {
		remote->len -= remote->at;
		memmove(remote->buf, remote->buf + remote->at, remote->len);
		remote->at = 0;
	}
	ret = poll(&polled, 1, timeout);
	if (ret <= 0)
		return ret ? -errno : -ETIMEDOUT;
	n = recv(remote->fd, remote->buf + remote->len, sizeof(remote->buf) - remote->len, 0);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	remote->len += (size_t)n;
	return n ? 0 : -EPIPE;
}

/* The next line, without its newline. */
static int read_line(struct remote *remote, char *line, size_t room, int timeout)
{
	for (;;) {
		char *begin = remote->buf + remote->at, *end = memchr(begin, '\n', remote->len - remote->at);
		int err;

		if (end) {
			size_t len = (size_t)(end - begin);

			remote->at += len + 1;
			if (len >= room || memchr(begin, '\0', len))
				return -EPROTO;
			memcpy(line, begin, len);
			line[len] = '\0';
			return 0;
		}
		if (remote->len - remote->at >= room)
			return -EPROTO;
		err = receive(remote, timeout);
		if (err)
			return err;
	}
}

static int read_payload(struct remote *remote, struct frame *frame)
{
	size_t done = 0;

	frame->payload = malloc(frame->len + 1);
	if (!frame->payload)
		return -ENOMEM;
	while (done < frame->len) {
		size_t part = remote->len - remote->at;
		int err = part ? 0 : receive(remote, ANSWER_MS);

		if (err) {
			free(frame->payload);
			return err;
		}
		part = part < frame->len - done ? part : frame->len - done;
		memcpy(frame->payload + done, remote->buf + remote->at, part);
		remote->at += part;
		done += part;
	}
	frame->payload[done] = '\0';
	return 0;
}

/* A number in decimal digits, and the blank behind it, which @at then is behind. */
static bool take_number(const char **at, unsigned long *number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*number = strtoul(*at, &end, 10);
	*at = *end == ' ' ? end + 1 : end;
	return !errno && (*end == ' ' || !*end);
}

static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* "memcg-control 1 PID PROGRAM", or why not. */
static int read_greeting(struct remote *remote)
{
	char line[LINE_MOST];
	const char *at = line;
	unsigned long pid;
	int err = read_line(remote, line, sizeof(line), GREETING_MS);

	if (err)
		return err;
	if (!strcmp(line, "error EPERM client"))
		return -EPERM;
	if (!strcmp(line, "error EAGAIN client"))
		return -EAGAIN;
	if (!take_word(&at, "memcg-control 1 ") || !take_number(&at, &pid))
		return -EPROTO;
	remote->pid = (long)pid;
	snprintf(remote->program, sizeof(remote->program), "%s", at);
	for (char *c = remote->program; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return 0;
}

/* One that has too many waiting connections does not keep us waiting. */
static int connect_once(const char *path, struct remote *remote)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	remote->len = remote->at = 0;
	remote->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (remote->fd < 0)
		return -errno;
	err = connect(remote->fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (!err && fcntl(remote->fd, F_SETFL, 0))
		err = -errno;
	if (!err)
		err = read_greeting(remote);
	if (err)
		remote_close(remote);
	return err;
}

/* A process that has just found its socket closed cuts off who connects then, and opens another. */
int connect_path(const char *path, struct remote *remote)
{
	int err = connect_once(path, remote);

	return err == -EPIPE ? connect_once(path, remote) : err;
}

/* "error ERRNO WHAT" */
static bool take_error(const char *at, struct frame *frame)
{
	const char *blank = strchr(at, ' ');

	if (!blank || (size_t)(blank - at) >= sizeof(frame->name) || strlen(blank + 1) >= sizeof(frame->what))
		return false;
	memcpy(frame->name, at, (size_t)(blank - at));
	strcpy(frame->what, blank + 1);
	return true;
}

static bool parse_head(const char *line, struct frame *frame)
{
	static const char *const kinds[] = { "ok ", "more ", "error ", "event ", "gone " };
	unsigned long len = 0;
	const char *at = line;
	bool good;

	*frame = (struct frame){ 0 };
	while (frame->kind <= FRAME_GONE && !take_word(&at, kinds[frame->kind]))
		frame->kind++;
	if (frame->kind > FRAME_GONE)
		return false;
	if (frame->kind == FRAME_ERROR)
		return take_error(at, frame);
	good = frame->kind < FRAME_EVENT || take_number(&at, &frame->number);
	if (frame->kind != FRAME_GONE)
		good = good && take_number(&at, &len);
	frame->len = len;
	return good && !*at && len <= ANSWER_MOST;
}

int remote_frame(struct remote *remote, struct frame *frame, int timeout)
{
	char line[LINE_MOST];
	int err = read_line(remote, line, sizeof(line), timeout);

	if (err)
		return err;
	if (!parse_head(line, frame))
		return -EPROTO;
	if (frame->kind == FRAME_ERROR || frame->kind == FRAME_GONE)
		return 0;
	return read_payload(remote, frame);
}

/* The number of an errno by its name. One that we do not know is an error too. */
static int number_of(const char *name)
{
	for (int number = 1; number < 4096; number++) {
		const char *known = strerrorname_np(number);

		if (known && !strcmp(known, name))
			return number;
	}
	return EIO;
}

static int append(struct answer *answer, struct frame *frame)
{
	char *bigger;

	if (!answer->payload) {
		answer->payload = frame->payload;
		answer->len = frame->len;
		return 0;
	}
	bigger = answer->len + frame->len > ANSWER_MOST ? NULL : realloc(answer->payload, answer->len + frame->len + 1);
	if (bigger) {
		memcpy(bigger + answer->len, frame->payload, frame->len + 1);
		answer->payload = bigger;
		answer->len += frame->len;
	}
	free(frame->payload);
	return bigger ? 0 : -ENOMEM;
}

/* Frames up to the end of an answer; pushes are of no interest here. */
static int read_answer(struct remote *remote, struct answer *answer)
{
	struct frame frame = { 0 };
	int err;

	*answer = (struct answer){ 0 };
	do {
		err = remote_frame(remote, &frame, ANSWER_MS);
		if (err)
			break;
		if (frame.kind == FRAME_EVENT)
			free(frame.payload);
		else if (frame.kind == FRAME_OK || frame.kind == FRAME_MORE)
			err = append(answer, &frame);
	} while (!err && frame.kind != FRAME_OK && frame.kind != FRAME_ERROR);
	if (err || frame.kind == FRAME_ERROR) {
		free(answer->payload);
		answer->payload = NULL;
		answer->error = err ? 0 : number_of(frame.name);
		memcpy(answer->what, frame.what, sizeof(answer->what));
	}
	return err;
}

int remote_lost(const struct remote *remote, int err)
{
	const char *why = err == -EPIPE     ? "has ended, or has closed its control socket" :
			  err == -ETIMEDOUT ? "does not answer; is it stopped?" :
			  err == -EPROTO    ? "answers what is no answer" :
					      strerror(-err);

	return cli_wrong("%s: process %ld (%s) %s", remote->command, remote->pid, remote->program, why);
}

static int ask(struct remote *remote, struct answer *answer, const char *request, size_t len)
{
	int err = remote_send(remote, request, len);

	if (!err)
		err = read_answer(remote, answer);
	return err ? remote_lost(remote, err) : CLI_OK;
}

/* What cannot be asked for, since it would end a word or the line, is not there either. */
static int check_names(const struct remote *remote, const char *file, const char *group)
{
	if (strchr(group, '\n'))
		return cli_wrong("%s: there is no group '%s': a name has no newline", remote->command, group);
	if (file && (!*file || strpbrk(file, " \n") || strlen(file) > 63))
		return cli_wrong("%s: there is no file '%s'; expected a name such as memory.max", remote->command,
				 file);
	return CLI_OK;
}

int remote_ask(struct remote *remote, struct answer *answer, const char *verb, const char *file, const char *group)
{
	char *request;
	int len, ret = check_names(remote, file, group);

	if (ret)
		return ret;
	len = asprintf(&request, "%s %s%s%s\n", verb, file ? file : "", file ? " " : "", group);
	if (len < 0)
		return cli_wrong("%s: %s", remote->command, strerror(ENOMEM));
	ret = ask(remote, answer, request, (size_t)len);
	free(request);
	return ret;
}

int remote_write(struct remote *remote, struct answer *answer, const char *file, const char *group, const char *value)
{
	size_t value_len = strlen(value);
	char *request;
	int len, ret = check_names(remote, file, group);

	if (ret)
		return ret;
	if (value_len > 4096)
		return cli_wrong("%s: %s: a value has at most 4096 bytes", remote->command, file);
	len = asprintf(&request, "write %s %zu %s\n%s", file, value_len, group, value);
	if (len < 0)
		return cli_wrong("%s: %s", remote->command, strerror(ENOMEM));
	ret = ask(remote, answer, request, (size_t)len);
	free(request);
	return ret;
}
