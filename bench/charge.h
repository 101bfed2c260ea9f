/* SPDX-License-Identifier: MIT */
/* What the parts of bench charge share: pairs of calls on a subject. */
#ifndef BENCH_CHARGE_H
#define BENCH_CHARGE_H

#include "subject.h"

#define CHUNK 4096 /* pairs between two looks at the clock */

/* Charge and uncharge @nr_pages, again and again. */
struct pair_work {
	struct work work;            /* first */
	const struct subject *s;     /* whose functions */
	struct memcg *const *groups; /* per worker, or one */
	bool own;                    /* a group each */
	unsigned long nr_pages;      /* per call */
};

void pair_work_init(struct pair_work *w, const struct subject *s, struct memcg *const *groups, bool own);

/* The loop itself: 0, or something else when a charge was refused. */
int call_pairs(const struct subject *s, struct memcg *group, unsigned long nr_pages, unsigned long pairs);

/* Sections; 0 or a negative errno that was complained about. */
int charge_edge(struct bench *b, const struct subject *s);
int charge_inline(struct bench *b);

#endif
