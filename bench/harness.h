/* SPDX-License-Identifier: MIT */
/*
 * A bench: options, cases measured in interleaved rounds, ratios reported.
 *
 * An absolute time means nothing on another machine, nor on this one an hour later.
 * What a bench claims are ratios of cases that were measured next to each other.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>

#include "output.h"
#include "pool.h"

#define PAIRS_MIN 7

struct bench_options {
	bool quick;         /* smaller and shorter, for CI */
	bool json;          /* output form */
	bool pin;           /* threads to CPUs where they fit; default true */
	unsigned int pairs; /* 0: the bench's own default */
	const char *libdir; /* where the objects are looked for first; NULL: nowhere special */
	const char *only;   /* one section; NULL: all */
};

struct bench {
	const char *name;         /* first part of the keys */
	struct bench_options opt; /* as given */
	struct output out;        /* stdout */
};

/* What is measured once per round; embedded in what tells how. */
struct bench_case {
	/* One measurement. 0 or a negative errno. */
	int (*take)(struct bench_case *c, struct sample *out);
	const char *name;       /* for diagnostics */
	struct sample *samples; /* one per round */
	unsigned int nr;        /* rounds done */
};

/* Work of a pool for a time. */
struct pool_case {
	struct bench_case base;
	struct pool *pool;
	const struct work *work;
	double seconds;
};

void pool_case_init(struct pool_case *c, const char *name, struct pool *pool, const struct work *work, double seconds);

/*
 * Each round takes every case once: forwards, in the next round backwards, and so on. Thus
 * any two cases are A B B A A B ... and what drifts hits both sides. One round before is
 * thrown away. 0 or a negative errno.
 */
int rounds_run(struct bench_case **cases, unsigned int nr, unsigned int rounds);
void case_release(struct bench_case *c);

double case_median(const struct bench_case *c, enum measure m);
int case_ratio(const struct bench_case *over, const struct bench_case *under, enum measure m, struct estimate *out);

/* case_ratio() printed under a key; nothing where a case was not measured. 0 or a negative errno. */
int report_ratio(struct bench *b, const struct bench_case *over, const struct bench_case *under, enum measure m,
		 const char *key, ...) KEY_FORMAT(5, 6);

bool section_wanted(const struct bench *b, const char *section);
unsigned int bench_pairs(const struct bench *b, unsigned int normal, unsigned int quick);
/* One line on stderr, begun by the bench's name. Returns @err. */
int complain(const struct bench *b, int err, const char *what, ...) __attribute__((format(printf, 3, 4)));

/* The benches: 0 or a negative errno that has been complained about. */
int bench_charge(struct bench *b);
int bench_switch(struct bench *b);
int bench_malloc(struct bench *b);
int bench_stat(struct bench *b);
int bench_flush(struct bench *b);
int bench_control(struct bench *b);

#endif
