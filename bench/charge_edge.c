/* SPDX-License-Identifier: MIT */
/*
 * The edge of a stock: charges that do not fit it, uncharges that overflow it.
 *
 * HIGH and LOW are found by behaviour: pages are uncharged one by one, and usage
 * stands still while the stock takes them, until it falls by HIGH + 1 - LOW. What a
 * stock holds is usage minus what is charged, so each slice begins with a fill that
 * was set and checked. One thread, pinned, or other CPUs' stocks would count too.
 *
 *   swing   a pages charged one by one, then uncharged one by one, begun at LOW, for a = HIGH/2 + 1,
 *           HIGH + 1 (the least that must cross an edge) and 2 HIGH + 1; over the same loop
 *           with a = HIGH/2 begun at HIGH, which crosses none. The worst of the first two counts.
 *   worst   pairs of n = 1, 32, 63, 64 pages, charge first or uncharge first, begun at 0, LOW
 *           and HIGH; over pairs of 1 page begun at HIGH/2. The worst of the 24 counts.
 */
#include "charge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELD 4096 /* pages charged at once, so that no stock takes part: what uncharges live on */

struct edge_work {
	struct work work;        /* first */
	const struct subject *s; /* whose functions */
	struct memcg *group;     /* of all cases: a budget may not let many stocks be full */
	long *live;              /* pages charged to it now; by the worker */
	long fill;               /* of the stock when a slice begins */
	unsigned long nr_pages;  /* per call; with a swing 1 */
	unsigned long swing;     /* calls one way before it turns; 0: pairs */
	bool uncharge_first;     /* order within a pair */
};

/* One page at a time, which no stock passes by. */
static long set_fill(const struct edge_work *w)
{
	long fill = subject_usage(w->s, w->group) - *w->live;

	for (; fill > w->fill; fill--) {
		if (w->s->charge(w->group, 1, 0))
			return -ENOMEM;
		++*w->live;
	}
	for (; fill >= 0 && fill < w->fill; fill++) {
		w->s->uncharge(w->group, 1);
		--*w->live;
	}
	return subject_usage(w->s, w->group) - *w->live;
}

static int prepare_edge(const struct work *work, unsigned int worker)
{
	const struct edge_work *w = (const struct edge_work *)work;
	long fill = set_fill(w);

	(void)worker;
	if (fill != w->fill)
		fill = set_fill(w); /* the stock had to grow first */
	return fill == w->fill ? 0 : -EAGAIN;
}

/* As call_pairs(), the other way round: what the loops cost besides is the same. */
static __attribute__((noinline)) int uncharge_charge(const struct subject *s, struct memcg *group,
						     unsigned long nr_pages, unsigned long pairs)
{
	__typeof__(s->charge) charge = s->charge;
	__typeof__(s->uncharge) uncharge = s->uncharge;
	int err = 0;

	for (; pairs; pairs--) {
		uncharge(group, nr_pages);
		err |= charge(group, nr_pages, 0);
	}
	return err;
}

static __attribute__((noinline)) int swing(const struct subject *s, struct memcg *group, unsigned long reach,
					   unsigned long pairs)
{
	__typeof__(s->charge) charge = s->charge;
	__typeof__(s->uncharge) uncharge = s->uncharge;
	unsigned long i;
	int err = 0;

	for (; pairs; pairs -= reach) {
		for (i = reach; i; i--)
			err |= charge(group, 1, 0);
		for (i = reach; i; i--)
			uncharge(group, 1);
	}
	return err;
}

static int run_edge(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct edge_work *w = (const struct edge_work *)work;
	int err;

	(void)worker;
	if (w->swing)
		err = swing(w->s, w->group, w->swing, ops);
	else if (w->uncharge_first)
		err = uncharge_charge(w->s, w->group, w->nr_pages, ops);
	else
		err = call_pairs(w->s, w->group, w->nr_pages, ops);
	return err ? -ENOMEM : 0;
}

struct marks {
	long high; /* pages that a stock can hold */
	long low;  /* pages that it is trimmed to */
};

struct marks_work {
	struct work work;        /* first */
	const struct subject *s; /* whose functions */
	struct memcg *group;     /* fresh */
	struct marks *marks;     /* result */
	long *live;              /* result: pages charged to it */
};

/* Run as a slice, so that all of it happens on one CPU. */
static int find_marks(const struct work *work, unsigned int worker)
{
	const struct marks_work *w = (const struct marks_work *)work;
	long usage;

	(void)worker;
	if (w->s->charge(w->group, HELD, 0))
		return -ENOMEM;
	usage = subject_usage(w->s, w->group);
	if (usage != HELD)
		return usage < 0 ? (int)usage : -EPROTO;
	for (*w->live = HELD; *w->live > HELD / 2 && usage == HELD; --*w->live) {
		w->s->uncharge(w->group, 1);
		usage = subject_usage(w->s, w->group);
	}
	w->marks->low = usage - *w->live;
	w->marks->high = w->marks->low + HELD - usage - 1;
	return usage < HELD ? 0 : -EPROTO;
}

static int no_work(const struct work *work, unsigned int worker, unsigned long ops)
{
	(void)work;
	(void)worker;
	(void)ops;
	return 0;
}

#define NR_SWINGS 3
#define NR_PAIRS 24
#define PAIRS (1 + NR_SWINGS) /* where the pairs begin, their baseline first */
#define NR_CASES (PAIRS + 1 + NR_PAIRS)

