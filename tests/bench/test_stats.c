/* SPDX-License-Identifier: MIT */
/* The statistics and the output of benches: what a figure is worth must not depend on a bug here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output.h"
#include "stats.h"

static void near(double a, double b)
{
	assert_true(a - b < 1e-9 && b - a < 1e-9);
}

static void test_median(void **state)
{
	double odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

	(void)state;
	near(stats_median(odd, 3), 5);
	near(stats_median(even, 4), 2.5);
	near(stats_median(one, 1), 7);
	near(stats_median(NULL, 0), 0);
}

static void test_estimate_holds_the_median(void **state)
{
	double v[101];
	struct estimate e, again;
	int i;

	(void)state;
	for (i = 0; i < 101; i++)
		v[i] = (i * 37) % 101;
	assert_int_equal(stats_estimate(v, 101, &e), 0);
	near(e.median, 50);
	assert_true(e.low < 50 && e.high > 50);
	/* Order statistics of the binomial: ranks 40 and 60 of 101, give or take the resampling. */
	assert_true(e.low >= 36 && e.low <= 44);
	assert_true(e.high >= 56 && e.high <= 64);
	assert_int_equal(stats_estimate(v, 101, &again), 0);
	assert_memory_equal(&e, &again, sizeof(e));
}

static void test_estimate_of_a_constant(void **state)
{
	double v[] = { 3, 3, 3, 3, 3, 3, 3 };
	struct estimate e;

	(void)state;
	assert_int_equal(stats_estimate(v, 7, &e), 0);
	near(e.low, 3);
	near(e.median, 3);
	near(e.high, 3);
}

static void test_outliers_do_not_move_it(void **state)
{
	double v[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1000, 1000 };
	struct estimate e;

	(void)state;
	assert_int_equal(stats_estimate(v, 11, &e), 0);
	near(e.median, 1);
	near(e.low, 1);
	near(e.high, 1);
}

/* Neighbours are compared with each other: a drift that hits both leaves the ratio alone. */
static void test_ratio_is_of_pairs(void **state)
{
	double a[9], b[9];
	struct estimate e;
	int i;

	(void)state;
	for (i = 0; i < 9; i++) {
		b[i] = 1 + i * i;
		a[i] = 2 * b[i];
	}
	assert_int_equal(stats_ratio(a, b, 9, &e), 0);
	near(e.low, 2);
	near(e.median, 2);
	near(e.high, 2);
}

static void write_all(struct output *out)
{
	struct estimate e = { 1.5, 1.25, 1.75 };

	output_real(out, 0.5, "a.%s", "real");
	output_count(out, 7, "a.count");
	output_text(out, "it said \"no\"", "a.text");
	output_estimate(out, &e, "a.ratio.%d", 2);
}

static char *written(bool json)
{
	struct output out;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	output_begin(&out, f, json);
	write_all(&out);
	assert_int_equal(output_end(&out), 0);
	fclose(f);
	return text;
}

static void test_lines(void **state)
{
	char *text = written(false);

	(void)state;
	assert_string_equal(text, "a.real=0.5000\na.count=7\na.text=it said _no_\n"
				  "a.ratio.2=1.5000\na.ratio.2.ci_low=1.2500\na.ratio.2.ci_high=1.7500\n");
	free(text);
}

static void test_json(void **state)
{
	char *text = written(true);

	(void)state;
	assert_string_equal(text, "{\n\t\"a.real\": 0.5000,\n\t\"a.count\": 7,\n\t\"a.text\": \"it said _no_\",\n"
				  "\t\"a.ratio.2\": 1.5000,\n\t\"a.ratio.2.ci_low\": 1.2500,\n"
				  "\t\"a.ratio.2.ci_high\": 1.7500\n}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_estimate_holds_the_median),
		cmocka_unit_test(test_estimate_of_a_constant),
		cmocka_unit_test(test_outliers_do_not_move_it),
		cmocka_unit_test(test_ratio_is_of_pairs),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
