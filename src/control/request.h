/* SPDX-License-Identifier: MIT */
/*
 * Requests: one line each, and of a write the value behind it. docs/control.md has the grammar.
 * The parser sees only bytes: no group, no socket.
 */
#ifndef CONTROL_REQUEST_H
#define CONTROL_REQUEST_H

#include "base/compiler.h"

#define REQUEST_LINE_MAX 16640U /* bytes of a line, without its newline: the longest path, and what is before it */
#define REQUEST_VALUE_MAX 4096U /* bytes that a file takes in one write */
#define REQUEST_FILE_MAX 63U    /* bytes of a file's name */
#define REQUEST_MAX (REQUEST_LINE_MAX + 1 + REQUEST_VALUE_MAX)

enum control_verb {
	VERB_READ,  /* read FILE GROUP */
	VERB_WRITE, /* write FILE LENGTH GROUP */
	VERB_WATCH, /* watch FILE GROUP */
	VERB_LIST,  /* list GROUP */
	VERB_TREE,  /* tree GROUP */
	VERB_FILES, /* files GROUP */
	VERB_MKDIR, /* mkdir GROUP */
	VERB_RMDIR, /* rmdir GROUP */
};

struct control_request {
	enum control_verb verb;
	const char *file;  /* ends with a NUL; verbs with FILE only */
	const char *group; /* the path; ends with a NUL */
	const char *value; /* of a write; does not end with a NUL */
	size_t value_len;  /* bytes of it */
};

enum request_state {
	REQUEST_MORE,  /* not whole yet; the buffer is as it was */
	REQUEST_READY, /* parsed; it points into the buffer, where NULs were put */
	REQUEST_WRONG, /* not a request; the next one begins behind it */
	REQUEST_LOST,  /* not a request, and nobody knows where the next one begins */
};

struct request_result {
	enum request_state state;
	size_t used;      /* bytes of the buffer that it took; READY, WRONG */
	int err;          /* negative errno; WRONG, LOST */
	const char *what; /* which part is wrong: "request", "value"; WRONG, LOST */
};

struct request_result request_parse(char *buf, size_t len, struct control_request *request);

#endif
