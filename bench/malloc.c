/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench malloc: libmemcg-malloc.so in front of the C library's malloc.
 *
 * Loops in processes of their own, which measure themselves, and whole programs by
 * their CPU time, start and end included. With and without LD_PRELOAD take turns.
 */
#include "harness.h"
#include "malloc_loop.h"
#include "programs.h"
#include "spawn.h"
#include "subject.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD "libmemcg-malloc.so"

struct loop_case {
	struct bench_case base; /* first */
	const char *preload;    /* NULL: the C library alone */
	const char *pattern;    /* a loop's name */
	char ms[16];            /* how long */
};

static int take_loop(struct bench_case *base, struct sample *out)
{
	struct loop_case *c = (struct loop_case *)base;
	const char *argv[] = { "/proc/self/exe", MALLOC_LOOP_COMMAND, c->pattern, c->ms, NULL };
	char text[128] = "";
	struct spawn s = { .argv = argv,
			   .preload = c->preload,
			   .input = -1,
			   .output = text,
			   .output_len = sizeof(text) };
	bool charged;
	char *end;
	int err = spawn_run(&s);

	if (err)
		return err;
	charged = strtol(text, &end, 10) != 0;
	out->v[CPU_NS] = strtod(end, &end);
	if (*end != '\n')
		return -EPROTO;
	/* The loader only warns when it cannot preload: that would compare the C library with itself. */
	return charged == (c->preload != NULL) ? 0 : -ELIBACC;
}

static int compare_loop(struct bench *b, const char *pattern, const char *preload)
{
	struct loop_case with = { .base = { take_loop, "preload", NULL, 0 }, .preload = preload, .pattern = pattern };
	struct loop_case without = { .base = { take_loop, "libc", NULL, 0 }, .pattern = pattern };
	struct bench_case *list[] = { &with.base, &without.base };
	int err;

	snprintf(with.ms, sizeof(with.ms), "%d", b->opt.quick ? 20 : 60);
	memcpy(without.ms, with.ms, sizeof(with.ms));
	err = rounds_run(list, 2, bench_pairs(b, 21, PAIRS_MIN));
	if (err) {
		complain(b, err, "%s", pattern);
	} else {
		report_ratio(b, &with.base, &without.base, CPU_NS, "malloc.ratio.preload_over_libc.%s", pattern);
		output_real(&b->out, case_median(&with.base, CPU_NS), "malloc.ns.preload.%s", pattern);
		output_real(&b->out, case_median(&without.base, CPU_NS), "malloc.ns.libc.%s", pattern);
	}
	case_release(&with.base);
	case_release(&without.base);
	return err;
}

struct program_case {
	struct bench_case base;  /* first */
	struct program *program; /* found and prepared */
	const char *preload;     /* NULL: the C library alone */
};

static int take_program(struct bench_case *base, struct sample *out)
{
	struct program_case *c = (struct program_case *)base;
	struct spawn s = { .argv = c->program->argv,
			   .preload = c->preload,
			   .env = c->program->env,
			   .input = c->program->input };
	int err = spawn_run(&s);

	out->v[CPU_NS] = s.cpu_seconds * 1e9;
	return err;
}

static int compare_program(struct bench *b, const char *name, const char *preload)
{
	struct program program;
	struct program_case with = { { take_program, "preload", NULL, 0 }, &program, preload };
	struct program_case without = { { take_program, "libc", NULL, 0 }, &program, NULL };
	struct bench_case *list[] = { &with.base, &without.base };
	int err = program_find(b, name, &program);

	if (err == -ENOENT) {
		output_text(&b->out, "not installed", "malloc.skipped.%s", name);
		return 0;
	}
	if (err)
		return complain(b, err, "%s", name);
	err = rounds_run(list, 2, bench_pairs(b, 31, PAIRS_MIN));
	if (err) {
		complain(b, err, "%s", name);
	} else {
		report_ratio(b, &with.base, &without.base, CPU_NS, "malloc.ratio.%s", name);
		output_real(&b->out, case_median(&without.base, CPU_NS) / 1e6, "malloc.cpu_ms.libc.%s", name);
	}
	case_release(&with.base);
	case_release(&without.base);
	program_release(&program);
	return err;
}

int bench_malloc(struct bench *b)
{
	static const char *const programs[] = { "sqlite", "python", "lua" };
	char preload[PATH_MAX + 256];
	size_t i;
	int err = find_file(b, PRELOAD, preload, sizeof(preload));

	if (err)
		return complain(b, err, PRELOAD);
	for (i = 0; !err && section_wanted(b, "loop") && malloc_loop_names[i]; i++)
		err = compare_loop(b, malloc_loop_names[i], preload);
	for (i = 0; !err && i < sizeof(programs) / sizeof(*programs); i++)
		if (section_wanted(b, programs[i]))
			err = compare_program(b, programs[i], preload);
	return err;
}
