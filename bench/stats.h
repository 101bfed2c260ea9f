/* SPDX-License-Identifier: MIT */
/* Medians and their uncertainty: the only statistics that a bench may print. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

struct estimate {
	double median; /* of the values */
	double low;    /* 95 % interval of the median, percentile bootstrap */
	double high;
};

/* Sorts @v. The mean of the two middle values when @n is even; 0 for none. */
double stats_median(double *v, unsigned int n);

/* @v is not changed. Deterministic: the resampling has a fixed seed. 0 or -ENOMEM. */
int stats_estimate(const double *v, unsigned int n, struct estimate *out);

/* The same of a[i] / b[i]: what was measured next to each other is compared with each other. */
int stats_ratio(const double *a, const double *b, unsigned int n, struct estimate *out);

#endif
