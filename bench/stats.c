/* SPDX-License-Identifier: MIT */
/*
 * Median and percentile bootstrap.
 *
 * Slices on a shared machine have a long upper tail (another tenant, a migration,
 * a clock that drops), so means and standard deviations say nothing; a median of
 * ratios of neighbours does. The interval is that of the median over RESAMPLES
 * samples drawn with replacement. It covers what varied during the run, not what
 * differs between machines or runs.
 */
#include "stats.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 2000
#define SEED 0x9e3779b97f4a7c15ULL

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_median(double *v, unsigned int n)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), compare);
	return n & 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* xorshift64*: the same draws on every machine, so that the same values give the same interval. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

int stats_estimate(const double *v, unsigned int n, struct estimate *out)
{
	uint64_t state = SEED;
	double *sample, *medians;
	unsigned int r, i;

	memset(out, 0, sizeof(*out));
	if (!n)
		return 0;
	sample = malloc(n * sizeof(*sample));
	medians = malloc(RESAMPLES * sizeof(*medians));
	if (!sample || !medians) {
		free(sample);
		free(medians);
		return -ENOMEM;
	}
	for (r = 0; r < RESAMPLES; r++) {
		for (i = 0; i < n; i++)
			sample[i] = v[(draw(&state) >> 32) % n];
		medians[r] = stats_median(sample, n);
	}
	stats_median(medians, RESAMPLES); /* sorts */
	out->low = medians[RESAMPLES * 25 / 1000];
	out->high = medians[RESAMPLES - 1 - RESAMPLES * 25 / 1000];
	memcpy(sample, v, n * sizeof(*sample));
	out->median = stats_median(sample, n);
	free(sample);
	free(medians);
	return 0;
}

int stats_ratio(const double *a, const double *b, unsigned int n, struct estimate *out)
{
	double *ratios = malloc((n ? n : 1) * sizeof(*ratios));
	unsigned int i;
	int err;

	if (!ratios)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		ratios[i] = a[i] / b[i];
	err = stats_estimate(ratios, n, out);
	free(ratios);
	return err;
}
