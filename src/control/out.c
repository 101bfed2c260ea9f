/* SPDX-License-Identifier: MIT */
/* What waits to be sent to a client. */
#include "control/out.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define OUT_LEAST 4096U
#define LINE_MOST 512U /* of ours: the greeting is the longest */

void out_reset(struct control_out *out)
{
	out->len = 0;
	out->sent = 0;
}

void out_free(struct control_out *out)
{
	char *buf = out->buf;

	store_relaxed(&out->buf, NULL);
	mem_free(buf);
	*out = (struct control_out){ 0 };
}

/* The new block is in place before the old one goes: a fork in between loses one of them and frees none twice. */
static bool grow(struct control_out *out, size_t need)
{
	size_t cap = out->cap ? out->cap : OUT_LEAST;
	char *bigger, *old = out->buf;

	if (need > OUT_MOST)
		return false;
	while (cap < need)
		cap *= 2;
	bigger = mem_zalloc(cap);
	if (!bigger)
		return false;
	if (out->len)
		memcpy(bigger, old, out->len);
	store_relaxed(&out->buf, bigger);
	out->cap = cap;
	mem_free(old);
	return true;
}

char *out_room(struct control_out *out, size_t len)
{
	if (out->len + len > out->cap && !grow(out, out->len + len))
		return NULL;
	return out->buf + out->len;
}

static int append(struct control_out *out, const struct text *line)
{
	char *room = line->len < line->cap ? out_room(out, line->len) : NULL;

	if (!room)
		return -ENOMEM;
	memcpy(room, line->buf, line->len);
	out->len += line->len;
	return 0;
}

int out_line(struct control_out *out, const char *line)
{
	char buf[LINE_MOST];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, line);
	text_char(&text, '\n');
	return append(out, &text);
}

/* Without memory even for this the client learns of it by the end of the connection. */
void out_error(struct control_out *out, int err, const char *what)
{
	const char *name = strerrorname_np(-err);
	char buf[LINE_MOST];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "error ");
	text_str(&text, name ? name : "EIO");
	text_char(&text, ' ');
	text_str(&text, what);
	text_char(&text, '\n');
	(void)append(out, &text);
}

int out_payload(struct control_out *out, const char *head, const char *payload, size_t len)
{
	char buf[LINE_MOST], *room;
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, head);
	text_char(&text, ' ');
	text_u64(&text, len);
	text_char(&text, '\n');
	room = out_room(out, text.len + len);
	if (!room)
		return -ENOMEM;
	memcpy(room, buf, text.len);
	if (len)
		memcpy(room + text.len, payload, len);
	out->len += text.len + len;
	return 0;
}
