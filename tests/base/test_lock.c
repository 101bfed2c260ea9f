/* SPDX-License-Identifier: MIT */
/* Ranked locks and asserts: what a debug build must catch ends the process, and what is right does not. */
#include "support/child.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/lock.h"

static struct lock tree = LOCK_INIT(LOCK_RANK_TREE);
static struct lock other_tree = LOCK_INIT(LOCK_RANK_TREE);
static struct lock drain = LOCK_INIT(LOCK_RANK_DRAIN);
static struct lock wake = LOCK_INIT(LOCK_RANK_WAKE);

static void rising(const void *arg)
{
	(void)arg;
	lock_take(&tree);
	lock_take(&drain);
	lock_take(&wake);
	lock_drop(&drain); /* not in the order of taking */
	lock_drop(&wake);
	lock_drop(&tree);
	lock_take(&drain);
	lock_drop(&drain);
	lock_take(&tree);
	lock_drop(&tree);
}

static void falling(const void *arg)
{
	(void)arg;
	lock_take(&drain);
	lock_take(&tree);
}

static void same_rank(const void *arg)
{
	(void)arg;
	lock_take(&tree);
	lock_take(&other_tree);
}

static void below_after_gap(const void *arg)
{
	(void)arg;
	lock_take(&tree);
	lock_take(&wake);
	lock_take(&drain);
}

static void drop_not_held(const void *arg)
{
	(void)arg;
	lock_drop(&tree);
}

static void tried_out_of_order(const void *arg)
{
	(void)arg;
	lock_take(&drain);
	(void)lock_try(&tree);
}

/* A fork's child makes anew what its parent's thread held. */
static void reinit(const void *arg)
{
	(void)arg;
	lock_take(&tree);
	lock_reinit(&tree);
	lock_take(&tree);
	lock_drop(&tree);
}

static void ranks(void **state)
{
	const int refused = MEMCG_DEBUG ? CHILD_SIGNAL(SIGABRT) : 0;

	(void)state;
	assert_int_equal(child_run(rising, NULL), 0);
	assert_int_equal(child_run(reinit, NULL), 0);
	assert_int_equal(child_run(falling, NULL), refused);
	assert_int_equal(child_run(same_rank, NULL), refused);
	assert_int_equal(child_run(below_after_gap, NULL), refused);
	assert_int_equal(child_run(tried_out_of_order, NULL), refused);
	if (MEMCG_DEBUG)
		assert_int_equal(child_run(drop_not_held, NULL), refused);
}

/* Ranks are a thread's own. */
static void *takes_tree(void *arg)
{
	(void)arg;
	lock_take(&tree);
	lock_drop(&tree);
	return NULL;
}

static void ranks_are_per_thread(void **state)
{
	pthread_t thread;

	(void)state;
	lock_take(&wake);
	assert_int_equal(pthread_create(&thread, NULL, takes_tree, NULL), 0);
	pthread_join(thread, NULL);
	lock_drop(&wake);
}

static void *tries_wake(void *arg)
{
	bool *got = arg;

	*got = lock_try(&wake);
	if (*got)
		lock_drop(&wake);
	return NULL;
}

static bool another_gets_wake(void)
{
	pthread_t thread;
	bool got = false;

	assert_int_equal(pthread_create(&thread, NULL, tries_wake, &got), 0);
	pthread_join(thread, NULL);
	return got;
}

static void a_try_does_not_wait(void **state)
{
	(void)state;
	assert_true(another_gets_wake());
	assert_true(lock_try(&wake));
	assert_false(another_gets_wake());
	lock_drop(&wake);
	lock_take(&wake);
	assert_false(another_gets_wake());
	lock_drop(&wake);
	assert_true(another_gets_wake());
}

static unsigned long counted; /* by many threads, under the lock */

static void *counts(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 10000; i++) {
		lock_take(&drain);
		counted++;
		lock_drop(&drain);
	}
	return NULL;
}

static void lock_excludes(void **state)
{
	pthread_t threads[4];
	size_t i;

	(void)state;
	for (i = 0; i < array_size(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, counts, NULL), 0);
	for (i = 0; i < array_size(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counted, 40000);
}

static int evaluated;

static int once(int value)
{
	evaluated++;
	return value;
}

static void ends(int sig)
{
	_exit(CHILD_SIGNAL(sig));
}

static void always_fails(const void *arg)
{
	const int *fd = arg;

	signal(SIGABRT, ends); /* an emulator has a word of its own on an end by signal */
	dup2(*fd, STDERR_FILENO);
	memcg_assert(once(0) == 7);
}

/* One line with expression, file and line; then abort, in every build. */
static void assert_says_what_and_where(void **state)
{
	char text[512] = "";
	int fds[2], line;
	ssize_t len;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(child_run(always_fails, &fds[1]), CHILD_SIGNAL(SIGABRT));
	len = read(fds[0], text, sizeof(text) - 1);
	assert_true(len > 0);
	assert_int_equal(sscanf(text, "libmemcg: assertion failed: once(0) == 7 at %*[^:]:%d\n", &line), 1);
	assert_true(line > 0);
	assert_ptr_equal(strchr(text, '\n'), text + len - 1);
	close(fds[0]);
	close(fds[1]);
}

static void long_expression(const void *arg)
{
	char expr[1000];

	(void)arg;
	memset(expr, 'e', sizeof(expr) - 1);
	expr[sizeof(expr) - 1] = '\0';
	close(STDERR_FILENO); /* nowhere to write is no reason to go on */
	assert_failed(expr, "file.c", 1);
}

static void tiers(void **state)
{
	(void)state;
	evaluated = 0;
	memcg_assert(once(1));
	assert_int_equal(evaluated, 1);
	memcg_debug(once(1));
	assert_int_equal(evaluated, MEMCG_DEBUG ? 2 : 1);
	memcg_expensive(once(1));
	assert_int_equal(evaluated, 1 + (MEMCG_DEBUG ? 1 : 0) + (MEMCG_DEBUG >= 2 ? 1 : 0));
	assert_int_equal(child_run(long_expression, NULL), CHILD_SIGNAL(SIGABRT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks),         cmocka_unit_test(ranks_are_per_thread),
		cmocka_unit_test(lock_excludes), cmocka_unit_test(assert_says_what_and_where),
		cmocka_unit_test(tiers),         cmocka_unit_test(a_try_does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
