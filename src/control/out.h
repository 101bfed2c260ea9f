/* SPDX-License-Identifier: MIT */
/*
 * What waits to be sent to a client, framed: "ok LENGTH", "more LENGTH", "event ID LENGTH" and their payload, or
 * "error ERRNO WHAT". A payload is appended first, its header is put before it when its length is known.
 */
#ifndef CONTROL_OUT_H
#define CONTROL_OUT_H

#include "base/text.h"

#define OUT_MOST ((size_t)1 << 20) /* bytes that wait for one client; a file that is longer is -EFBIG */

struct control_out {
	char *buf;   /* NULL: nothing was ever sent; the server's own memory */
	size_t cap;  /* its size */
	size_t len;  /* bytes in it */
	size_t sent; /* of them; len == sent: nothing waits */
};

static inline bool out_empty(const struct control_out *out)
{
	return out->len == out->sent;
}

void out_reset(struct control_out *out);                 /* all was sent */
void out_free(struct control_out *out);                  /* gives the memory back */
char *out_room(struct control_out *out, size_t len);     /* where @len more bytes fit; NULL: no memory, or too much */
int out_line(struct control_out *out, const char *line); /* as it is, and a newline. Negative errno */
void out_error(struct control_out *out, int err, const char *what);
int out_payload(struct control_out *out, const char *head, const char *payload, size_t len); /* "HEAD LENGTH" and it */

#endif
