/* SPDX-License-Identifier: MIT */
/* fork() while other threads allocate: each child goes on with a consistent tree (B5). */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_THREADS 4
#define NR_FORKS 40

static int stop;

static void *churn(void *arg)
{
	unsigned int seed = (unsigned int)(size_t)arg;
	void *blocks[64] = { 0 };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int i = rand_r(&seed) % 64;

		free(blocks[i]);
		blocks[i] = malloc((size_t)rand_r(&seed) % 20000);
	}
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
	return NULL;
}

static void *allocate(void *arg)
{
	return malloc(2 * MIB);
}

/* In the child: the parent's block is still ours to free, threads start, limits hold. */
static int child(void *inherited)
{
	long before = amount(NULL, "memory.current");
	pthread_t thread;
	void *block;

	free(inherited);
	CHECK(amount(NULL, "memory.current") < before);
	CHECK(!pthread_create(&thread, NULL, allocate, NULL));
	CHECK(!pthread_join(thread, &block) && block);
	free(block);
	set_amount(NULL, "memory.max", "24M");
	CHECK(!malloc(32 * MIB)); /* the C library fills it first where MALLOC_PERTURB_ is set */
	return 0;
}

int main(void)
{
	pthread_t threads[NR_THREADS];

	check_preloaded();
	for (size_t i = 0; i < NR_THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, churn, (void *)(i + 1)));
	for (int i = 0; i < NR_FORKS; i++) {
		void *block = malloc(4 * MIB);
		pid_t pid = fork();
		int status;

		OPAQUE(block);
		CHECK(pid >= 0);
		if (!pid)
			_exit(child(block));
		free(block);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(amount(NULL, "memory.current") < SLACK);
	return 0;
}