struct edge_bench {
	struct bench *b;
	struct pool *pool;                /* one thread */
	struct memcg *group;              /* of all cases */
	long live;                        /* pages charged to it */
	struct marks marks;               /* found */
	struct edge_work works[NR_CASES]; /* swings, pairs, each after their baseline */
	struct pool_case cases[NR_CASES]; /* of the works */
	char names[NR_CASES][48];         /* of the cases */
};

static void add(struct edge_bench *e, unsigned int i, struct edge_work w, double seconds)
{
	w.work = (struct work){ .prepare = prepare_edge, .run = run_edge, .chunk = CHUNK };
	if (w.swing)
		w.work.chunk = CHUNK / w.swing * w.swing;
	w.group = e->group;
	w.live = &e->live;
	e->works[i] = w;
	pool_case_init(&e->cases[i], e->names[i], e->pool, &e->works[i].work, seconds);
}

static void list_swings(struct edge_bench *e, const struct subject *s, double seconds)
{
	const unsigned long high = (unsigned long)e->marks.high,
			    reach[NR_SWINGS] = { high / 2 + 1, high + 1, 2 * high + 1 };
	unsigned int n;

	strcpy(e->names[0], "swing_in_stock");
	add(e, 0, (struct edge_work){ .s = s, .nr_pages = 1, .fill = e->marks.high, .swing = high / 2 }, seconds);
	for (n = 0; n < NR_SWINGS; n++) {
		snprintf(e->names[1 + n], sizeof(e->names[0]), "swing%lu", reach[n]);
		add(e, 1 + n, (struct edge_work){ .s = s, .nr_pages = 1, .fill = e->marks.low, .swing = reach[n] },
		    seconds);
	}
}

static void list_pairs(struct edge_bench *e, const struct subject *s, double seconds)
{
	static const unsigned long sizes[] = { 1, 32, 63, 64 };
	const long fills[] = { 0, e->marks.low, e->marks.high };
	unsigned int i = PAIRS, n;

	strcpy(e->names[i], "in_stock");
	add(e, i++, (struct edge_work){ .s = s, .nr_pages = 1, .fill = e->marks.high / 2 }, seconds);
	for (n = 0; n < NR_PAIRS; n++, i++) {
		struct edge_work w = { .s = s,
				       .nr_pages = sizes[n / 6],
				       .fill = fills[n / 2 % 3],
				       .uncharge_first = n & 1 };

		snprintf(e->names[i], sizeof(e->names[i]), "n%lu_from%ld%s", w.nr_pages, w.fill,
			 w.uncharge_first ? "_uncharge_first" : "");
		add(e, i, w, seconds);
	}
}

/* The worst of @nr cases over the one before them. */
static int report_worst(struct edge_bench *e, unsigned int baseline, unsigned int nr, const char *key)
{
	struct estimate worst = { 0 }, one;
	unsigned int i, which = baseline;
	int err;

	for (i = baseline + 1; i <= baseline + nr; i++) {
		err = case_ratio(&e->cases[i].base, &e->cases[baseline].base, CPU_NS, &one);
		if (err)
			return err;
		/* Beyond the whole stock it is not the edge that costs but the counters: shown, not counted. */
		if (one.median > worst.median && !(nr == NR_SWINGS && i == baseline + nr)) {
			worst = one;
			which = i;
		}
		if (nr == NR_SWINGS)
			output_estimate(&e->b->out, &one, "charge.ratio.edge_over_instock.%s", e->names[i]);
	}
	output_estimate(&e->b->out, &worst, "charge.ratio.edge_over_instock.%s", key);
	output_text(&e->b->out, e->names[which], "charge.edge.%s_case", key);
	output_real(&e->b->out, case_median(&e->cases[baseline].base, CPU_NS), "charge.ns.edge.%s", e->names[baseline]);
	return 0;
}

static int measure(struct edge_bench *e, const struct subject *s)
{
	struct marks_work search = { { find_marks, no_work, 1 }, s, e->group, &e->marks, &e->live };
	struct bench_case *list[NR_CASES];
	struct sample ignored;
	unsigned int i;
	int err = pool_slice(e->pool, &search.work, 0, &ignored);

	if (err)
		return complain(e->b, err, "marks of the stock");
	output_count(&e->b->out, (unsigned long)e->marks.high, "charge.edge.high");
	output_count(&e->b->out, (unsigned long)e->marks.low, "charge.edge.low");
	list_swings(e, s, e->b->opt.quick ? 0.002 : 0.005);
	list_pairs(e, s, e->b->opt.quick ? 0.002 : 0.005);
	for (i = 0; i < NR_CASES; i++)
		list[i] = &e->cases[i].base;
	err = rounds_run(list, NR_CASES, bench_pairs(e->b, 31, 15));
	if (err)
		return complain(e->b, err, "edge");
	err = report_worst(e, 0, NR_SWINGS, "swing");
	return err ? err : report_worst(e, PAIRS, NR_PAIRS, "worst");
}

int charge_edge(struct bench *b, const struct subject *s)
{
	static struct edge_bench e;
	unsigned int i;
	int err;

	e.b = b;
	err = pool_open(1, true, &e.pool);
	if (err)
		return complain(b, err, "thread");
	err = subject_leaves(b, s, 1, &e.group);
	if (!err)
		err = measure(&e, s);
	for (i = 0; i < NR_CASES; i++)
		case_release(&e.cases[i].base);
	pool_close(e.pool);
	return err;
}
