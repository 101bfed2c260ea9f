/* SPDX-License-Identifier: MIT */
/* Whole programs that allocate much, with an input for each. */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include "harness.h"

struct program {
	const char *argv[5]; /* ended by NULL */
	const char *env;     /* NAME=VALUE, or NULL */
	int input;           /* its stdin */
	char path[512];      /* of the interpreter, where argv[0] is not a constant */
};

/* "sqlite", "python" or "lua". 0; -ENOENT when it is not installed; another negative errno. */
int program_find(const struct bench *b, const char *name, struct program *p);
void program_release(struct program *p);

#endif
