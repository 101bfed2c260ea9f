/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench flush: what a flush costs, and what the group-wide local arrays cost it (S4).
 *
 * 80 configured CPUs, 500 groups. Two instances of the library do the same work, one with the files of v1, one without;
 * then each flushes, in turn first. Ticks are of the time stamp counter, for one group's turn in a flush; those of the
 * counter's own reading are in both.
 *
 *   reader   flushes come often, as when memory.stat is read in a loop: one or two items have changed
 *   worker   as when only the 2 s flush comes: many have
 *   idle     500 groups that work among 100,000 that do not, over 500 alone
 */
#include <errno.h>
#include <stdlib.h>

#include "stat_open.h"

#define CPUS 80
#define GROUPS 500
#define IDLE 100000

enum {
	KEPT,
	SKIPPED
};

struct flush_bench {
	struct bench *b;
	const struct stat_side *sides[2];
	unsigned int samples;
	double *values[2][4]; /* by side: whole, aggregate, items, flush */
};

static int values_alloc(struct flush_bench *fb)
{
	int side, what;

	for (side = 0; side < 2; side++) {
		for (what = 0; what < 4; what++) {
			fb->values[side][what] = calloc(fb->samples, sizeof(double));
			if (!fb->values[side][what])
				return -ENOMEM;
		}
	}
	return 0;
}

static void values_free(struct flush_bench *fb)
{
	int side, what;

	for (side = 0; side < 2; side++) {
		for (what = 0; what < 4; what++)
			free(fb->values[side][what]);
	}
}

/* A B B A ...; the first few are thrown away. */
static void take(struct flush_bench *fb, unsigned int events, unsigned int items)
{
	const unsigned int warm_up = 5;
	unsigned int i, k;

	for (i = 0; i < fb->samples + warm_up; i++) {
		for (k = 0; k < 2; k++) {
			unsigned int side = (i + k) & 1;
			struct side_ticks ticks;

			fb->sides[side]->sample(i + 1, events, items, &ticks);
			if (i < warm_up)
				continue;
			fb->values[side][0][i - warm_up] = ticks.whole;
			fb->values[side][1][i - warm_up] = ticks.aggregate;
			fb->values[side][2][i - warm_up] = ticks.items;
			fb->values[side][3][i - warm_up] = ticks.flush;
		}
	}
}

static int ratio(struct flush_bench *fb, int over, int under, int what, const char *key, const char *regime)
{
	struct estimate e;
	int err = stats_ratio(fb->values[over][what], fb->values[under][what], fb->samples, &e);

	if (!err)
		output_estimate(&fb->b->out, &e, key, regime);
	return err;
}

static int regime(struct flush_bench *fb, const char *name, unsigned int events, unsigned int items)
{
	int err;

	if (!section_wanted(fb->b, name))
		return 0;
	take(fb, events, items);
	err = ratio(fb, SKIPPED, KEPT, 1, "flush.%s.ratio.aggregate.skipped_over_kept", name);
	if (!err)
		err = ratio(fb, SKIPPED, KEPT, 0, "flush.%s.ratio.whole.skipped_over_kept", name);
	output_real(&fb->b->out, stats_median(fb->values[KEPT][2], fb->samples), "flush.%s.items_changed_median", name);
	output_real(&fb->b->out, stats_median(fb->values[KEPT][1], fb->samples), "flush.%s.ticks.aggregate.kept", name);
	output_real(&fb->b->out, stats_median(fb->values[KEPT][0], fb->samples), "flush.%s.ticks.whole.kept", name);
	return err;
}

static int local_arrays(struct bench *b)
{
	const struct side_options kept = { .nr_cpus = CPUS, .v1 = true, .groups = GROUPS };
	const struct side_options skipped = { .nr_cpus = CPUS, .groups = GROUPS };
	struct flush_bench fb = { .b = b, .samples = bench_pairs(b, 301, 71) };
	int err = stat_side_open(b, false, &kept, &fb.sides[KEPT]);

	if (!err)
		err = stat_side_open(b, true, &skipped, &fb.sides[SKIPPED]);
	if (!err)
		err = values_alloc(&fb);
	if (!err)
		err = regime(&fb, "reader", 100, 2);
	if (!err)
		err = regime(&fb, "worker", 4000, 12);
	values_free(&fb);
	return err;
}

static int idle_groups(struct bench *b)
{
	const struct side_options none = { .nr_cpus = CPUS, .groups = GROUPS };
	const struct side_options many = { .nr_cpus = CPUS, .groups = GROUPS, .idle = IDLE };
	struct flush_bench fb = { .b = b, .samples = bench_pairs(b, 101, 31) };
	int err = stat_side_open(b, true, &none, &fb.sides[0]);

	if (!err)
		err = stat_side_open(b, true, &many, &fb.sides[1]);
	if (!err)
		err = values_alloc(&fb);
	if (!err) {
		take(&fb, 4000, 12);
		err = ratio(&fb, 1, 0, 3, "flush.ratio.100k_idle_groups_over_none%s", "");
	}
	values_free(&fb);
	return err;
}

int bench_flush(struct bench *b)
{
	int err = 0;

	if (section_wanted(b, "reader") || section_wanted(b, "worker"))
		err = local_arrays(b);
	if (!err && section_wanted(b, "idle"))
		err = idle_groups(b);
	return err;
}
