/* SPDX-License-Identifier: MIT */
/* What the requests do: the public calls, by path. */
#include <errno.h>
#include <memcg/files.h>
#include <string.h>

#include "control/client.h"
#include "files/table.h"

#define READ_LEAST 4096U  /* bytes that a file is first read with */
#define FILES_MOST 16384U /* bytes of the list of files: some 80 names */

/* A file that grows meanwhile is read again, with more room. */
ssize_t service_read(struct control_out *scratch, struct memcg *group, const char *file)
{
	size_t room = READ_LEAST;
	int tries;

	for (tries = 0; tries < 8; tries++) {
		char *buf;
		ssize_t len;

		out_reset(scratch);
		buf = out_room(scratch, room);
		if (!buf)
			return room > OUT_MOST / 2 ? -EFBIG : -ENOMEM;
		len = memcg_read(group, file, buf, room);
		if (len < (ssize_t)room)
			return len;
		room = (size_t)len + READ_LEAST;
	}
	return -EFBIG;
}

static int fail(struct control_client *client, ssize_t err, const char *what)
{
	out_error(&client->out, (int)err, what);
	return 0;
}

/* Which part of the request an error of memcg_read() and memcg_write() is about. */
static const char *part_of(ssize_t err, const char *other)
{
	return err == -ENODEV ? "group" : err == -ENOENT ? "file" : other;
}

static int run_read(struct control_client *client, const struct control_service *service, struct memcg *group,
		    const char *file)
{
	ssize_t len = service_read(service->scratch, group, file);

	if (len < 0)
		return fail(client, len, part_of(len, "file"));
	return out_payload(&client->out, "ok", service->scratch->buf, (size_t)len);
}

/* 0 in cgroup.threads is who writes. He is no thread of this process. */
static bool names_the_writer(const struct control_request *request)
{
	static const char blank[] = " \t\n\v\f\r";
	char value[32], *begin;
	int tid;

	if (strcmp(request->file, "cgroup.threads") != 0 || request->value_len >= sizeof(value))
		return false;
	memcpy(value, request->value, request->value_len);
	value[request->value_len] = '\0';
	begin = value + strspn(value, blank);
	begin[strcspn(begin, blank)] = '\0';
	return !parse_int32(begin, &tid) && !tid;
}

static int run_write(struct control_client *client, struct memcg *group, const struct control_request *request)
{
	ssize_t ret = names_the_writer(request) ? -EINVAL :
						  memcg_write(group, request->file, request->value, request->value_len);

	if (ret < 0)
		return fail(client, ret, part_of(ret, "value"));
	return out_payload(&client->out, "ok", NULL, 0);
}

/* The payload is the watch's number, which its pushes begin with. */
static int run_watch(struct control_client *client, struct memcg *group, const char *file)
{
	int number = watch_add(client, memcg_get(group), file);
	char line[16];
	struct text text;

	if (number < 0)
		return fail(client, number, number == -EMFILE ? "request" : part_of(number, "file"));
	text_init(&text, line, sizeof(line));
	text_u64(&text, (uint64_t)number);
	text_char(&text, '\n');
	return out_payload(&client->out, "ok", line, text.len);
}

/* A line of the list: the permission bits that the kernel gives the file, and its name. */
static int put_file(const char *file, unsigned int mode, void *arg)
{
	struct text *text = arg;
	unsigned int shift;

	text_char(text, '0');
	for (shift = 6; shift <= 6; shift -= 3)
		text_char(text, (char)('0' + (mode >> shift & 7)));
	text_char(text, ' ');
	text_str(text, file);
	text_char(text, '\n');
	return 0;
}

static int run_files(struct control_client *client, const struct control_service *service)
{
	struct text text;
	char *room;

	out_reset(service->scratch);
	room = out_room(service->scratch, FILES_MOST);
	if (!room)
		return -ENOMEM;
	text_init(&text, room, FILES_MOST);
	memcg_file_list(put_file, &text);
	return text.len < text.cap ? out_payload(&client->out, "ok", room, text.len) : -EFBIG;
}

static int run_rmdir(struct control_client *client, struct memcg *group)
{
	int err = memcg_destroy(group);

	return err ? fail(client, err, "group") : out_payload(&client->out, "ok", NULL, 0);
}

/* The last part of a path is the new group's name: cut off there. */
static const char *cut_name(char *path)
{
	size_t len = strlen(path);
	char *slash;

	while (len && path[len - 1] == '/')
		path[--len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return path;
	*slash = '\0';
	return slash + 1;
}

static int run_mkdir(struct control_client *client, char *path)
{
	const char *name = cut_name(path);
	struct memcg *parent, *group;
	int err = memcg_open(name == path ? "" : path, &parent);

	if (err)
		return fail(client, err, "group");
	err = *name ? memcg_create(parent, name, &group) : -EEXIST;
	memcg_put(parent);
	if (err)
		return fail(client, err, err == -ENODEV ? "group" : "name");
	memcg_put(group);
	return out_payload(&client->out, "ok", NULL, 0);
}

static bool changes(enum control_verb verb)
{
	return verb == VERB_WRITE || verb == VERB_MKDIR || verb == VERB_RMDIR;
}

static int run_in_group(struct control_client *client, const struct control_service *service,
			const struct control_request *request, struct memcg *group)
{
	switch (request->verb) {
	case VERB_READ:
		return run_read(client, service, group, request->file);
	case VERB_WRITE:
		return run_write(client, group, request);
	case VERB_WATCH:
		return run_watch(client, group, request->file);
	case VERB_FILES:
		return run_files(client, service);
	case VERB_RMDIR:
		return run_rmdir(client, group);
	default:
		cursor_begin(&client->cursor, memcg_get(group), request->verb == VERB_LIST);
		return 0;
	}
}

int client_execute(struct control_client *client, const struct control_service *service,
		   const struct control_request *request)
{
	struct memcg *group;
	int err;

	if (service->read_only && changes(request->verb))
		return fail(client, -EROFS, "request");
	if (request->verb == VERB_MKDIR)
		return run_mkdir(client, (char *)(uintptr_t)request->group);
	err = memcg_open(request->group, &group);
	if (err)
		return fail(client, err, "group");
	err = run_in_group(client, service, request, group);
	memcg_put(group);
	return err;
}
