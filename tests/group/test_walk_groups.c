/* SPDX-License-Identifier: MIT */
/* T10: walks whose visits create, destroy, dump and walk; from several threads at once; each meets what stays, once. */
#include "support/child.h"

#include <fcntl.h>
#include <pthread.h>

#include "group/group.h"
#include "support/start.h"

#define STAYING 60

static struct memcg *top, *staying[STAYING];

static int setup(void **state)
{
	char name[16];
	int i;

	(void)state;
	if (memcg_create(NULL, "top", &top))
		return -1;
	for (i = 0; i < STAYING; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		if (memcg_create(i < 3 ? top : staying[(i - 1) / 2], name, &staying[i]))
			return -1;
	}
	return 0;
}

static int destroy_any(struct memcg *group, void *arg)
{
	int *left = arg;

	if (group != top && memcg_destroy(group) == -EBUSY)
		(*left)++;
	return 0;
}

static int teardown(void **state)
{
	int i, left = 1;

	(void)state;
	for (i = 0; i < STAYING; i++)
		memcg_put(staying[i]);
	while (left) {
		left = 0;
		assert_int_equal(memcg_walk(top, destroy_any, &left), 0);
	}
	assert_int_equal(top->css.nr_descendants, 0);
	assert_int_equal(memcg_destroy(top), 0);
	memcg_put(top);
	memcg_tick();
	return memcg_root()->css.nr_dying ? -1 : 0;
}

struct visits {
	int met[STAYING];
	int all;
	int made;
};

static void note(struct visits *visits, const struct memcg *group)
{
	int i;

	visits->all++;
	for (i = 0; i < STAYING; i++)
		visits->met[i] += group == staying[i];
}

static void expect_each_once(const struct visits *visits)
{
	int i;

	for (i = 0; i < STAYING; i++)
		must(visits->met[i] == 1);
}

static int only_note(struct memcg *group, void *arg)
{
	note(arg, group);
	return 0;
}

static void meets_each_once(void **state)
{
	struct visits visits = { { 0 }, 0, 0 };

	(void)state;
	assert_int_equal(memcg_walk(top, only_note, &visits), 0);
	expect_each_once(&visits);
	assert_int_equal(visits.all, STAYING + 1);
	memset(&visits, 0, sizeof(visits));
	assert_int_equal(memcg_walk(NULL, only_note, &visits), 0);
	assert_int_equal(visits.all, STAYING + 2);
	memset(&visits, 0, sizeof(visits));
	assert_int_equal(memcg_walk(staying[STAYING - 1], only_note, &visits), 0);
	assert_int_equal(visits.all, 1);
}

static int stop_at_7(struct memcg *group, void *arg)
{
	note(arg, group);
	return ((struct visits *)arg)->all == 7 ? -1234 : 0;
}

static void a_visit_ends_the_walk(void **state)
{
	struct visits visits = { { 0 }, 0, 0 };
	uint64_t refs = memcg_root()->css.refs;

	(void)state;
	assert_int_equal(memcg_walk(NULL, stop_at_7, &visits), -1234);
	assert_int_equal(visits.all, 7);
	assert_int_equal(memcg_root()->css.refs, refs); /* none kept */
}

static int dump_fd;

/* Everything that a visit may do. */
static int busy_visit(struct memcg *group, void *arg)
{
	struct visits *visits = arg, inner = { { 0 }, 0, 0 };
	struct memcg *child;
	char name[32];

	note(visits, group);
	if (visits->all > 1000)
		return 0; /* what is made below is walked too: an end to it */
	snprintf(name, sizeof(name), "new-%d", visits->made++);
	if (memcg_create(group, name, &child) == 0) {
		if (visits->made & 1)
			must(memcg_destroy(child) == 0);
		memcg_put(child);
	}
	must(memcg_dump(dump_fd, group, 3) == 0);
	must(memcg_walk(group, only_note, &inner) == 0);
	if (visits->made % 8 == 0)
		memcg_destroy(group); /* the position itself, where nothing is below it */
	return 0;
}

static int destroy_new(struct memcg *group, void *arg)
{
	int i;

	note(arg, group);
	for (i = 0; i < STAYING; i++) {
		if (group == staying[i])
			return 0;
	}
	if (group != top)
		memcg_destroy(group);
	return 0;
}

static void visits_change_the_tree(void **state)
{
	struct visits visits = { { 0 }, 0, 0 };
	int i, online = 0;

	(void)state;
	dump_fd = open("/dev/null", O_WRONLY);
	assert_true(dump_fd >= 0);
	assert_int_equal(memcg_walk(top, busy_visit, &visits), 0);
	for (i = 0; i < STAYING; i++) {
		online += !memcg_dying(staying[i]);
		if (!memcg_dying(staying[i]))
			assert_int_equal(visits.met[i], 1);
	}
	assert_true(online > 0);
	close(dump_fd);
}

static void *walks(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 30; i++) {
		struct visits visits = { { 0 }, 0, 0 };

		must(memcg_walk(top, i & 1 ? destroy_new : only_note, &visits) == 0);
		expect_each_once(&visits);
	}
	return NULL;
}

static void *makes(void *arg)
{
	const char *prefix = arg;
	struct memcg *group;
	char name[32];
	int i;

	for (i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "%s-%d", prefix, i);
		must(memcg_create(staying[i % STAYING], name, &group) == 0);
		if (i & 1)
			memcg_destroy(group);
		memcg_put(group);
	}
	return NULL;
}

/* Walkers, makers, destroyers and a dumper together. */
static void walks_beside_changes(void **state)
{
	static char a[] = "a", b[] = "b";
	pthread_t threads[4];
	int i, fd = open("/dev/null", O_WRONLY);

	(void)state;
	assert_int_equal(pthread_create(&threads[0], NULL, walks, NULL), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, walks, NULL), 0);
	assert_int_equal(pthread_create(&threads[2], NULL, makes, a), 0);
	assert_int_equal(pthread_create(&threads[3], NULL, makes, b), 0);
	for (i = 0; i < 30; i++)
		assert_int_equal(memcg_dump(fd, top, 5), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close(fd);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(meets_each_once),
		CASE(a_visit_ends_the_walk),
		CASE(visits_change_the_tree),
		CASE(walks_beside_changes),
	};

	return cmocka_run_group_tests(tests, start_threaded, NULL);
}
