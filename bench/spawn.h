/* SPDX-License-Identifier: MIT */
/* A program run to its end, with or without libmemcg-malloc.so in front of its malloc. */
#ifndef BENCH_SPAWN_H
#define BENCH_SPAWN_H

#include <stddef.h>

struct spawn {
	const char *const *argv; /* ended by NULL; [0] is looked up in PATH */
	const char *preload;     /* path for LD_PRELOAD; NULL: as inherited */
	const char *env;         /* one more NAME=VALUE, or NULL */
	int input;               /* descriptor for its stdin, read from its beginning; -1: nothing */
	char *output;            /* receives the start of its stdout, ended by NUL; NULL: thrown away */
	size_t output_len;
	double cpu_seconds; /* result: user + system, its children that it waited for included */
};

/* 0; a negative errno; -ECHILD when it did not exit with 0. */
int spawn_run(struct spawn *s);

#endif
