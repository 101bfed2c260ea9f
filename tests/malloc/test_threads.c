/* SPDX-License-Identifier: MIT */
/* Groups by thread name: joined at the first allocation, left when renamed, by whomever. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>

static sem_t ready, go;

static long held_by(const char *name)
{
	struct memcg *group;
	long held;

	if (memcg_open(name, &group))
		return -1;
	held = amount(group, "memory.current");
	memcg_put(group);
	return held;
}

static bool holds(const char *name, size_t bytes)
{
	long held = held_by(name);

	return held >= (long)bytes && held < (long)bytes + SLACK;
}

static void *allocate(void *arg)
{
	return malloc(32 * MIB);
}

static void *run(void *(*function)(void *), void *arg)
{
	pthread_t thread;
	void *result;

	CHECK(!pthread_create(&thread, NULL, function, arg));
	CHECK(!pthread_join(thread, &result));
	return result;
}

static void *rename_and_allocate(void *name)
{
	void *first = malloc(32 * MIB);

	CHECK(!pthread_setname_np(pthread_self(), name));
	CHECK(!strcmp(name, "main") || held_by(name) >= 0); /* at once */

	void *second = malloc(32 * MIB);

	free(first);
	return second;
}

static void test_names(void)
{
	void *inherited = run(allocate, NULL); /* a new thread has its creator's name */
	void *named = run(rename_and_allocate, (char[]){ "worker" });

	CHECK(holds("main", 32 * MIB));
	CHECK(holds("worker", 32 * MIB));
	free(inherited);
	free(named); /* the payer is credited, and its thread is gone */
	CHECK(holds("main", 0) && holds("worker", 0));
}

static void *prctl_and_allocate(void *name)
{
	CHECK(!prctl(PR_SET_NAME, name));
	return malloc(32 * MIB);
}

/* What a group's name may not be is written \xNN. */
static void test_mapping(void)
{
	static const char names[][2][24] = {
		{ "a/b", "a\\x2fb" },  { "a\nb", "a\\x0ab" }, { ".", "\\x2e" },  { "..", "\\x2e." },
		{ "a\\b", "a\\x5cb" }, { "...", "..." },      { "", "unnamed" }, { "\xc3\xa4 b", "\xc3\xa4 b" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[24];

		memcpy(name, names[i][0], sizeof(name));
		void *block = run(prctl_and_allocate, name);

		CHECK(holds(names[i][1], 32 * MIB));
		free(block);
	}
}

static void *wait_and_allocate(void *arg)
{
	void *first = malloc(100);

	sem_post(&ready);
	sem_wait(&go);
	free(first);
	return malloc(32 * MIB);
}

static void test_renamed_by_another(void)
{
	pthread_t thread;
	void *block;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	CHECK(!pthread_create(&thread, NULL, wait_and_allocate, NULL));
	sem_wait(&ready);
	CHECK(!pthread_setname_np(thread, "other"));
	sem_post(&go);
	CHECK(!pthread_join(thread, &block));
	CHECK(holds("other", 32 * MIB));
	free(block);
}

static pthread_key_t key;

/* Runs when the thread ends, perhaps after our own destructor. */
static void destructor(void *block)
{
	static __thread int again;

	free(block);
	if (again++ < 3)
		pthread_setspecific(key, malloc(100));
}

static void *set_key(void *arg)
{
	pthread_setspecific(key, malloc(100));
	return NULL;
}

static void test_thread_exit(void)
{
	CHECK(!pthread_key_create(&key, destructor));
	for (int i = 0; i < 200; i++)
		run(set_key, NULL);
}

int main(void)
{
	check_preloaded();
	pthread_setname_np(pthread_self(), "main");
	test_names();
	test_mapping();
	test_renamed_by_another();
	test_thread_exit();
	return 0;
}
