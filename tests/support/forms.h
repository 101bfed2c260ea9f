/* SPDX-License-Identifier: MIT */
/*
 * One test program, several forms of the library: index kinds, sequences or exchanges, many
 * CPUs. Each form is a child, because the library starts once in a process; what
 * this machine cannot have is passed over.
 */
#ifndef SUPPORT_FORMS_H
#define SUPPORT_FORMS_H

#include <memcg/memcg.h>

#include "support/child.h"

struct form {
	const char *name;     /* in reports */
	unsigned int index;   /* enum memcg_index */
	unsigned int flags;   /* MEMCG_INIT_*, with those of every form */
	unsigned int nr_cpus; /* 0: the machine's */
	unsigned int budget;  /* pages a CPU, 0: default */
};

static const struct form forms_all[] = {
	{ "default", MEMCG_INDEX_AUTO, 0, 0, 0 },
	{ "cpu number", MEMCG_INDEX_CPU_ID, 0, 0, 0 },
	{ "portable", MEMCG_INDEX_AUTO, MEMCG_INIT_PORTABLE, 0, 0 },
	{ "thread number", MEMCG_INDEX_THREAD, 0, 0, 0 },
	{ "threads on 64 CPUs", MEMCG_INDEX_THREAD, 0, 64, 0 },
	{ "small budget", MEMCG_INDEX_AUTO, 0, 0, 200 },
	{ "threads on one CPU, tiny budget", MEMCG_INDEX_THREAD, 0, 1, 40 },
};

/* The root without the machine's own limit; housekeeping by memcg_tick() only. */
#define FORM_FLAGS (MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS)

static inline int form_start(const struct form *form, unsigned int flags)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = form->flags | flags,
		.index = form->index,
		.nr_cpus = form->nr_cpus,
		.stock_budget = form->budget,
	};

	return memcg_init(&options);
}

__attribute__((noreturn)) static inline void form_child(const struct form *form, unsigned int flags, int (*run)(void))
{
	int err = form_start(form, flags);

	if (err == -EOPNOTSUPP)
		child_end(CHILD_SKIP);
	must(err == 0);
	child_end(run());
}

/* The exit code of main: 0 when each form that can be had passes. */
static inline int forms_run(const struct form *forms, size_t nr, unsigned int flags, int (*run)(void))
{
	int worst = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		pid_t pid = child_fork();
		int code;

		if (!pid)
			form_child(&forms[i], flags, run);
		code = child_wait(pid);
		dprintf(STDERR_FILENO, "form %s: %s %d\n", forms[i].name,
			code == CHILD_SKIP ? "cannot be had" : "exit code", code);
		if (code && code != CHILD_SKIP)
			worst = 1;
	}
	return worst;
}

static inline int forms_main(int (*run)(void))
{
	return forms_run(forms_all, array_size(forms_all), FORM_FLAGS, run);
}

/* The same, for tests of one form. */
static inline int form_main(int (*run)(void))
{
	return forms_run(forms_all, 1, FORM_FLAGS, run);
}

#endif
