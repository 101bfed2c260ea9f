/* SPDX-License-Identifier: MIT */
/*
 * A connection: what it has asked, what waits to be sent to it, what it watches, and until when it must do its part.
 *
 * A client is served by steps: one request, one piece of a walk, one push. None begins before all of the last one's
 * answer was sent, so that who does not read costs nothing more.
 */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include "control/cursor.h"
#include "control/fd.h"
#include "control/out.h"
#include "control/request.h"

#define CONTROL_WATCHES 16U /* of one client */

struct control_watch {
	struct memcg *group;             /* whose file, with a reference; NULL: free */
	struct memcg_listener *listener; /* marks fired, and rings the server's bell */
	char file[REQUEST_FILE_MAX + 1]; /* its name */
	uint64_t quiet;                  /* clock_ns() before which nothing is pushed again */
	uint32_t fired;                  /* 1: a push is due; atomic: set by who changes the file */
};

struct control_client {
	struct control_fd socket;     /* fd -1: this place is free */
	char *in;                     /* REQUEST_MAX bytes; NULL: free */
	size_t in_len;                /* bytes received and not served */
	bool in_partial;              /* they are no whole request */
	bool eof;                     /* it sends nothing more */
	bool closing;                 /* nothing more is served: gone when all is sent */
	uint64_t since;               /* clock_ns() at its last progress: request, or bytes taken */
	uint64_t begun;               /* the same at the first byte of a request that is not whole; 0: none */
	struct control_out out;       /* what waits to be sent */
	struct control_cursor cursor; /* the walk that it is sent */
	struct control_watch watches[CONTROL_WATCHES];
};

/* Times that a client has; tests make them shorter. Of the server's thread alone. */
struct control_bounds {
	unsigned int clients;    /* connections at once, at most CONTROL_CLIENTS */
	unsigned int request_ms; /* for all bytes of a request */
	unsigned int send_ms;    /* to take some of what waits for it */
	unsigned int idle_ms;    /* without a request; who watches is never idle */
	unsigned int quiet_ms;   /* between two pushes of one watch */
	unsigned int look_ms;    /* between two looks whether the server's own descriptors are still there */
};
extern struct control_bounds control_bounds;

#define MS_NS 1000000ULL

/* What all clients of a pass share. */
struct control_service {
	struct control_out *scratch; /* where a file's text, or a piece of a walk, is made */
	uint64_t now;                /* clock_ns() of this pass */
	bool read_only;              /* what would change something is refused */
};

int client_open(struct control_client *client, int fd, uint64_t now); /* takes @fd over; control lock */
void client_close(struct control_client *client);
void client_forget(struct control_client *client); /* in the child of a fork, whose descriptors are closed already */
void client_greet(struct control_client *client);

short client_events(const struct control_client *client);      /* for poll(2) */
uint64_t client_deadline(const struct control_client *client); /* clock_ns() when it must be looked at; 0: now */
void client_turn(struct control_client *client, const struct control_service *service, short revents);

/* execute.c: one request; the answer is in out. Negative errno: no memory for it. */
int client_execute(struct control_client *client, const struct control_service *service,
		   const struct control_request *request);

/* watch.c */
int watch_add(struct control_client *client, struct memcg *group,
	      const char *file); /* its number; takes the reference */
bool watch_any(const struct control_client *client);
uint64_t watch_deadline(const struct control_client *client); /* when a push may be made; UINT64_MAX: none is due */
int watch_push(struct control_client *client, const struct control_service *service); /* what is due; negative errno */
void watch_end(struct control_client *client);

/* A file's text, in @scratch: its length; negative errno. */
ssize_t service_read(struct control_out *scratch, struct memcg *group, const char *file);

#endif
