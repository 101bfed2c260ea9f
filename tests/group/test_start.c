/* SPDX-License-Identifier: MIT */
/* A start that fails, and may be tried again; an allocator that starts the library from within its start. */
#include "support/child.h"

#include <pthread.h>

#include "base/mem.h"
#include "group/group.h"
#include "support/backing.h"

#define TABLES 2 /* chunks of numbers, which the next try uses */

static const struct memcg_options counted = {
	.size = sizeof(counted),
	.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS,
	.backing = &backing_counted,
};

/* The C library's, until a test wants it to fail. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
extern void *__dso_handle;
static int atfork_error;
static int nr_atfork;

/* ThreadSanitizer itself calls it, before it can be called. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
__attribute__((disable_sanitizer_instrumentation))
#endif
#endif
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	if (atfork_error)
		return atfork_error;
	nr_atfork++;
	return __register_atfork(prepare, parent, child, __dso_handle);
}

static void works(void)
{
	struct memcg *group;
	pid_t pid;

	must(memcg_create(NULL, "group", &group) == 0);
	must(memcg_charge(group, 10, 0) == 0);
	memcg_uncharge(group, 10);
	pid = child_fork();
	if (!pid) {
		must(memcg_charge(group, 10, MEMCG_MAY_SLEEP) == 0);
		_exit(0);
	}
	must(child_wait(pid) == 0);
	must(memcg_destroy(group) == 0);
	memcg_put(group);
}

static void fails_at_fork_handlers(const void *arg)
{
	(void)arg;
	nr_atfork = 0;
	atfork_error = ENOMEM;
	must(memcg_init(&counted) == -ENOMEM);
	must(backing_live == TABLES);
	must(memcg_init(&counted) == -ENOMEM);
	must(backing_live == TABLES);
	atfork_error = 0;
	must(memcg_init(&counted) == 0);
	must(nr_atfork == 1);
	must(memcg_root()->css.nr_descendants == 0 && memcg_root()->css.nr_dying == 0);
	works();
}

static void no_fork_handlers(void **state)
{
	(void)state;
	child_expect_ok(child_run(fails_at_fork_handlers, NULL));
}

static void fails_for_memory(const void *arg)
{
	long nr;

	(void)arg;
	nr_atfork = 0;
	for (nr = 0;; nr++) {
		backing_left = nr;
		if (memcg_init(&counted) == 0)
			break;
		must(nr < 20);
		must(backing_live <= TABLES);
	}
	must(nr > TABLES);
	backing_left = 1L << 60;
	must(nr_atfork == 1);
	works();
}

static void no_memory(void **state)
{
	(void)state;
	child_expect_ok(child_run(fails_for_memory, NULL));
}

static int from_within[2];
static int nr_within;

static void *comes_back(size_t align, size_t size)
{
	if (!nr_within++) {
		from_within[0] = memcg_init(NULL);
		from_within[1] = memcg_init(&counted);
	}
	return aligned_alloc(align, size);
}

static void backing_comes_back(const void *arg)
{
	struct memcg_backing backing = backing_counted;
	struct memcg_options options = counted;

	(void)arg;
	backing.aligned_alloc = comes_back;
	backing.free = free;
	options.backing = &backing;
	must(memcg_init(&options) == 0);
	must(nr_within > 0);
	must(from_within[0] == -EBUSY && from_within[1] == -EBUSY);
	must(memcg_init(NULL) == 0);
	works();
}

static void start_within_the_start(void **state)
{
	(void)state;
	child_expect_ok(child_run(backing_comes_back, NULL));
}

/* As libmemcg-malloc.so: the first call starts the library, with what is below as backing. */
static void *starts_first(size_t size)
{
	if (!nr_within++)
		from_within[0] = memcg_init(&counted);
	return backing_malloc(size);
}

static void malloc_starts(const void *arg)
{
	const struct memcg_options *options = arg;

	mem_backing = backing_counted;
	mem_backing.malloc = starts_first;
	if (options)
		must(memcg_init(options) == -EBUSY);
	else
		must(memcg_root() != NULL);
	must(nr_within == 1 && from_within[0] == 0);
	must(mem_backing.malloc == backing_malloc);
	works();
}

static void an_allocator_that_starts_it(void **state)
{
	const struct memcg_options plain = { .size = sizeof(plain) };

	(void)state;
	child_expect_ok(child_run(malloc_starts, NULL));
	child_expect_ok(child_run(malloc_starts, &plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_fork_handlers),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(start_within_the_start),
		cmocka_unit_test(an_allocator_that_starts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
