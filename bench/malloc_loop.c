/* SPDX-License-Identifier: MIT */
/*
 * Loops of malloc and free, in a process of their own, so that one and the same code
 * meets the C library's malloc and libmemcg-malloc.so by LD_PRELOAD.
 *
 *   16B, 64B, 512B, 16KiB  one block, allocated and freed: nothing but the calls
 *   1KiB                   the same where the header makes it too large for the C library's thread cache
 *   64B.2t                 the same in two threads
 *   64B.burst              1000 blocks allocated, then freed in that order: the C library's
 *                          own thread cache is passed by
 *   live_set               20000 blocks of 16 to 527 bytes, replaced at random: cold headers
 */
#include "malloc_loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include <stdio.h>

#define BURST 1000
#define LIVE 20000

struct loop_work {
	struct work work; /* first */
	size_t size;      /* of a block */
	void **blocks;    /* LIVE of them, or NULL */
	uint64_t random;  /* state of the live set */
};

/* The compiler may neither drop the pair nor know what malloc is. */
static inline void *opaque(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

static int run_pair(const struct work *work, unsigned int worker, unsigned long ops)
{
	size_t size = ((const struct loop_work *)work)->size;
	int err = 0;

	(void)worker;
	for (; ops; ops--) {
		char *p = opaque(malloc(size));

		if (!p) {
			err = -ENOMEM;
			break;
		}
		*p = 1; /* a block that nobody writes to is no use to anybody */
		free(opaque(p));
	}
	return err;
}

static int run_burst(const struct work *work, unsigned int worker, unsigned long ops)
{
	size_t size = ((const struct loop_work *)work)->size;
	char *blocks[BURST];
	unsigned int i, n;

	(void)worker;
	for (; ops; ops -= BURST) {
		for (n = 0; n < BURST && (blocks[n] = opaque(malloc(size))); n++)
			*blocks[n] = 1;
		for (i = 0; i < n; i++)
			free(blocks[i]);
		if (n < BURST)
			return -ENOMEM;
	}
	return 0;
}

static int run_live(const struct work *work, unsigned int worker, unsigned long ops)
{
	struct loop_work *w = (struct loop_work *)(uintptr_t)work; /* its one thread's own */

	(void)worker;
	for (; ops; ops--) {
		void **slot;

		w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
		slot = &w->blocks[(w->random >> 33) % LIVE];
		free(*slot);
		*slot = opaque(malloc(16 + (w->random >> 55)));
		if (!*slot)
			return -ENOMEM;
		*(char *)*slot = 1;
	}
	return 0;
}

static const struct {
	int (*run)(const struct work *work, unsigned int worker, unsigned long ops);
	size_t size;
	unsigned int threads;
	unsigned long chunk;
} loops[] = {
	{ run_pair, 64, 1, 4096 },         { run_pair, 16, 1, 4096 },    { run_pair, 512, 1, 4096 },
	{ run_pair, 1024, 1, 4096 },       { run_pair, 16384, 1, 1024 }, { run_pair, 64, 2, 4096 },
	{ run_burst, 64, 1, 4UL * BURST }, { run_live, 0, 1, 2048 },
};

const char *const malloc_loop_names[] = {
	"64B", "16B", "512B", "1KiB", "16KiB", "64B.2t", "64B.burst", "live_set", NULL
};

static int measure(size_t which, double seconds, struct sample *out)
{
	struct loop_work w = {
		.work = { .run = loops[which].run, .chunk = loops[which].chunk },
		.size = loops[which].size,
		.random = 1,
	};
	struct pool *pool;
	int err;

	if (loops[which].run == run_live && !(w.blocks = calloc(LIVE, sizeof(*w.blocks))))
		return -ENOMEM;
	err = pool_open(loops[which].threads, true, &pool);
	if (!err)
		err = pool_slice(pool, &w.work, seconds / 4, out); /* warms up: fills the live set too */
	if (!err)
		err = pool_slice(pool, &w.work, seconds, out);
	return err;
}

int malloc_loop_main(int argc, char **argv)
{
	struct sample result;
	double ms;
	size_t i;
	int err;

	for (i = 0; argc == 3 && malloc_loop_names[i] && strcmp(argv[1], malloc_loop_names[i]) != 0; i++)
		;
	if (argc != 3 || !malloc_loop_names[i])
		return 2;
	ms = strtod(argv[2], NULL);
	err = measure(i, ms / 1000, &result);
	if (err)
		return 1;
	printf("%d %.4f\n", dlsym(RTLD_DEFAULT, "memcg_malloc") != NULL, result.v[CPU_NS]);
	return 0;
}
