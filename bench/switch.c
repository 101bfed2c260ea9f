/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench switch: a thread works for many groups in turn.
 *
 * One operation: enter a group, charge a page to the current one, uncharge it, leave;
 * then the next group. A server thread does so per request. Stocks with few slots fall
 * off a cliff when there are more groups; the bound below tells what having more costs.
 */
#include "subject.h"

#include <errno.h>
#include <string.h>

#define MANY 50
#define CROWD 512 /* groups that try to strand pages on one CPU */
#define HELD 1024 /* pages that each of them charges at once */
#define FREED 256 /* and uncharges one by one */
#define CHUNK 2048

struct switch_work {
	struct work work;            /* first */
	const struct subject *s;     /* whose functions */
	struct memcg *const *groups; /* visited in turn, by each thread for itself */
	unsigned int nr;             /* how many */
};

static int run_entered(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct switch_work *w = (const struct switch_work *)work;
	const struct subject *s = w->s;
	unsigned int i = 0;
	int err = 0;

	(void)worker;
	for (; ops; ops--) {
		struct memcg *previous = s->enter(w->groups[i]);

		err |= s->charge(NULL, 1, 0);
		s->uncharge(w->groups[i], 1);
		s->leave(previous);
		if (++i == w->nr)
			i = 0;
	}
	return err ? -ENOMEM : 0;
}

/* Peers have no current group: what they save is in their favour. */
static int run_named(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct switch_work *w = (const struct switch_work *)work;
	const struct subject *s = w->s;
	unsigned int i = 0;
	int err = 0;

	(void)worker;
	for (; ops; ops--) {
		err |= s->charge(w->groups[i], 1, 0);
		s->uncharge(w->groups[i], 1);
		if (++i == w->nr)
			i = 0;
	}
	return err ? -ENOMEM : 0;
}

struct switch_bench {
	struct bench *b;
	struct pool *pools[2]; /* one and two threads */
};

static struct switch_work work_for(const struct subject *s, struct memcg *const *groups, unsigned int nr)
{
	return (struct switch_work){
		.work = { .run = s->enter && s->leave ? run_entered : run_named, .chunk = CHUNK },
		.s = s,
		.groups = groups,
		.nr = nr,
	};
}

static void report(struct bench *b, const struct pool_case *cases, const char *suffix, bool two)
{
	const char *threads = two ? "2t" : "1t";

	report_ratio(b, &cases[1].base, &cases[0].base, CPU_NS,
		     two ? "switch.ratio.7groups_over_1.2t%s" : "switch.ratio.7groups_over_1%s", suffix);
	report_ratio(b, &cases[2].base, &cases[0].base, CPU_NS, "switch.ratio.50groups_over_1.%s%s", threads, suffix);
	output_real(&b->out, case_median(&cases[0].base, CPU_NS), "switch.ns.1group.%s%s", threads, suffix);
	output_real(&b->out, case_median(&cases[2].base, CPU_NS), "switch.ns.50groups.%s%s", threads, suffix);
}

/* 1, 7 and 50 groups of one subject; @suffix tells others than the default in keys. */
static int switch_subject(struct switch_bench *sb, const struct subject *s, struct memcg *const *groups, bool two,
			  const char *suffix)
{
	static const unsigned int sizes[] = { 1, 7, MANY };
	struct switch_work works[3];
	struct pool_case cases[3];
	struct bench_case *list[3];
	int i, err;

	for (i = 0; i < 3; i++) {
		works[i] = work_for(s, groups, sizes[i]);
		pool_case_init(&cases[i], s->name, sb->pools[two], &works[i].work, sb->b->opt.quick ? 0.006 : 0.015);
		list[i] = &cases[i].base;
	}
	err = rounds_run(list, 3, bench_pairs(sb->b, 41, 15));
	if (err)
		complain(sb->b, err, "%s", s->name);
	else
		report(sb->b, cases, suffix, two);
	for (i = 0; i < 3; i++)
		case_release(&cases[i].base);
	return err;
}

struct crowd_work {
	struct work work;        /* first */
	const struct subject *s; /* whose functions */
	struct memcg **groups;   /* CROWD of them */
};

