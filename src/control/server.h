/* SPDX-License-Identifier: MIT */
/*
 * The server: one listener, its clients, and the passes that serve them. One thread at a time is in a pass: the
 * library's, or who ticks.
 */
#ifndef CONTROL_SERVER_H
#define CONTROL_SERVER_H

#include <limits.h>
#include <sys/un.h>

#include "control/client.h"

#define CONTROL_CLIENTS 64U /* most that control_bounds.clients may be */
#define CONTROL_PROTOCOL 1  /* in the greeting; a change that old clients do not understand makes it another */

/* place.c: the socket's name. */
struct control_place {
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": none */
	pid_t pid;                                                 /* of the process that made it */
	dev_t dev;                                                 /* of the file, which others may have replaced */
	ino_t ino;                                                 /* the same */
};

int place_choose(struct control_place *place, const char *wanted); /* a path that can be used; negative errno */
int place_listen(struct control_place *place);                     /* a listening socket there; negative errno */
void place_unlink(const struct control_place *place);              /* context: fast; by that process only */

/*
 * The control lock: what the server holds, where fork and stop look. Held over system calls that make or close
 * a descriptor, never over one that waits, nor over a call of the library.
 */
void server_lock(void);
void server_unlock(void);
void server_unlock_child(void); /* in the child of a fork */

/* server.c. All but server_ring() in the server's thread, or while there is none. */
int server_open(struct control_place *place, bool read_only, bool waits); /* listens; control lock */
void server_close(void);                                                  /* listener and clients */
void server_pass(bool wait); /* serves what is ready; waits for something if asked to */
void server_ring(void);      /* ends the wait of a pass; thread context, no lock held */
void server_drop_fds(void);  /* closes them and no more; control lock */
void server_forget(void);    /* in the child of a fork, after that: frees what was the parent's */

extern uid_t (*server_user)(void); /* who may connect, besides root; tests replace it */

#endif
