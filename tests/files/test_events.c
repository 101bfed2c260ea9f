/* SPDX-License-Identifier: MIT */
/* Change notification without library threads: what fires, when, in which groups; what functions may do; ends, and fork. */
#include "support/child.h"

#include <fcntl.h>
#include <memcg/charge.h>
#include <memcg/files.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/mem.h"
#include "charge/drain.h"
#include "group/group.h"
#include "support/backing.h"

#define INTERVAL_US (NOTIFY_INTERVAL_NS / 1000)

static struct memcg *parent, *child;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &backing_counted };

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	return memcg_init(&options);
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "parent", &parent) || memcg_create(parent, "child", &child) ||
	       memcg_write(child, "memory.max", "0", 1) != 1;
}

static int teardown(void **state)
{
	(void)state;
	if (!memcg_dying(child))
		assert_int_equal(memcg_destroy(child), 0);
	memcg_put(child);
	assert_int_equal(memcg_destroy(parent), 0);
	memcg_put(parent);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0); /* no listener was forgotten */
	assert_false(notify_wanted());
	return 0;
}

/* A max event in child, and so in all above. */
static void raise_max(void)
{
	must(memcg_charge(child, 1, 0) == -ENOMEM);
}

static bool readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

/* Notifications since the last look. */
static unsigned int told(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? (unsigned int)count : 0;
}

/* What was too soon to tell is told. */
static void let_time_pass(void)
{
	usleep(INTERVAL_US + 1000);
	memcg_tick();
}

static int event_fd(struct memcg *group, const char *file)
{
	int fd = memcg_event_fd(group, file);

	assert_true(fd >= 0);
	return fd;
}

