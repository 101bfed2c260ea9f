/* SPDX-License-Identifier: MIT */
/* What groups cost, charged to their parents: in current, in the three keys, and given back. */
#include "support/stat_tree.h"

#include "charge/drain.h"

static struct memcg *top;

static void start(unsigned int flags)
{
	const struct memcg_options options = { .size = sizeof(options), .flags = FORM_FLAGS | flags };

	must(memcg_init(&options) == 0);
	top = group_make(NULL, "top");
}

static uint64_t key(struct memcg *memcg, const char *name)
{
	uint64_t value;

	must(memcg_stat_flush(NULL) == 0);
	must(memcg_stat_read(memcg, name, &value) == 0);
	return value;
}

static unsigned long exact_usage(struct memcg *memcg)
{
	drain_stock(memcg_root());
	return usage_of(memcg);
}

static void destroy(struct memcg *memcg)
{
	must(memcg_destroy(memcg) == 0);
	memcg_put(memcg);
}

static void costs(const void *arg)
{
	enum {
		NR = 50
	};
	struct memcg *groups[NR];
	uint64_t slab, percpu;
	unsigned int i;

	(void)arg;
	start(MEMCG_INIT_METADATA);
	must(exact_usage(top) == 0 && exact_usage(memcg_root()) > 0);
	for (i = 0; i < NR; i++)
		groups[i] = group_make_nr(top, i);
	slab = key(top, "slab_unreclaimable");
	percpu = key(top, "percpu");
	must(slab >= NR * (sizeof(struct memcg) + sizeof(struct group_stat)));
	must(percpu >= (NR - 1) * 2 * stat_flushed_off); /* an index is in use since the first */
	must(key(top, "slab") == slab);
	must(key(top, "kernel") == exact_usage(top) * MEMCG_PAGE_SIZE);
	must(key(top, "kernel") - (slab + percpu) < MEMCG_PAGE_SIZE);
	must(key(groups[0], "kernel") == 0 && key(groups[0], "percpu") == 0);
	must(key(top, "anon") == 0);
	for (i = 0; i < NR; i++)
		destroy(groups[i]);
	memcg_tick();
	memcg_tick();
	must(exact_usage(top) == 0);
	must(key(top, "kernel") == 0 && key(top, "slab_unreclaimable") == 0 && key(top, "percpu") == 0);
	destroy(top);
	memcg_tick();
	must(exact_usage(memcg_root()) == 0 && key(memcg_root(), "kernel") == 0);
	stat_conserved();
}

static void charged_to_the_parent(void **state)
{
	(void)state;
	child_expect_ok(child_run(costs, NULL));
}

/* A parent without room has no more children, and a refused one leaves nothing. */
static void refuses(const void *arg)
{
	struct memcg *group = NULL;
	unsigned long usage;
	unsigned int nr = 0;
	char name[16];

	(void)arg;
	start(MEMCG_INIT_METADATA);
	must(memcg_write(top, "memory.max", "64K", 3) == 3);
	do {
		snprintf(name, sizeof(name), "g%u", nr);
	} while (nr++ < 1000 && memcg_create(top, name, &group) == 0);
	must(nr > 2 && nr < 1000);
	usage = exact_usage(top);
	must(usage <= 16);
	must(memcg_create(top, name, &group) == -ENOMEM);
	memcg_tick();
	must(exact_usage(top) == usage);
	must(memcg_write(top, "memory.max", "max", 3) == 3);
	must(memcg_create(top, name, &group) == 0);
	stat_conserved();
}

static void no_room_no_child(void **state)
{
	(void)state;
	child_expect_ok(child_run(refuses, NULL));
}

/* The parent dies first in name, not in memory: what its children cost goes to whoever lives above. */
static void parent_dies(const void *arg)
{
	struct memcg *mid, *leaf;

	(void)arg;
	start(MEMCG_INIT_METADATA);
	mid = group_make(top, "mid");
	leaf = group_make(mid, "leaf");
	must(memcg_destroy(leaf) == 0); /* its handle stays */
	destroy(mid);
	memcg_tick();
	must(key(top, "kernel") == exact_usage(top) * MEMCG_PAGE_SIZE && exact_usage(top) > 0);
	memcg_put(leaf);
	memcg_tick();
	memcg_tick();
	must(exact_usage(top) == 0 && key(top, "kernel") == 0 && key(top, "slab_unreclaimable") == 0);
	stat_conserved();
}

static void parents_that_die(void **state)
{
	(void)state;
	child_expect_ok(child_run(parent_dies, NULL));
}

static void not_asked(const void *arg)
{
	(void)arg;
	start(0);
	group_make(top, "a");
	must(exact_usage(memcg_root()) == 0);
	must(key(memcg_root(), "kernel") == 0 && key(memcg_root(), "percpu") == 0);
}

static void not_without_the_option(void **state)
{
	(void)state;
	child_expect_ok(child_run(not_asked, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(charged_to_the_parent),
		cmocka_unit_test(no_room_no_child),
		cmocka_unit_test(parents_that_die),
		cmocka_unit_test(not_without_the_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
