/* SPDX-License-Identifier: MIT */
/*
 * memcg-bench stat: what an update costs.
 *
 * One node item of a group on the fourth level, with all bookkeeping, over one add to a per-CPU word by a
 * restartable sequence, both called through a pointer. Flushes come once a second, or never.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "stat_open.h"
#include "subject.h"

#define CHUNK 4096

struct stat_work {
	struct work work;             /* first */
	const struct stat_side *side; /* whose functions */
	bool update;                  /* else the bare add */
};

static void *objects[8]; /* never closed */
static unsigned int nr_objects;

int stat_side_open(struct bench *b, bool again, const struct side_options *options, const struct stat_side **side)
{
	char path[PATH_MAX + 256], copy[64];
	const char *file = path;
	int err;

	if (find_file(b, "memcg-bench-stat.so", path, sizeof(path)))
		return complain(b, -ENOENT, "memcg-bench-stat.so");
	if (again) {
		err = copy_in_memory(path, copy, sizeof(copy));
		if (err)
			return complain(b, err, "copy of %s", path);
		file = copy;
	}
	objects[nr_objects] = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	*side = objects[nr_objects] ? dlsym(objects[nr_objects], STAT_SIDE_SYMBOL) : NULL;
	if (!*side)
		return complain(b, -ELIBBAD, "%s", dlerror());
	nr_objects++;
	err = (*side)->start(options);
	return err ? complain(b, err, "start") : 0;
}

static int run(const struct work *work, unsigned int worker, unsigned long ops)
{
	const struct stat_work *w = (const struct stat_work *)work;
	void (*update)(struct memcg *, unsigned int, unsigned int, long) = w->side->update;
	void (*add)(char *, long) = w->side->rseq_add;
	struct memcg *leaf = w->side->leaf(worker);
	char *value = w->side->value();

	if (w->update) {
		for (; ops; ops--)
			update(leaf, 0, STAT_FILE_ITEM, 1);
	} else {
		for (; ops; ops--)
			add(value, 1);
	}
	return 0;
}

struct flusher {
	const struct stat_side *side;
	pthread_t thread;
	bool stop; /* atomic */
};

static void *flush_each_second(void *arg)
{
	struct flusher *flusher = arg;
	unsigned int tenth = 0;

	while (!__atomic_load_n(&flusher->stop, __ATOMIC_RELAXED)) {
		usleep(100000);
		if (++tenth % 10 == 0)
			flusher->side->flush();
	}
	return NULL;
}

enum {
	ADD_1T,
	UPDATE_1T,
	UPDATE_2T,
	NR_CASES
};

static int measure(struct bench *b, struct pool *const *pools, const struct stat_side *side, struct pool_case *cases)
{
	double seconds = b->opt.quick ? 0.006 : 0.02;
	struct bench_case *list[NR_CASES];
	struct stat_work works[NR_CASES];
	int i;

	for (i = 0; i < NR_CASES; i++) {
		works[i] = (struct stat_work){ { .run = run, .chunk = CHUNK }, side, i != ADD_1T };
		pool_case_init(&cases[i], "update", pools[i == UPDATE_2T], &works[i].work, seconds);
		list[i] = &cases[i].base;
	}
	return rounds_run(list, NR_CASES, bench_pairs(b, 101, 21));
}

static void report(struct bench *b, const struct pool_case *cases, const char *suffix)
{
	report_ratio(b, &cases[UPDATE_1T].base, &cases[ADD_1T].base, CPU_NS, "stat.ratio.update_over_rseq_add.1t%s",
		     suffix);
	output_real(&b->out, case_median(&cases[UPDATE_1T].base, CPU_NS), "stat.ns.update.1t%s", suffix);
	if (*suffix)
		return;
	report_ratio(b, &cases[UPDATE_2T].base, &cases[UPDATE_1T].base, CPU_NS, "stat.ratio.2t_over_1t");
	output_real(&b->out, case_median(&cases[ADD_1T].base, CPU_NS), "stat.ns.rseq_add.1t");
}

static int section(struct bench *b, struct pool *const *pools, const struct stat_side *side, bool flushed)
{
	struct flusher flusher = { .side = side };
	struct pool_case cases[NR_CASES];
	int err = 0, i;

	if (flushed)
		err = -pthread_create(&flusher.thread, NULL, flush_each_second, &flusher);
	if (err)
		return complain(b, err, "flusher");
	err = measure(b, pools, side, cases);
	if (flushed) {
		__atomic_store_n(&flusher.stop, true, __ATOMIC_RELAXED);
		pthread_join(flusher.thread, NULL);
	}
	if (err)
		complain(b, err, "update");
	else
		report(b, cases, flushed ? "" : "_noflush");
	for (i = 0; i < NR_CASES; i++)
		case_release(&cases[i].base);
	return err;
}

int bench_stat(struct bench *b)
{
	const struct side_options options = { .groups = 1 };
	struct pool *pools[2] = { NULL, NULL };
	const struct stat_side *side;
	int err = stat_side_open(b, false, &options, &side);

	if (!err)
		err = pool_open(1, b->opt.pin, &pools[0]);
	if (!err)
		err = pool_open(2, b->opt.pin, &pools[1]);
	if (!err && section_wanted(b, "flushed"))
		err = section(b, pools, side, true);
	if (!err && section_wanted(b, "noflush"))
		err = section(b, pools, side, false);
	pool_close(pools[0]);
	pool_close(pools[1]);
	return err;
}
