/* SPDX-License-Identifier: MIT */
/* Groups by thread name: joined at the first allocation, left when renamed, by whomever. */
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

static pthread_key_t last_key;

/* Allocates for the first time in the last round of destructors: none of its own runs afterwards. */
static void allocate_in_last_round(void *arg)
{
	static __thread int rounds;

	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(last_key, &last_key);
	else
		free(malloc(100));
}

static void *set_last_key(void *arg)
{
	pthread_setspecific(last_key, &last_key);
	return NULL;
}

/* Its stack, and what is thread-local there, is unmapped when it ends. */
static void run_on_large_stack(void *(*function)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(!pthread_attr_init(&attr));
	CHECK(!pthread_attr_setstacksize(&attr, 64 * MIB));
	CHECK(!pthread_create(&thread, &attr, function, NULL));
	CHECK(!pthread_join(thread, NULL));
	pthread_attr_destroy(&attr);
}

static void test_ended_unseen(void)
{
	CHECK(!pthread_key_create(&last_key, allocate_in_last_round));
	for (int i = 0; i < 3; i++)
		run_on_large_stack(set_last_key);
	test_renamed_by_another();
}

/* Named before it allocates at all. */
static void *only_waits(void *arg)
{
	sem_post(&ready);
	sem_wait(&go);
	return malloc(32 * MIB);
}

static void test_renamed_before_it_allocates(void)
{
	pthread_t thread;
	void *block;

	CHECK(!pthread_create(&thread, NULL, only_waits, NULL));
	sem_wait(&ready);
	CHECK(!pthread_setname_np(thread, "early"));
	CHECK(!pthread_setname_np(pthread_self(), "main"));
	sem_post(&go);
	CHECK(!pthread_join(thread, &block));
	CHECK(holds("early", 32 * MIB));
	free(block);
}

static void prctl_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static void np_name(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

/* The child shares our memory, thread-local too, until it ends: its names are its own, and what it allocates is ours. */
static void test_vfork(void (*set_name)(const char *))
{
	void *volatile block = NULL;
	pid_t pid = vfork();
	int status;

	if (!pid) {
		set_name("child");
		block = malloc(32 * MIB);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(held_by("child") < 0);
	CHECK(holds("main", 32 * MIB));
	free(block);
	block = malloc(32 * MIB);
	CHECK(holds("main", 32 * MIB) && held_by("child") < 0);
	free(block);
}

/* Another thread names the parent's while the child borrows it: the parent's thread sees it. */
static void *name_the_borrowed(void *arg)
{
	sem_wait(&ready);
	CHECK(!pthread_setname_np(*(pthread_t *)arg, "lent"));
	sem_post(&go);
	return NULL;
}

static void test_named_while_lent(void)
{
	pthread_t self = pthread_self(), thread;
	void *volatile block = NULL;
	pid_t pid;

	CHECK(!pthread_create(&thread, NULL, name_the_borrowed, &self));
	pid = vfork();
	if (!pid) {
		prctl(PR_SET_NAME, "child");
		sem_post(&ready);
		sem_wait(&go);
		free(malloc(100));
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	pthread_join(thread, NULL);
	block = malloc(32 * MIB);
	CHECK(holds("lent", 32 * MIB) && held_by("child") < 0);
	free(block);
	pthread_setname_np(pthread_self(), "main");
}

/* Children with memory of their own name themselves, also those of which no handler of fork() knows. */
static void test_forked(pid_t (*function)(void), const char *name)
{
	pid_t pid = function();
	int status;

	if (!pid) {
		prctl(PR_SET_NAME, name);
		free(malloc(100));
		_exit(held_by(name) >= 0 ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(held_by(name) < 0);
}

static pid_t bare_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
}

int main(void)
{
	check_preloaded();
	pthread_setname_np(pthread_self(), "main");
	test_names();
	test_mapping();
	test_renamed_by_another();
	test_thread_exit();
	test_ended_unseen();
	test_renamed_before_it_allocates();
	test_vfork(prctl_name);
	test_vfork(np_name);
	test_named_while_lent();
	test_forked(fork, "forked");
	test_forked(_Fork, "alone");
	test_forked(bare_fork, "cloned");
	return 0;
}
