/* SPDX-License-Identifier: MIT */
/*
 * The other side of docs/control.md: a connection to a process, requests and their answers.
 * Functions that return an exit code have written a line to stderr when it is not 0.
 */
#ifndef MEMCG_CLI_REMOTE_H
#define MEMCG_CLI_REMOTE_H

#include "args.h"
#include <stddef.h>
#include <sys/types.h>

#define REMOTE_PROGRAM 129 /* bytes of a program's name in a greeting */

struct remote {
	const char *command;          /* who asks, for messages */
	int fd;                       /* the connection; -1: none */
	long pid;                     /* of the process */
	char program[REMOTE_PROGRAM]; /* its name, without control characters */
	size_t len;                   /* bytes received */
	size_t at;                    /* of them, those that were looked at */
	char buf[65536];              /* they */
};

enum frame_kind {
	FRAME_OK,    /* the last, or only, piece of an answer. The order is that of their words in remote.c */
	FRAME_MORE,  /* a piece */
	FRAME_ERROR, /* an answer: name and what */
	FRAME_EVENT, /* a push: number and payload */
	FRAME_GONE,  /* the last push: number */
};

struct frame {
	enum frame_kind kind; /* what it is */
	unsigned long number; /* of the watch; EVENT, GONE */
	char name[32];        /* of the errno; ERROR */
	char what[32];        /* part of the request; ERROR */
	char *payload;        /* free() it; ends with a NUL that is not counted. OK, MORE, EVENT */
	size_t len;           /* its bytes */
};

/* An answer as a whole. */
struct answer {
	char *payload; /* free() it; ends with a NUL that is not counted. NULL after an error */
	size_t len;    /* its bytes */
	int error;     /* errno, 0: none */
	char what[32]; /* which part of the request it is about */
};

int remote_open(const struct args *args, struct remote *remote);
void remote_close(struct remote *remote);

/* 0 or a negative errno, without a message: -ETIMEDOUT, -EPIPE for the end, -EPROTO. timeout in ms, -1: none. */
int remote_send(struct remote *remote, const char *bytes, size_t len);
int remote_frame(struct remote *remote, struct frame *frame, int timeout);

/* A request of words; a value may follow. Exit code. */
int remote_ask(struct remote *remote, struct answer *answer, const char *verb, const char *file, const char *group);
int remote_write(struct remote *remote, struct answer *answer, const char *file, const char *group, const char *value);
int remote_lost(const struct remote *remote, int err); /* says why an answer did not come */

/* Connects and reads the greeting. No message; a negative errno: -EPERM not served, -EAGAIN too many, -ETIMEDOUT. */
int connect_path(const char *path, struct remote *remote);

/* find.c: which process. Exit code. */
int find_process(const struct args *args, struct remote *remote);

/* explain.c: an error that a process answered, in words. Always CLI_WRONG. */
int explain(struct remote *remote, const struct answer *answer, const char *group, const char *file, const char *value);

#endif