/* Uncharges page after page in each group, so that its stock takes what it can before the next one's. */
static int strand(const struct work *work, unsigned int worker)
{
	const struct crowd_work *w = (const struct crowd_work *)work;
	unsigned int i, n;
	int err = 0;

	(void)worker;
	for (i = 0; i < CROWD; i++)
		err |= w->s->charge(w->groups[i], HELD, 0);
	for (i = 0; i < CROWD; i++)
		for (n = 0; n < FREED; n++)
			w->s->uncharge(w->groups[i], 1);
	return err ? -ENOMEM : 0;
}

static int no_work(const struct work *work, unsigned int worker, unsigned long ops)
{
	(void)work;
	(void)worker;
	(void)ops;
	return 0;
}

/* Pages that the crowd left in one CPU's stocks, or a negative errno. */
static long stranded(struct bench *b, const struct subject *s)
{
	static struct memcg *groups[CROWD];
	struct crowd_work work = { { strand, no_work, 1 }, s, groups };
	long usage, seen = -CROWD * (long)(HELD - FREED);
	struct sample ignored;
	struct pool *pool;
	unsigned int i;
	int err = subject_leaves(b, s, CROWD, groups);

	if (err)
		return err;
	err = pool_open(1, true, &pool);
	if (err)
		return complain(b, err, "thread");
	err = pool_slice(pool, &work.work, 0, &ignored);
	for (i = 0; !err && i < CROWD; i++, seen += usage) {
		usage = subject_usage(s, groups[i]);
		err = usage < 0 ? (int)usage : 0;
	}
	pool_close(pool);
	return err ? complain(b, err, "crowd") : seen;
}

/*
 * The bound is a start option. A crowd of groups on one pinned thread tries to exceed its default,
 * and a smaller one in another instance.
 */
static int bound(struct bench *b, const struct subject *s)
{
	struct subject small;
	long seen = stranded(b, s), seen_small;

	if (seen < 0)
		return (int)seen;
	output_count(&b->out, MEMCG_STOCK_BUDGET * MEMCG_PAGE_SIZE, "switch.phantom_bytes_per_cpu");
	output_count(&b->out, (unsigned long)seen * MEMCG_PAGE_SIZE, "switch.phantom_bytes_per_cpu.seen");
	if (subject_open(b, SUBJECT_SMALL_BUDGET, &small))
		return -ENOENT;
	seen_small = stranded(b, &small);
	if (seen_small < 0)
		return (int)seen_small;
	output_count(&b->out, SMALL_BUDGET * MEMCG_PAGE_SIZE, "switch.phantom_bytes_per_cpu.option");
	output_count(&b->out, (unsigned long)seen_small * MEMCG_PAGE_SIZE, "switch.phantom_bytes_per_cpu.option_seen");
	if (seen > (long)MEMCG_STOCK_BUDGET || seen_small > SMALL_BUDGET)
		return complain(b, -ERANGE, "stocks hold more than their budget");
	return 0;
}

static int measure(struct switch_bench *sb, enum subject_id id)
{
	static struct memcg *groups[MANY];
	char suffix[32] = "";
	struct subject s;
	int err = subject_open(sb->b, id, &s);

	if (err == -ENOENT)
		return id == SUBJECT_MEMCG ? complain(sb->b, err, "libmemcg.so") : 0;
	if (!err)
		err = subject_leaves(sb->b, &s, MANY, groups);
	if (id != SUBJECT_MEMCG)
		snprintf(suffix, sizeof(suffix), ".%s", s.name);
	if (!err && section_wanted(sb->b, "1t"))
		err = switch_subject(sb, &s, groups, false, suffix);
	if (!err && section_wanted(sb->b, "2t"))
		err = switch_subject(sb, &s, groups, true, suffix);
	if (!err && id == SUBJECT_MEMCG && section_wanted(sb->b, "bound"))
		err = bound(sb->b, &s);
	return err;
}

int bench_switch(struct bench *b)
{
	static const enum subject_id ids[] = { SUBJECT_MEMCG, SUBJECT_LOCKED, SUBJECT_DEFERRED, SUBJECT_THREAD_STOCK };
	struct switch_bench sb = { .b = b };
	size_t i;
	int err = pool_open(1, b->opt.pin, &sb.pools[0]);

	if (!err)
		err = pool_open(2, b->opt.pin, &sb.pools[1]);
	if (err)
		return complain(b, err, "threads");
	for (i = 0; !err && i < sizeof(ids) / sizeof(*ids); i++)
		err = measure(&sb, ids[i]);
	pool_close(sb.pools[0]);
	pool_close(sb.pools[1]);
	return err;
}
