/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench charge: a page is charged and uncharged at the leaf of a tree of four levels.
 *
 * All subjects take turns within one process, called the same way. One thread; two
 * threads on one leaf; two threads on a leaf each against one; 64 threads against two.
 */
#include "charge.h"

#include <errno.h>
#include <string.h>

#define MANY 64

__attribute__((noinline)) int call_pairs(const struct subject *s, struct memcg *group, unsigned long nr_pages,
					 unsigned long pairs)
{
	__typeof__(s->charge) charge = s->charge;
	__typeof__(s->uncharge) uncharge = s->uncharge;
	int err = 0;

	for (; pairs; pairs--) {
		err |= charge(group, nr_pages, 0);
		uncharge(group, nr_pages);
	}
	return err;
}

static int run_pairs(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct pair_work *w = (const struct pair_work *)work;

	return call_pairs(w->s, w->groups[w->own ? worker : 0], w->nr_pages, ops) ? -ENOMEM : 0;
}

void pair_work_init(struct pair_work *w, const struct subject *s, struct memcg *const *groups, bool own)
{
	*w = (struct pair_work){
		.work = { .run = run_pairs, .chunk = CHUNK },
		.s = s,
		.groups = groups,
		.own = own,
		.nr_pages = 1,
	};
}

struct charge_bench {
	struct bench *b;
	struct subject subjects[NR_COMPARED];
	struct memcg *leaves[NR_COMPARED][MANY]; /* peers: one */
	struct pool *pools[3];                   /* 1, 2 and MANY threads */
};

static bool available(const struct charge_bench *c, unsigned int i)
{
	return c->subjects[i].object;
}