static int nr_open_fds(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void refused(void **state)
{
	struct memcg_listener *listener = NULL;
	int fds = nr_open_fds();
	long live = backing_live;

	(void)state;
	assert_int_equal(memcg_event_fd(child, "memory.max"), -EOPNOTSUPP);
	assert_int_equal(memcg_event_fd(child, "memory.swap.events"), -EOPNOTSUPP);
	assert_int_equal(memcg_event_fd(child, "memory.event"), -ENOENT);
	assert_int_equal(memcg_event_fd(child, NULL), -EINVAL);
	assert_int_equal(memcg_event_fd(memcg_unaccounted(), "memory.events"), -EINVAL);
	backing_left = 0;
	assert_int_equal(memcg_event_fd(child, "memory.events"), -ENOMEM);
	backing_left = 1L << 60;
	assert_int_equal(memcg_event_listen(child, "memory.events", NULL, NULL, &listener), -EINVAL);
	memcg_event_unlisten(NULL);
	memcg_event_close(-1);
	assert_null(listener);
	assert_int_equal(nr_open_fds(), fds);
	assert_int_equal(backing_live, live);
}

static void descriptors_run_out(void **state)
{
	struct rlimit old, few = { 0, 0 };
	int fds = nr_open_fds(), used[64], nr = 0, fd;
	long live = backing_live;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_cur = 64;
	few.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((fd = dup(STDERR_FILENO)) >= 0)
		used[nr++] = fd;
	assert_int_equal(memcg_event_fd(child, "memory.events"), -EMFILE);
	close(used[--nr]); /* one is not enough: the library keeps its own */
	assert_int_equal(memcg_event_fd(child, "memory.events"), -EMFILE);
	while (nr)
		close(used[--nr]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(nr_open_fds(), fds);
	assert_int_equal(backing_live, live);
}

static void descriptor_is_an_eventfd(void **state)
{
	int fd = event_fd(child, "memory.events");

	(void)state;
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_false(readable(fd));
	assert_int_equal(told(fd), 0);
	assert_int_equal(errno, EAGAIN);
	raise_max();
	assert_true(readable(fd));
	assert_int_equal(told(fd), 1);
	assert_false(readable(fd));
	memcg_event_close(fd);
}

/* An event counts in its group and in all above; .local in its group alone. */
static void hierarchy(void **state)
{
	static const char *const files[] = { "memory.events", "memory.events.local", "cgroup.events" };
	struct memcg *const groups[] = { child, parent, NULL };
	int fds[3][3];
	size_t g, f;

	(void)state;
	for (g = 0; g < 3; g++) {
		for (f = 0; f < 3; f++)
			fds[g][f] = event_fd(groups[g], files[f]);
	}
	raise_max();
	for (g = 0; g < 3; g++) {
		for (f = 0; f < 3; f++) {
			assert_int_equal(told(fds[g][f]), f == 0 || (f == 1 && g == 0));
			memcg_event_close(fds[g][f]);
		}
	}
}

/* One at once, one in each interval, and the last one for sure. */
static void rate(void **state)
{
	int fd = event_fd(parent, "memory.events");
	uint64_t begin = clock_ns();
	const struct notify *on = &parent->events.files[EVENTS_TOTAL];
	unsigned int i, most, late;

	(void)state;
	for (i = 0; i < 1000; i++)
		raise_max();
	late = load_relaxed(&on->late);
	most = 1 + (unsigned int)((clock_ns() - begin) / NOTIFY_INTERVAL_NS);
	assert_in_range(told(fd), 1, most);
	memcg_tick(); /* too soon still, or not */
	let_time_pass();
	assert_int_equal(told(fd), late);
	let_time_pass();
	assert_int_equal(told(fd), 0); /* nothing more to tell */
	memcg_event_close(fd);
}

static void several_listeners(void **state)
{
	int fds[8];
	size_t i;

	(void)state;
	for (i = 0; i < array_size(fds); i++)
		fds[i] = event_fd(child, "memory.events");
	raise_max();
	for (i = 0; i < array_size(fds); i += 2)
		memcg_event_close(fds[i]);
	for (i = 1; i < array_size(fds); i += 2)
		assert_int_equal(told(fds[i]), 1);
	let_time_pass();
	raise_max();
	for (i = 1; i < array_size(fds); i += 2) {
		assert_int_equal(told(fds[i]), 1);
		memcg_event_close(fds[i]);
	}
}

/* After close(2) alone the library never writes to that number again. */
static void closed_behind_its_back(void **state)
{
	int fd = event_fd(child, "memory.events"), ends[2], again;

	(void)state;
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); /* one of them has the number */
	assert_true(ends[0] == fd || ends[1] == fd);
	raise_max();
	assert_false(readable(ends[0]) || readable(ends[1]));
	close(ends[0]);
	close(ends[1]);
	again = event_fd(child, "memory.events");
	let_time_pass();
	raise_max();
	let_time_pass();
	assert_true(told(again) > 0);
	memcg_event_close(again);
	/* the library's own of the first goes with the group */
	assert_true(notify_wanted());
	assert_int_equal(memcg_destroy(child), 0);
	memcg_tick();
	assert_false(notify_wanted());
}

/* Functions. */

static unsigned int calls;
static struct memcg *called_for;
static struct memcg_listener *listener;

static void counts(struct memcg *group, const char *file, void *arg)
{
	must(!strcmp(file, "memory.events"));
	must(arg == &calls);
	called_for = group;
	calls++;
}

static void listen_to(struct memcg *group, void (*fn)(struct memcg *, const char *, void *))
{
	calls = 0;
	assert_int_equal(memcg_event_listen(group, "memory.events", fn, &calls, &listener), 0);
}

static void function_is_called(void **state)
{
	(void)state;
	listen_to(parent, counts);
	memcg_tick();
	assert_int_equal(calls, 0);
	raise_max();
	assert_int_equal(calls, 0); /* not where it is raised */
	memcg_tick();
	assert_int_equal(calls, 1);
	assert_ptr_equal(called_for, parent);
	memcg_tick();
	assert_int_equal(calls, 1);
	raise_max();
	raise_max();
	let_time_pass();
	memcg_tick();
	assert_int_equal(calls, 2); /* several changes, one call */
	raise_max();
	memcg_event_unlisten(listener);
	let_time_pass();
	assert_int_equal(calls, 2);
}

/* All that a function may do. */
static void does_everything(struct memcg *group, const char *file, void *arg)
{
	struct memcg *made, *found;
	struct memcg_listener *other;
	char text[4096];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if ((*(unsigned int *)arg)++)
		return;
	must(memcg_read(group, file, text, sizeof(text)) > 0 && strstr(text, "max 1\n"));
	must(memcg_create(group, "made", &made) == 0);
	must(memcg_open("parent/made", &found) == 0);
	must(memcg_write(made, "memory.max", "16384", 5) == 5);
	must(memcg_charge(made, 1, MEMCG_MAY_SLEEP) == 0);
	must(memcg_charge(made, 8, MEMCG_MAY_SLEEP) == -ENOMEM); /* raises an event in @group */
	must(memcg_dump(null, NULL, 4) == 0);
	memcg_uncharge(made, 1);
	must(memcg_event_listen(made, "memory.events", counts, arg, &other) == 0);
	memcg_event_unlisten(other);
	memcg_event_close(memcg_event_fd(made, "cgroup.events"));
	must(memcg_destroy(made) == 0);
	memcg_put(made);
	memcg_put(found);
	drain_stock(group);
	memcg_event_unlisten(listener); /* itself */
	close(null);
}

static void function_does_everything(void **state)
{
	(void)state;
	listen_to(parent, does_everything);
	raise_max();
	memcg_tick();
	assert_int_equal(calls, 1);
	let_time_pass();
	memcg_tick();
	assert_int_equal(calls, 1); /* it ended itself */
}

/* Two listeners: each ends the other, whichever is called first. */
static struct memcg_listener *pair[2];

static void ends_other(struct memcg *group, const char *file, void *arg)
{
	(void)group;
	(void)file;
	calls++;
	memcg_event_unlisten(pair[*(int *)arg]);
}

static void functions_end_each_other(void **state)
{
	static int other[2] = { 1, 0 };

	(void)state;
	calls = 0;
	assert_int_equal(memcg_event_listen(child, "memory.events", ends_other, &other[0], &pair[0]), 0);
	assert_int_equal(memcg_event_listen(child, "memory.events", ends_other, &other[1], &pair[1]), 0);
	raise_max();
	memcg_tick();
	assert_int_equal(calls, 1);
	/* the one that was called is left: newest first */
	memcg_event_unlisten(pair[1]);
}

/* The tick is not for functions, but does no harm there: one call at a time. */
static void ticks_inside(struct memcg *group, const char *file, void *arg)
{
	static bool inside;

	(void)group;
	(void)file;
	(void)arg;
	must(!inside);
	inside = true;
	calls++;
	raise_max();
	memcg_tick();
	inside = false;
}

static void function_ticks(void **state)
{
	(void)state;
	listen_to(child, ticks_inside);
	raise_max();
	memcg_tick();
	assert_int_equal(calls, 1);
	memcg_event_unlisten(listener);
}

/* Destruction. */

static void sees_no_group(struct memcg *group, const char *file, void *arg)
{
	char text[128];

	must(memcg_read(group, file, text, sizeof(text)) == -ENODEV);
	++*(unsigned int *)arg;
}

static void destruction_tells(void **state)
{
	static const char *const files[] = { "memory.events", "memory.events.local", "cgroup.events" };
	unsigned int ended = 0;
	int fds[3];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		fds[i] = event_fd(child, files[i]);
	assert_int_equal(memcg_event_listen(child, "cgroup.events", sees_no_group, &ended, &listener), 0);
	raise_max(); /* the destruction is told at once all the same */
	assert_int_equal(told(fds[0]) + told(fds[1]), 2);
	assert_int_equal(memcg_destroy(child), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(told(fds[i]), 1);
	memcg_tick();
	assert_int_equal(ended, 1);
	assert_int_equal(memcg_event_fd(child, "memory.events"), -ENODEV);
	assert_int_equal(memcg_event_listen(child, "memory.events", counts, &calls, &pair[0]), -ENODEV);
	for (i = 0; i < 3; i++)
		memcg_event_close(fds[i]);               /* the library let go of them already */
	assert_int_equal(memcg_root()->css.nr_dying, 1); /* the function's listener still has it */
	memcg_event_unlisten(listener);
}

/* Handlers. */

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	int before = errno;

	(void)sig;
	raise_max();
	must(errno == before);
	handled++;
}

/* A timer raises events amid everything that a listener's life consists of. */
static void raised_by_a_handler(void **state)
{
	const struct itimerval fast = { { 0, 200 }, { 0, 200 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	unsigned int seen = 0, rounds = 0;
	int fd = event_fd(parent, "memory.events");

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &fast, NULL), 0);
	while (handled < 200) {
		int other = event_fd(child, "memory.events.local");

		listen_to(child, counts);
		memcg_tick();
		memcg_event_unlisten(listener);
		memcg_event_close(other);
		seen += told(fd);
		rounds++;
	}
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	signal(SIGALRM, SIG_IGN); /* one may be on its way still, under valgrind */
	let_time_pass();
	seen += told(fd);
	assert_in_range(seen, 2, (unsigned int)handled);
	assert_true(rounds > 1);
	memcg_event_close(fd);
}

/* Threads: the count that the last notification led to is the last count. */

static int stop; /* atomic */

static void *raises_many(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 5000; i++)
		raise_max();
	atomic_add(&stop, 1);
	return NULL;
}

