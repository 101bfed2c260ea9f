/* SPDX-License-Identifier: MIT */
/*
 * What a bench prints: key=value lines on stdout as they are known, or the same
 * keys as one flat JSON object at the end. Everything else goes to stderr.
 */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "stats.h"

#define KEY_FORMAT(a, b) __attribute__((format(printf, a, b)))

struct output {
	FILE *to;  /* stdout */
	bool json; /* one object instead of lines */
	bool any;  /* a member was written: the next needs a comma */
};

void output_begin(struct output *out, FILE *to, bool json);
/* 0, or a negative errno when something could not be written. */
int output_end(struct output *out);

void output_real(struct output *out, double value, const char *key, ...) KEY_FORMAT(3, 4);
void output_count(struct output *out, unsigned long value, const char *key, ...) KEY_FORMAT(3, 4);
void output_text(struct output *out, const char *value, const char *key, ...) KEY_FORMAT(3, 4);
/* Three members: the key, key.ci_low, key.ci_high. */
void output_estimate(struct output *out, const struct estimate *e, const char *key, ...) KEY_FORMAT(3, 4);

#endif
