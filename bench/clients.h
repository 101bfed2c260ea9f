/* SPDX-License-Identifier: MIT */
/*
 * Processes beside the bench, which ask its control socket without a pause, or only burn as much CPU.
 *
 * They are started before the bench has threads, and do as they are told from then on.
 */
#ifndef BENCH_CLIENTS_H
#define BENCH_CLIENTS_H

#define CLIENTS 8

enum client_mode {
	CLIENT_IDLE,
	CLIENT_HAMMER, /* request after request */
	CLIENT_BURN,   /* a share of a CPU, in pieces of a millisecond */
};

struct clients {
	int pids[CLIENTS]; /* they */
	int ends[CLIENTS]; /* our ends of what they are told by */
};

/* What they did since they were told before. */
struct clients_done {
	double cpu_ns;          /* CPU time of all of them */
	unsigned long requests; /* that were answered */
};

/* 0 or a negative errno. The requests are lists of lines, one for each client, each ended by NULL. */
int clients_start(struct clients *clients, const char *const *const *requests);
void clients_end(struct clients *clients);

/* All of them, at once. @path: of the socket; @share: of a CPU, for each. */
int clients_tell(struct clients *clients, enum client_mode mode, const char *path, double share,
		 struct clients_done *done);

#endif
