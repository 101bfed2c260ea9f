/* SPDX-License-Identifier: MIT */
/*
 * The same pairs with both sides inlined into their loop.
 *
 * Out of line the calls are most of the cost; this shows what is left. Each loop is
 * inline_loop.c in an object of its own: one with <memcg/inline.h>, linked with
 * libmemcg.so, one with the tracker of the atomic tree.
 */
#include "charge.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>

struct inline_work {
	struct work work; /* first */
	int (*pairs)(struct memcg *group, unsigned long nr_pages, unsigned long pairs);
	struct memcg *group;
};

static int run_inline(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct inline_work *w = (const struct inline_work *)work;

	(void)worker;
	return w->pairs(w->group, 1, ops) ? -ENOMEM : 0;
}

/* 1 when the object is not there. */
static int open_loop(struct bench *b, const char *file, const char *name, struct inline_work *w)
{
	char path[PATH_MAX + 256];
	struct subject s;
	void *object;
	int err;

	if (find_file(b, file, path, sizeof(path))) {
		output_text(&b->out, "no such object", "charge_inline.skipped.%s", name);
		return 1;
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return complain(b, -ELIBBAD, "%s", dlerror());
	/* Through the object's own dependency: the instance that was inlined. */
	err = subject_bind(b, object, name, &s);
	if (!err)
		err = subject_leaves(b, &s, 1, &w->group);
	if (err)
		return err;
	w->work = (struct work){ .run = run_inline, .chunk = CHUNK };
	w->pairs = dlsym(object, "bench_inline_pairs");
	return w->pairs ? 0 : complain(b, -ENOSYS, "%s", dlerror());
}

int charge_inline(struct bench *b)
{
	struct inline_work memcg, tree;
	struct pool_case over, under;
	struct bench_case *list[] = { &over.base, &under.base };
	struct pool *pool;
	int err = open_loop(b, "memcg-bench-inline-memcg.so", "memcg", &memcg);

	if (!err)
		err = open_loop(b, "memcg-bench-inline-atomic-tree.so", "atomic_tree", &tree);
	if (err)
		return err < 0 ? err : 0;
	err = pool_open(1, b->opt.pin, &pool);
	if (err)
		return complain(b, err, "thread");
	pool_case_init(&over, "memcg", pool, &memcg.work, b->opt.quick ? 0.005 : 0.01);
	pool_case_init(&under, "atomic_tree", pool, &tree.work, b->opt.quick ? 0.005 : 0.01);
	err = rounds_run(list, 2, bench_pairs(b, 41, 15));
	if (err) {
		complain(b, err, "inline");
	} else {
		report_ratio(b, &over.base, &under.base, CPU_NS, "charge_inline.ratio.memcg_over_atomic_tree.1t");
		output_real(&b->out, case_median(&over.base, CPU_NS), "charge_inline.ns.memcg.1t");
		output_real(&b->out, case_median(&under.base, CPU_NS), "charge_inline.ns.atomic_tree.1t");
	}
	case_release(&over.base);
	case_release(&under.base);
	pool_close(pool);
	return err;
}
