/* SPDX-License-Identifier: MIT */
/* memcg-bench: options, and which bench they are for. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "malloc_loop.h"

static const struct {
	const char *name;
	int (*run)(struct bench *b);
	const char *what;
	const char *const sections[7];
} benches[] = {
	{ "charge",
	  bench_charge,
	  "charge and uncharge a page, against other trackers",
	  { "1t", "2t", "own", "64t", "edge", "inline" } },
	{ "switch", bench_switch, "the same for many groups in turn", { "1t", "2t", "bound" } },
	{ "malloc", bench_malloc, "libmemcg-malloc.so against the C library", { "loop", "sqlite", "python", "lua" } },
	{ "stat", bench_stat, "an update of statistics, over one add", { "flushed", "noflush" } },
	{ "flush",
	  bench_flush,
	  "a flush, with and without what v1 alone reads; idle groups",
	  { "reader", "worker", "idle" } },
	{ "control", bench_control, "a thread that charges, under eight clients of the control socket", { NULL } },
};

#define NR_BENCHES (sizeof(benches) / sizeof(*benches))

static void usage(FILE *to)
{
	size_t i, s;

	fputs("usage: memcg-bench BENCH [--quick] [--json] [--pairs N] [--only SECTION] [--libdir DIR] [--no-pin]\n\n",
	      to);
	for (i = 0; i < NR_BENCHES; i++) {
		fprintf(to, "  %-8s %s (", benches[i].name, benches[i].what);
		for (s = 0; benches[i].sections[s]; s++)
			fprintf(to, "%s%s", s ? ", " : "", benches[i].sections[s]);
		fputs(")\n", to);
	}
	fputs("\nPrints key=value lines; --json the same keys as one object. Ratios are medians over pairs of\n"
	      "neighbouring measurements, KEY.ci_low and KEY.ci_high their 95 % interval.\n",
	      to);
}

static int misuse(const char *what, const char *which)
{
	fprintf(stderr, "memcg-bench: %s: %s\n", what, which);
	return 2;
}

static bool known_section(size_t bench, const char *section)
{
	size_t s;

	for (s = 0; benches[bench].sections[s]; s++)
		if (!strcmp(benches[bench].sections[s], section))
			return true;
	return false;
}

static int parse(int argc, char **argv, size_t bench, struct bench_options *opt)
{
	static const struct option longs[] = {
		{ "quick", no_argument, NULL, 'q' },        { "json", no_argument, NULL, 'j' },
		{ "pairs", required_argument, NULL, 'p' },  { "only", required_argument, NULL, 'o' },
		{ "libdir", required_argument, NULL, 'l' }, { "no-pin", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },         { NULL, 0, NULL, 0 },
	};
	char *end;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			opt->quick = true;
			break;
		case 'j':
			opt->json = true;
			break;
		case 'n':
			opt->pin = false;
			break;
		case 'l':
			opt->libdir = optarg;
			break;
		case 'o':
			opt->only = optarg;
			if (!known_section(bench, optarg))
				return misuse("no such section", optarg);
			break;
		case 'p':
			opt->pairs = (unsigned int)strtoul(optarg, &end, 10);
			if (*optarg < '0' || *optarg > '9' || *end || opt->pairs < PAIRS_MIN || opt->pairs > 100000)
				return misuse("--pairs takes 7 to 100000", optarg);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return misuse(c == ':' ? "option without its value" : "bad option", argv[optind - 1]);
		}
	}
	return optind < argc ? misuse("unexpected argument", argv[optind]) : 0;
}

int main(int argc, char **argv)
{
	struct bench b = { .opt = { .pin = true } };
	size_t i;
	int err;

	if (argc > 1 && !strcmp(argv[1], MALLOC_LOOP_COMMAND))
		return malloc_loop_main(argc - 1, argv + 1);
	if (argc < 2)
		return misuse("which bench?", "charge, switch, malloc, stat, flush or control");
	if (!strcmp(argv[1], "--help")) {
		usage(stdout);
		return 0;
	}
	for (i = 0; i < NR_BENCHES && strcmp(benches[i].name, argv[1]) != 0; i++)
		;
	if (i == NR_BENCHES)
		return misuse("no such bench", argv[1]);
	err = parse(argc - 1, argv + 1, i, &b.opt);
	if (err)
		return err;
	b.name = benches[i].name;
	output_begin(&b.out, stdout, b.opt.json);
	err = benches[i].run(&b);
	if (output_end(&b.out) && !err)
		err = complain(&b, -EIO, "stdout");
	if (pool_disturbed())
		fprintf(stderr, "memcg-bench %s: %lu slices were disturbed by other programs\n", b.name,
			pool_disturbed());
	return err ? 1 : 0;
}