static void counts_atomically(struct memcg *group, const char *file, void *arg)
{
	(void)group;
	(void)file;
	atomic_add((unsigned int *)arg, 1);
}

static void *comes_and_goes(void *arg)
{
	static unsigned int ignored;

	(void)arg;
	while (load_seq(&stop) < 2) {
		struct memcg_listener *mine;
		int fd = memcg_event_fd(child, "memory.events");

		must(fd >= 0);
		must(memcg_event_listen(child, "memory.events.local", counts_atomically, &ignored, &mine) == 0);
		memcg_tick();
		memcg_event_unlisten(mine);
		memcg_event_close(fd);
	}
	return NULL;
}

static unsigned long last_seen; /* of max events of parent; atomic */

static void reads_max(struct memcg *group, const char *file, void *arg)
{
	(void)file;
	(void)arg;
	store_seq(&last_seen, load_seq(&group->events.total[EVENT_MAX]));
}

static void *ticks(void *arg)
{
	(void)arg;
	while (load_seq(&stop) < 2)
		memcg_tick();
	return NULL;
}

static void nothing_is_lost(void **state)
{
	static void *(*const bodies[])(void *) = { raises_many, raises_many, comes_and_goes, ticks };
	pthread_t threads[array_size(bodies)];
	size_t i;

	(void)state;
	store_seq(&stop, 0);
	listen_to(parent, reads_max);
	for (i = 0; i < array_size(bodies); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
	for (i = 0; i < array_size(bodies); i++)
		pthread_join(threads[i], NULL);
	let_time_pass();
	assert_int_equal(load_seq(&last_seen), 10000);
	memcg_event_unlisten(listener);
}

/* When unlisten returns its function runs no more. */

static unsigned int running; /* atomic */

static void runs_long(struct memcg *group, const char *file, void *arg)
{
	(void)group;
	(void)file;
	(void)arg;
	store_seq(&running, 1);
	usleep(20000);
	store_seq(&running, 2);
}

static void unlisten_waits(void **state)
{
	pthread_t thread;

	(void)state;
	store_seq(&stop, 0);
	store_seq(&running, 0);
	listen_to(child, runs_long);
	assert_int_equal(pthread_create(&thread, NULL, ticks, NULL), 0);
	raise_max();
	while (!load_seq(&running))
		usleep(100);
	memcg_event_unlisten(listener);
	assert_int_equal(load_seq(&running), 2);
	store_seq(&stop, 2);
	pthread_join(thread, NULL);
}

/* The child of a fork: what the parent listens with is the parent's. */
static void in_a_child(const void *arg)
{
	const int *fds = arg;
	int mine;

	must(!notify_wanted());
	raise_max();
	memcg_tick();
	must(told(fds[0]) == 0 && calls == 0);
	must(notify_wanted() == false);
	memcg_event_unlisten(listener); /* its memory is the child's */
	memcg_event_close(fds[0]);
	mine = memcg_event_fd(parent, "memory.events");
	must(mine >= 0);
	calls = 0;
	must(memcg_event_listen(child, "memory.events", counts, &calls, &listener) == 0);
	raise_max();
	usleep(INTERVAL_US + 1000);
	memcg_tick();
	must(told(mine) == 1 && calls == 1);
	memcg_event_unlisten(listener);
	memcg_event_close(mine);
	must(!notify_wanted());
}

static void open_file_in_a_child(const void *arg)
{
	struct memcg_file *file = (struct memcg_file *)(uintptr_t)arg;
	int fd = memcg_file_poll_fd(file);
	char text[128];

	must(fd >= 0);
	raise_max();
	must(readable(fd));
	must(memcg_file_read(file, text, sizeof(text)) > 0);
	must(!readable(fd));
	memcg_file_close(file);
}

static void over_fork(void **state)
{
	int fd = event_fd(parent, "memory.events");
	struct memcg_file *file;

	(void)state;
	listen_to(child, counts);
	assert_int_equal(memcg_file_open(child, "memory.events.local", O_RDONLY, &file), 0);
	assert_true(memcg_file_poll_fd(file) >= 0);
	child_expect_ok(child_run(in_a_child, &fd));
	child_expect_ok(child_run(open_file_in_a_child, file));
	memcg_tick();
	assert_int_equal(told(fd), 0); /* no event of the children's */
	assert_false(readable(memcg_file_poll_fd(file)));
	assert_int_equal(calls, 0);
	raise_max();
	memcg_tick();
	assert_int_equal(told(fd), 1);
	assert_true(readable(memcg_file_poll_fd(file)));
	assert_int_equal(calls, 1);
	memcg_file_close(file);
	memcg_event_unlisten(listener);
	memcg_event_close(fd);
}

/* A descriptor that the parent listens with keeps no group of the child's. */
static void destroys_in_a_child(const void *arg)
{
	struct memcg *group = (struct memcg *)(uintptr_t)arg;

	must(memcg_destroy(group) == 0);
	memcg_put(group);
	memcg_tick();
	memcg_tick();
	must(memcg_root()->css.nr_dying == 0);
}

static void groups_of_a_child_end(void **state)
{
	struct memcg *group;
	int fd;

	(void)state;
	assert_int_equal(memcg_create(NULL, "listened", &group), 0);
	fd = event_fd(group, "memory.events");
	child_expect_ok(child_run(destroys_in_a_child, group));
	assert_int_equal(memcg_destroy(group), 0);
	assert_int_equal(told(fd), 1);
	memcg_event_close(fd);
	memcg_put(group);
	memcg_tick();
}

/* A function may fork: the child goes on inside it, without listeners. */
static void forks_inside(struct memcg *group, const char *file, void *arg)
{
	pid_t pid = child_fork();

	(void)group;
	(void)file;
	if (!pid) {
		must(!notify_wanted());
		memcg_event_unlisten(listener);
		*(unsigned int *)arg = 100;
		return; /* into notify_run() of the child */
	}
	*(unsigned int *)arg = (unsigned int)child_wait(pid);
}

static void function_forks(void **state)
{
	pid_t tester = getpid();

	(void)state;
	listen_to(child, forks_inside);
	raise_max();
	memcg_tick();
	if (getpid() != tester) {
		must(calls == 100);
		raise_max();
		memcg_tick();
		_exit(0);
	}
	assert_int_equal(calls, 0);
	memcg_event_unlisten(listener);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(refused),
		CASE(descriptors_run_out),
		CASE(descriptor_is_an_eventfd),
		CASE(hierarchy),
		CASE(rate),
		CASE(several_listeners),
		CASE(closed_behind_its_back),
		CASE(function_is_called),
		CASE(function_does_everything),
		CASE(functions_end_each_other),
		CASE(function_ticks),
		CASE(destruction_tells),
		CASE(raised_by_a_handler),
		CASE(nothing_is_lost),
		CASE(unlisten_waits),
		CASE(over_fork),
		CASE(groups_of_a_child_end),
		CASE(function_forks),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