static int open_subjects(struct charge_bench *c)
{
	unsigned int i, leaves;
	int err;

	for (i = 0; i < NR_COMPARED; i++) {
		err = subject_open(c->b, i, &c->subjects[i]);
		if (err == -ENOENT && i != SUBJECT_MEMCG)
			continue;
		if (err)
			return err == -ENOENT ? complain(c->b, err, "libmemcg.so") : err;
		leaves = i == SUBJECT_MEMCG ? MANY : 1;
		err = subject_leaves(c->b, &c->subjects[i], leaves, c->leaves[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Threads that wait for a mutex sleep, which CPU time does not show. */
static enum measure measure_of(enum subject_id id, const char *threads)
{
	return id == SUBJECT_MUTEX_TREE && strcmp(threads, "1t") != 0 ? WALL_NS : CPU_NS;
}

static void report_subjects(struct charge_bench *c, const struct pool_case *cases, const char *threads)
{
	static const struct {
		enum subject_id over, under;
	} ratios[] = {
		{ SUBJECT_MEMCG, SUBJECT_THREAD_STOCK },   { SUBJECT_MEMCG, SUBJECT_ATOMIC_TREE },
		{ SUBJECT_MEMCG, SUBJECT_MUTEX_TREE },     { SUBJECT_MEMCG, SUBJECT_EMPTY },
		{ SUBJECT_MEMCG, SUBJECT_LOCKED },         { SUBJECT_MEMCG, SUBJECT_DEFERRED },
		{ SUBJECT_LOCKED, SUBJECT_ATOMIC_TREE },   { SUBJECT_DEFERRED, SUBJECT_ATOMIC_TREE },
		{ SUBJECT_PORTABLE, SUBJECT_ATOMIC_TREE }, { SUBJECT_THREAD_STOCK, SUBJECT_ATOMIC_TREE },
	};
	unsigned int i;

	for (i = 0; i < sizeof(ratios) / sizeof(*ratios); i++)
		report_ratio(c->b, &cases[ratios[i].over].base, &cases[ratios[i].under].base,
			     measure_of(ratios[i].under, threads), "charge.ratio.%s_over_%s.%s",
			     subject_name(ratios[i].over), subject_name(ratios[i].under), threads);
	for (i = 0; i < NR_COMPARED; i++)
		if (available(c, i))
			output_real(&c->b->out, case_median(&cases[i].base, measure_of(i, threads)), "charge.ns.%s.%s",
				    subject_name(i), threads);
}

/* All subjects, one leaf for all threads. */
static int compare_subjects(struct charge_bench *c, struct pool *pool, const char *threads, double seconds)
{
	struct pair_work works[NR_COMPARED];
	struct pool_case cases[NR_COMPARED];
	struct bench_case *list[NR_COMPARED];
	unsigned int i, nr = 0;
	int err;

	for (i = 0; i < NR_COMPARED; i++) {
		pair_work_init(&works[i], &c->subjects[i], c->leaves[i], false);
		pool_case_init(&cases[i], subject_name(i), pool, &works[i].work, seconds);
		if (available(c, i))
			list[nr++] = &cases[i].base;
	}
	err = rounds_run(list, nr, bench_pairs(c->b, 41, 15));
	if (err)
		complain(c->b, err, "subjects with %s", threads);
	else
		report_subjects(c, cases, threads);
	for (i = 0; i < NR_COMPARED; i++)
		case_release(&cases[i].base);
	return err;
}

/* The library with two threads that have a leaf each, against one thread. */
static int own_leaves(struct charge_bench *c, double seconds)
{
	struct pair_work work;
	struct pool_case one, two;
	struct bench_case *list[] = { &two.base, &one.base };
	int err;

	pair_work_init(&work, &c->subjects[SUBJECT_MEMCG], c->leaves[SUBJECT_MEMCG], true);
	pool_case_init(&one, "1t", c->pools[0], &work.work, seconds);
	pool_case_init(&two, "2t own leaves", c->pools[1], &work.work, seconds);
	err = rounds_run(list, 2, bench_pairs(c->b, 41, 15));
	if (err)
		complain(c->b, err, "own leaves");
	else
		report_ratio(c->b, &two.base, &one.base, CPU_NS, "charge.ratio.2t_over_1t");
	case_release(&one.base);
	case_release(&two.base);
	return err;
}

/*
 * Throughput of 64 threads over that of two, by CPU time: with more threads than CPUs,
 * wall time measures the share that other programs leave. The wall time's ratio and the
 * share that was used stand beside it, for CPU time does not show who sleeps.
 */
static int many_threads(struct charge_bench *c, bool own, double seconds)
{
	const char *which = own ? "own" : "same";
	struct pair_work work;
	struct pool_case many, two;
	struct bench_case *list[] = { &many.base, &two.base };
	int err;

	pair_work_init(&work, &c->subjects[SUBJECT_MEMCG], c->leaves[SUBJECT_MEMCG], own);
	pool_case_init(&many, "64t", c->pools[2], &work.work, seconds);
	pool_case_init(&two, "2t", c->pools[1], &work.work, seconds);
	err = rounds_run(list, 2, bench_pairs(c->b, 11, PAIRS_MIN));
	if (err) {
		complain(c->b, err, "64 threads");
	} else {
		report_ratio(c->b, &many.base, &two.base, CPU_RATE, "charge.ratio.64t_over_2t.%s", which);
		report_ratio(c->b, &many.base, &two.base, WALL_RATE, "charge.ratio.64t_over_2t.%s_wall", which);
		output_real(&c->b->out, case_median(&many.base, CPU_SHARE), "charge.cpu_share.64t.%s", which);
	}
	case_release(&many.base);
	case_release(&two.base);
	return err;
}

static int open_pools(struct charge_bench *c)
{
	static const unsigned int threads[] = { 1, 2, MANY };
	unsigned int i;
	int err;

	for (i = 0; i < 3; i++) {
		err = pool_open(threads[i], c->b->opt.pin, &c->pools[i]);
		if (err)
			return complain(c->b, err, "threads");
	}
	if (pool_cpus() < 2)
		fprintf(stderr, "memcg-bench charge: one CPU: figures for 2 threads show its scheduler only\n");
	return 0;
}

int bench_charge(struct bench *b)
{
	static struct charge_bench c;
	double scale = b->opt.quick ? 0.5 : 1;
	int err;

	c.b = b;
	err = open_subjects(&c);
	if (!err)
		err = open_pools(&c);
	if (!err && section_wanted(b, "1t"))
		err = compare_subjects(&c, c.pools[0], "1t", 0.01 * scale);
	if (!err && section_wanted(b, "2t"))
		err = compare_subjects(&c, c.pools[1], "2t", 0.02 * scale);
	if (!err && section_wanted(b, "own"))
		err = own_leaves(&c, 0.02 * scale);
	if (!err && section_wanted(b, "64t"))
		err = many_threads(&c, false, 0.5 * scale);
	if (!err && section_wanted(b, "64t"))
		err = many_threads(&c, true, 0.5 * scale);
	if (!err && section_wanted(b, "edge"))
		err = charge_edge(b, &c.subjects[SUBJECT_MEMCG]);
	if (!err && section_wanted(b, "inline"))
		err = charge_inline(b);
	return err;
}
