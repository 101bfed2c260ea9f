/* SPDX-License-Identifier: MIT */
/* Rounds of cases, and the ratios between them. */
#include "harness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int take_pool(struct bench_case *base, struct sample *out)
{
	struct pool_case *c = (struct pool_case *)base;

	return pool_slice(c->pool, c->work, c->seconds, out);
}

void pool_case_init(struct pool_case *c, const char *name, struct pool *pool, const struct work *work, double seconds)
{
	*c = (struct pool_case){
		.base = { .take = take_pool, .name = name },
		.pool = pool,
		.work = work,
		.seconds = seconds,
	};
}

int rounds_run(struct bench_case **cases, unsigned int nr, unsigned int rounds)
{
	struct sample warm_up;
	unsigned int r, i;
	int err;

	for (i = 0; i < nr; i++) {
		cases[i]->nr = 0;
		free(cases[i]->samples);
		cases[i]->samples = calloc(rounds, sizeof(struct sample));
		if (!cases[i]->samples)
			return -ENOMEM;
		err = cases[i]->take(cases[i], &warm_up);
		if (err)
			return err;
	}
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < nr; i++) {
			struct bench_case *c = cases[r & 1 ? nr - 1 - i : i];

			err = c->take(c, &c->samples[r]);
			if (err)
				return err;
			c->nr = r + 1;
		}
	}
	return 0;
}

void case_release(struct bench_case *c)
{
	free(c->samples);
	c->samples = NULL;
	c->nr = 0;
}

static double *column(const struct bench_case *c, enum measure m)
{
	double *v = malloc((c->nr ? c->nr : 1) * sizeof(*v));
	unsigned int i;

	for (i = 0; v && i < c->nr; i++)
		v[i] = c->samples[i].v[m];
	return v;
}

double case_median(const struct bench_case *c, enum measure m)
{
	double *v = column(c, m), median = v ? stats_median(v, c->nr) : 0;

	free(v);
	return median;
}

int case_ratio(const struct bench_case *over, const struct bench_case *under, enum measure m, struct estimate *out)
{
	unsigned int n = over->nr < under->nr ? over->nr : under->nr;
	double *a = column(over, m), *b = column(under, m);
	int err = a && b ? stats_ratio(a, b, n, out) : -ENOMEM;

	free(a);
	free(b);
	return err;
}

int report_ratio(struct bench *b, const struct bench_case *over, const struct bench_case *under, enum measure m,
		 const char *fmt, ...)
{
	struct estimate e;
	va_list args;
	char key[128];
	int err;

	if (!over->nr || !under->nr)
		return 0;
	va_start(args, fmt);
	vsnprintf(key, sizeof(key), fmt, args);
	va_end(args);
	err = case_ratio(over, under, m, &e);
	if (!err)
		output_estimate(&b->out, &e, "%s", key);
	return err;
}

bool section_wanted(const struct bench *b, const char *section)
{
	return !b->opt.only || !strcmp(b->opt.only, section);
}

unsigned int bench_pairs(const struct bench *b, unsigned int normal, unsigned int quick)
{
	if (b->opt.pairs)
		return b->opt.pairs;
	return b->opt.quick ? quick : normal;
}

int complain(const struct bench *b, int err, const char *what, ...)
{
	va_list args;

	fprintf(stderr, "memcg-bench %s: ", b->name);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	if (err)
		fprintf(stderr, ": %s", strerror(-err));
	fputc('\n', stderr);
	return err;
}
