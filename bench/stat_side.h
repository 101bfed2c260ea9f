/* SPDX-License-Identifier: MIT */
/*
 * The library with its internals, as memcg-bench stat and flush load it: one object that has libmemcg's sources and
 * these functions in it. Loaded twice it is two libraries, which can be started differently.
 */
#ifndef BENCH_STAT_SIDE_H
#define BENCH_STAT_SIDE_H

#include <memcg/memcg.h>
#include <stdbool.h>

#define STAT_SIDE_SYMBOL "memcg_bench_stat_side"

struct side_options {
	unsigned int nr_cpus; /* configured, reached by turns; 0: the machine's, by sequences */
	bool v1;              /* with the group-wide local arrays */
	unsigned int groups;  /* that work */
	unsigned int idle;    /* that do not */
};

struct side_ticks {
	double whole;     /* of a flush, a group */
	double aggregate; /* of that, in the items of the whole group */
	double items;     /* that had changed, a group */
	double flush;     /* of the flush from outside, by the clock, in ns */
};

struct stat_side {
	int (*start)(const struct side_options *options);                                   /* 0 or a negative errno */
	struct memcg *(*leaf)(unsigned int nr);                                             /* on the fourth level */
	void (*update)(struct memcg *group, unsigned int node, unsigned int item, long nr); /* with all bookkeeping */
	void (*rseq_add)(char *value, long nr);                                             /* one sequence, one add */
	char *(*value)(void);                                                               /* to add to */
	void (*flush)(void);                                                                /* of the root */
	/* The same for the same @seed: @events updates of @items kinds, on random groups and CPUs; then a flush. */
	void (*sample)(unsigned int seed, unsigned int events, unsigned int items, struct side_ticks *out);
};

#endif
