/* SPDX-License-Identifier: MIT */
/* A lifeline shows that its thread has ended, however it did, and nothing before. */
#include "support/child.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "base/lifeline.h"
#include "support/robust.h"

static sem_t tied, may_end;

enum how {
	RETURNS,
	UNTIES,
	EXITS_BARELY,
};

struct tier {
	struct lifeline line; /* outlives the thread */
	enum how how;
};

static void *ties(void *arg)
{
	struct tier *tier = arg;

	lifeline_tie(&tier->line);
	sem_post(&tied);
	sem_wait(&may_end);
	if (tier->how == UNTIES)
		lifeline_untie(&tier->line);
	if (tier->how == EXITS_BARELY)
		syscall(SYS_exit, 0);
	return NULL;
}

static pthread_t start(struct tier *tier, enum how how)
{
	pthread_t thread;

	tier->how = how;
	assert_int_equal(pthread_create(&thread, NULL, ties, tier), 0);
	sem_wait(&tied);
	return thread;
}

static void ends(enum how how)
{
	struct tier tier;
	pthread_t thread = start(&tier, how);

	assert_false(lifeline_is_cut(&tier.line));
	assert_false(lifeline_is_cut(&tier.line));
	sem_post(&may_end);
	pthread_join(thread, NULL);
	if (how != UNTIES)
		assert_true(lifeline_is_cut(&tier.line));
}

static void however_it_ends(void **state)
{
	(void)state;
	if (!robust_mutexes_work())
		skip();
	ends(RETURNS);
	ends(UNTIES);
	if (!SANITIZED)
		ends(EXITS_BARELY);
}

static void own_line_is_not_cut(void **state)
{
	struct lifeline line;

	(void)state;
	lifeline_tie(&line);
	assert_false(lifeline_is_cut(&line));
	lifeline_untie(&line);
}

/* Of two lines, the one of the thread that ended. */
static void two_threads(void **state)
{
	struct tier tiers[2];
	pthread_t first, second;

	(void)state;
	if (!robust_mutexes_work())
		skip();
	first = start(&tiers[0], RETURNS);
	sem_post(&may_end);
	pthread_join(first, NULL);
	second = start(&tiers[1], RETURNS);
	assert_false(lifeline_is_cut(&tiers[1].line));
	assert_true(lifeline_is_cut(&tiers[0].line));
	sem_post(&may_end);
	pthread_join(second, NULL);
	assert_true(lifeline_is_cut(&tiers[1].line));
}

static void in_a_child(const void *arg)
{
	struct lifeline *line = (struct lifeline *)(uintptr_t)arg;

	lifeline_tie(line);
	must(!lifeline_is_cut(line));
	lifeline_untie(line);
}

static void fork_ties_again(void **state)
{
	struct lifeline line;

	(void)state;
	lifeline_tie(&line);
	child_expect_ok(child_run(in_a_child, &line));
	assert_false(lifeline_is_cut(&line));
	lifeline_untie(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(however_it_ends),
		cmocka_unit_test(own_line_is_not_cut),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(fork_ties_again),
	};

	sem_init(&tied, 0, 0);
	sem_init(&may_end, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
