/* SPDX-License-Identifier: MIT */
/*
 * Trap 10: a library that is opened late, used, and closed stays mapped; threads may have pointers into it.
 * The shared library of this build, beside the static one in this program, which is not used here.
 */
#include "support/child.h"

#include <dlfcn.h>
#include <pthread.h>

#include <memcg/charge.h>

static struct {
	int (*init)(const struct memcg_options *options);
	int (*create)(struct memcg *parent, const char *name, struct memcg **group);
	int (*destroy)(struct memcg *group);
	void (*put)(struct memcg *group);
	int (*attach)(struct memcg *group);
	int (*charge)(struct memcg *group, unsigned long nr, unsigned int flags);
	void (*uncharge)(struct memcg *group, unsigned long nr);
	void (*tick)(void);
} api;

static char path[4200];

static void *resolve(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	must(symbol != NULL);
	return symbol;
}

static void *open_library(void)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		dprintf(STDERR_FILENO, "%s\n", dlerror());
	must(library != NULL);
	*(void **)&api.init = resolve(library, "memcg_init");
	*(void **)&api.create = resolve(library, "memcg_create");
	*(void **)&api.destroy = resolve(library, "memcg_destroy");
	*(void **)&api.put = resolve(library, "memcg_put");
	*(void **)&api.attach = resolve(library, "memcg_attach");
	*(void **)&api.charge = resolve(library, "memcg_charge");
	*(void **)&api.uncharge = resolve(library, "memcg_uncharge");
	*(void **)&api.tick = resolve(library, "memcg_tick");
	return library;
}

static bool mapped(void)
{
	void *again = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (again)
		dlclose(again);
	return again != NULL;
}

static struct memcg *group;

static void use(void)
{
	unsigned long i;

	for (i = 0; i < 5000; i++) {
		must(api.charge(group, i % 140 + 1, 0) == 0);
		api.uncharge(group, i % 140 + 1);
	}
}

static pthread_barrier_t barrier;

static void *outlives_the_close(void *arg)
{
	must(api.attach(group) == 0);
	use();
	pthread_barrier_wait(&barrier); /* closed meanwhile */
	pthread_barrier_wait(&barrier);
	if (arg)
		use();
	return NULL; /* its exit detaches it, by a destructor in the library */
}

static void closes(const void *arg)
{
	struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };
	pthread_t threads[2];
	void *library = open_library();

	(void)arg;
	must(api.init(&options) == 0);
	must(api.create(NULL, "g", &group) == 0);
	use();
	pthread_barrier_init(&barrier, NULL, 3);
	must(pthread_create(&threads[0], NULL, outlives_the_close, NULL) == 0);
	must(pthread_create(&threads[1], NULL, outlives_the_close, &group) == 0);
	pthread_barrier_wait(&barrier);
	must(api.destroy(group) == -EBUSY);
	must(dlclose(library) == 0);
	must(mapped());
	use(); /* this thread's last sequence was one of the library's */
	pthread_barrier_wait(&barrier);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	must(api.destroy(group) == 0); /* wakes the housekeeping thread of a closed library */
	api.put(group);
	api.tick();

	/* opened again: the same library, started already */
	library = open_library();
	must(api.init(&options) == -EBUSY);
	must(api.create(NULL, "g", &group) == 0);
	use();
	must(api.destroy(group) == 0);
	api.put(group);
	must(dlclose(library) == 0);
	must(fork() >= 0); /* handlers of fork are still there */
}

static void stays_mapped(void **state)
{
	(void)state;
	if (access(path, R_OK))
		skip();
	child_expect_ok(child_run(closes, NULL));
}

static void opens_and_closes(const void *arg)
{
	(void)arg;
	must(dlclose(open_library()) == 0);
	must(mapped());
}

static void unused_too(void **state)
{
	(void)state;
	if (access(path, R_OK))
		skip();
	child_expect_ok(child_run(opens_and_closes, NULL));
}

/* tests/ and lib/ are side by side in a build folder. */
static int find_library(void **state)
{
	ssize_t len = readlink("/proc/self/exe", path, 4096);
	char *slash;

	(void)state;
	if (len <= 0)
		return -1;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -1;
	strcpy(slash, "/../lib/libmemcg.so.0");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_mapped),
		cmocka_unit_test(unused_too),
	};

	return cmocka_run_group_tests(tests, find_library, NULL);
}
