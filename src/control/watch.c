/* SPDX-License-Identifier: MIT */
/*
 * Watches: a file's text is pushed to who asked for it, when it changes.
 *
 * The library calls watch_fired() on whatever thread tells of changes. It sets a mark and rings the server's bell, and
 * the server's pass makes the push. Changes that follow each other closely are one push: what fires all the time
 * must not make a thread that does nothing else. A group that is destroyed ends its watches.
 */
#include <errno.h>
#include <memcg/files.h>
#include <string.h>

#include "control/client.h"
#include "control/server.h"

static struct control_watch *free_watch(struct control_client *client)
{
	unsigned int i;

	for (i = 0; i < CONTROL_WATCHES; i++) {
		if (!client->watches[i].group)
			return &client->watches[i];
	}
	return NULL;
}

static void watch_fired(struct memcg *group, const char *file, void *arg)
{
	struct control_watch *watch = arg;

	(void)group;
	(void)file;
	store_release(&watch->fired, 1);
	server_ring();
}

int watch_add(struct control_client *client, struct memcg *group, const char *file)
{
	struct control_watch *watch = free_watch(client);
	int err = watch ? 0 : -EMFILE;

	if (watch) {
		watch->fired = 0;
		watch->quiet = 0;
		strncpy(watch->file, file, sizeof(watch->file) - 1);
		watch->file[sizeof(watch->file) - 1] = '\0';
		err = memcg_event_listen(group, watch->file, watch_fired, watch, &watch->listener);
	}
	if (err) {
		memcg_put(group);
		return err;
	}
	watch->group = group;
	return (int)(watch - client->watches);
}

/* Forgotten before they go: a fork in between loses one of them and drops none twice. */
static void watch_drop(struct control_watch *watch)
{
	struct memcg_listener *listener = watch->listener;
	struct memcg *group = watch->group;

	store_relaxed(&watch->listener, NULL);
	store_relaxed(&watch->group, NULL);
	memcg_event_unlisten(listener);
	memcg_put(group);
}

void watch_end(struct control_client *client)
{
	unsigned int i;

	for (i = 0; i < CONTROL_WATCHES; i++) {
		if (client->watches[i].group)
			watch_drop(&client->watches[i]);
	}
}

bool watch_any(const struct control_client *client)
{
	unsigned int i;

	for (i = 0; i < CONTROL_WATCHES; i++) {
		if (client->watches[i].group)
			return true;
	}
	return false;
}

uint64_t watch_deadline(const struct control_client *client)
{
	uint64_t first = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < CONTROL_WATCHES; i++) {
		const struct control_watch *watch = &client->watches[i];

		if (watch->group && load_acquire(&watch->fired) && watch->quiet < first)
			first = watch->quiet;
	}
	return first;
}

/* "event NUMBER", or "gone NUMBER" when the file can be read no more. */
static int push(struct control_client *client, struct control_watch *watch, struct control_out *scratch)
{
	unsigned int number = (unsigned int)(watch - client->watches);
	ssize_t len = service_read(scratch, watch->group, watch->file);
	struct text text;
	char head[32];

	text_init(&text, head, sizeof(head));
	text_str(&text, len < 0 ? "gone " : "event ");
	text_u64(&text, number);
	if (len >= 0)
		return out_payload(&client->out, head, scratch->buf, (size_t)len);
	watch_drop(watch);
	return out_line(&client->out, head);
}

int watch_push(struct control_client *client, const struct control_service *service)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < CONTROL_WATCHES && !err; i++) {
		struct control_watch *watch = &client->watches[i];

		if (!watch->group || watch->quiet > service->now || !load_acquire(&watch->fired))
			continue;
		/* The mark is taken off before the file is read: what changes later fires again. */
		atomic_xchg(&watch->fired, 0);
		watch->quiet = service->now + control_bounds.quiet_ms * MS_NS;
		err = push(client, watch, service->scratch);
	}
	return err;
}
