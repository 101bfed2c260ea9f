/* SPDX-License-Identifier: MIT */
/* Change notification with the housekeeping thread: nobody ticks. */
#include "support/child.h"

#include <memcg/charge.h>
#include <memcg/files.h>
#include <poll.h>
#include <pthread.h>

#include "base/mem.h"
#include "group/group.h"

static struct memcg *group;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };

	(void)state;
	return memcg_init(&options);
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "x", &group) || memcg_write(group, "memory.max", "0", 1) != 1;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	return 0;
}

static void raise_max(void)
{
	must(memcg_charge(group, 1, 0) == -ENOMEM);
}

/* Within a time that no machine needs; a test that fails waits for it once. */
static bool becomes(const unsigned int *value, unsigned int wanted)
{
	int turns;

	for (turns = 0; turns < 100000 && load_seq(value) != wanted; turns++)
		usleep(100);
	return load_seq(value) == wanted;
}

static unsigned int seen;     /* max events when the function was called last; atomic */
static unsigned int calls;    /* atomic */
static pthread_t called_by;   /* of the last call */
static struct memcg *charged; /* memcg_current() there */

static void reads_max(struct memcg *listened, const char *file, void *arg)
{
	(void)file;
	(void)arg;
	called_by = pthread_self();
	charged = memcg_current();
	atomic_add(&calls, 1);
	store_seq(&seen, (unsigned int)load_seq(&listened->events.total[EVENT_MAX]));
}

static void called_by_the_thread(void **state)
{
	struct memcg_listener *listener;
	unsigned int i;

	(void)state;
	assert_int_equal(memcg_event_listen(group, "memory.events", reads_max, NULL, &listener), 0);
	raise_max();
	assert_true(becomes(&seen, 1));
	assert_false(pthread_equal(called_by, pthread_self()));
	assert_ptr_equal(charged, memcg_unaccounted());
	/* a burst: the last one is told without another event, and without a tick */
	for (i = 0; i < 1000; i++)
		raise_max();
	assert_true(becomes(&seen, 1001));
	memcg_event_unlisten(listener);
	calls = 0;
	raise_max();
	usleep(30000);
	assert_int_equal(calls, 0);
}

static void late_descriptor_fires(void **state)
{
	int fd = memcg_event_fd(group, "memory.events");
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t begin = clock_ns(), count;

	(void)state;
	raise_max();
	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	do
		raise_max();
	while (clock_ns() - begin < NOTIFY_INTERVAL_NS / 2);
	assert_int_equal(poll(&poll_fd, 1, 10000), 1); /* nobody raises or ticks any more */
	memcg_event_close(fd);
}

/* The thread ends when there is nothing to wait for, and is there again for the next listener. */
static void thread_comes_back(void **state)
{
	struct memcg_listener *listener;

	(void)state;
	usleep(2500000);
	seen = 0;
	assert_int_equal(memcg_event_listen(group, "memory.events.local", reads_max, NULL, &listener), 0);
	usleep(2500000); /* stays, with nothing to do */
	raise_max();
	assert_true(becomes(&seen, 1));
	memcg_event_unlisten(listener);
}

static struct memcg_listener *own;

static void ends_and_destroys(struct memcg *listened, const char *file, void *arg)
{
	struct memcg *made;

	(void)file;
	(void)arg;
	must(memcg_create(listened, "y", &made) == 0);
	must(memcg_destroy(made) == 0);
	memcg_put(made);
	memcg_event_unlisten(own);
	atomic_add(&calls, 1);
}

static void ends_itself_there(void **state)
{
	(void)state;
	calls = 0;
	assert_int_equal(memcg_event_listen(group, "memory.events", ends_and_destroys, NULL, &own), 0);
	raise_max();
	assert_true(becomes(&calls, 1));
	usleep(30000);
	assert_int_equal(calls, 1);
	assert_false(notify_wanted());
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(called_by_the_thread),
		CASE(late_descriptor_fires),
		CASE(thread_comes_back),
		CASE(ends_itself_there),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
