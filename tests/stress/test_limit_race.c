/* SPDX-License-Identifier: MIT */
/*
 * 32 threads race at a limit that just fits them all, beside one who asks for what never fits.
 * No sample is above max (A3), and no charge that fits is refused (A6): what the small ones have and ask for
 * is never more than the limit, so any refusal of theirs is a false one.
 */
#include "support/forms.h"
#include "support/stress.h"
#include "support/tree.h"

#define SMALL 32U
#define LEAVES 4U

struct scene {
	const char *name;
	unsigned long leaf_max;   /* pages; 0: none */
	unsigned long top_max;    /* the same, a level above */
	unsigned long each;       /* pages that a small charger has, at most */
	unsigned long hopeless;   /* pages that never fit */
	unsigned int leaves;      /* groups that the small ones are spread over */
	unsigned int hopeless_nr; /* threads that ask for it */
	double seconds;           /* in the first form */
};

static const struct scene scenes[] = {
	{ "one level", 256, 0, 8, 257, 1, 1, 10 },
	{ "two levels", 256, 256, 8, 257, 1, 1, 10 },
	{ "limit above many leaves", 0, 256, 8, 300, LEAVES, 1, 3 },
	/* The hopeless one is seen on the lower level for as long as its climb takes, and leaves no place there. */
	{ "a climb in the way", 60, 32, 1, 40, 1, 1, 3 },
	{ "a climb in the way of each", 60, 32, 1, 60, LEAVES, LEAVES, 3 },
	{ "many climbs in the way", 100, 32, 1, 60, 1, 24, 5 },
};

static struct memcg *top, *leaves[LEAVES];
static const struct scene *scene;
static bool stop;
static unsigned long refusals, grants, samples;

static void small_charger(unsigned int nr, void *arg)
{
	struct memcg *leaf = leaves[nr % scene->leaves];
	unsigned long have = 0, granted = 0;
	uint32_t state = nr + 1;

	(void)arg;
	while (!load_relaxed(&stop)) {
		unsigned long n = 1 + rng(&state) % scene->each;

		if (have + n > scene->each) {
			memcg_uncharge(leaf, have);
			have = 0;
		}
		if (memcg_charge(leaf, n, MEMCG_MAY_SLEEP) == 0) {
			have += n;
			granted++;
		} else {
			atomic_add(&refusals, 1);
		}
	}
	if (have)
		memcg_uncharge(leaf, have);
	atomic_add(&grants, granted);
}

static void hopeless_charger(unsigned int nr, void *arg)
{
	uint32_t state = 99 + nr;

	(void)arg;
	while (!load_relaxed(&stop)) {
		unsigned int flags = rng(&state) % 16 ? 0 : MEMCG_MAY_SLEEP;

		must(memcg_charge(leaves[rng(&state) % scene->leaves], scene->hopeless, flags) == -ENOMEM);
	}
}

static void sample(const struct memcg *memcg)
{
	unsigned long usage = usage_of(memcg);

	must(usage <= load_seq(&memcg->memory.max));
}

static void sampler(unsigned int nr, void *arg)
{
	unsigned int i;

	(void)nr;
	(void)arg;
	while (!load_relaxed(&stop)) {
		sample(top);
		for (i = 0; i < scene->leaves; i++)
			sample(leaves[i]);
		samples++;
	}
}

static void scene_run(double seconds)
{
	static struct crew small, hopeless, sampling;
	uint64_t until = stress_until(seconds);
	unsigned int i;

	stop = false;
	refusals = grants = samples = 0;
	crew_start(&sampling, 1, sampler, NULL);
	crew_start(&small, SMALL, small_charger, NULL);
	crew_start(&hopeless, scene->hopeless_nr, hopeless_charger, NULL);
	while (stress_goes_on(until))
		usleep(10000);
	store_relaxed(&stop, true);
	crew_join(&small);
	crew_join(&hopeless);
	crew_join(&sampling);
	dprintf(STDERR_FILENO, "%s: %lu granted, %lu refused, %lu samples\n", scene->name, grants, refusals, samples);
	assert_int_equal(refusals, 0);
	assert_true(grants > 0 && samples > 0);
	for (i = 0; i < scene->leaves; i++)
		assert_true(peak_of(leaves[i]) <= leaves[i]->memory.max);
	assert_true(peak_of(top) <= top->memory.max);
}

static void races_at_the_limit(void **state)
{
	size_t i;
	unsigned int k;

	(void)state;
	for (i = 0; i < array_size(scenes); i++) {
		scene = &scenes[i];
		top = group_make(NULL, "top");
		if (scene->top_max)
			group_max(top, scene->top_max);
		for (k = 0; k < scene->leaves; k++) {
			leaves[k] = group_make_nr(top, k);
			if (scene->leaf_max)
				group_max(leaves[k], scene->leaf_max);
		}
		scene_run(stress_first ? scene->seconds : 1);
		for (k = 0; k < scene->leaves; k++)
			group_end(leaves[k]);
		group_end(top);
		tree_is_empty();
	}
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(races_at_the_limit) };

	stress_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return stress_main(run);
}
