/* SPDX-License-Identifier: MIT */
/* cgroup.threads and cgroup.events: who is at home where, and moves by others. */
#include "support/child.h"

#include <memcg/charge.h>
#include <memcg/files.h>
#include <memcg/heap.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "charge/drain.h"
#include "group/group.h"
#include "group/member.h"
#include "group/thread.h"
#include "percpu/thread.h"

static struct memcg *a, *b, *below;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options) };

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	return memcg_init(&options);
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "a", &a) || memcg_create(NULL, "b", &b) || memcg_create(b, "below", &below);
}

/* A thread that was joined is still seen for a moment, as the kernel lists threads. */
static int destroy(struct memcg *group)
{
	int err, attempt = 0;

	while ((err = memcg_destroy(group)) == -EBUSY && attempt++ < 10000)
		usleep(1000);
	return err;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(memcg_attach(NULL), 0);
	if (!memcg_dying(a))
		assert_int_equal(destroy(a), 0);
	assert_int_equal(destroy(below), 0);
	assert_int_equal(destroy(b), 0);
	memcg_put(a);
	memcg_put(below);
	memcg_put(b);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	return 0;
}

static pid_t gettid_now(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Is @tid a line of the group's cgroup.threads? */
static bool listed(struct memcg *group, pid_t tid)
{
	static char text[65536];
	char line[16];
	ssize_t len;

	*text = '\n';
	len = memcg_read(group, "cgroup.threads", text + 1, sizeof(text) - 1);
	assert_true(len >= 0 && len < (ssize_t)sizeof(text) - 1);
	snprintf(line, sizeof(line), "\n%d\n", (int)tid);
	return strstr(text, line) != NULL;
}

static ssize_t put_text(struct memcg *group, const char *text)
{
	return memcg_write(group, "cgroup.threads", text, strlen(text));
}

static ssize_t put_tid(struct memcg *group, pid_t tid)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", (int)tid);
	ssize_t ret = put_text(group, text);

	return ret == len ? 0 : ret;
}

static bool populated(struct memcg *group)
{
	char text[64];

	assert_int_equal(memcg_read(group, "cgroup.events", text, sizeof(text)), 21);
	assert_string_equal(text + 11, "\nfrozen 0\n");
	return text[10] == '1';
}

/* A thread that does one thing at a time, when told to. */

enum order {
	NOTHING,
	CHARGE,  /* a page to its current group */
	ATTACH,  /* itself, to @group */
	CURRENT, /* what its group is */
	END,
};

struct worker {
	pthread_t thread;
	pid_t tid;           /* published by its first order */
	struct memcg *group; /* what to attach to; what is current */
	int order;           /* enum order; atomic */
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = gettid_now();
	store_seq(&worker->order, NOTHING);
	for (;;) {
		switch (load_seq(&worker->order)) {
		case NOTHING:
			usleep(100);
			continue;
		case CHARGE:
			must(memcg_charge(NULL, 1, 0) == 0);
			break;
		case ATTACH:
			must(memcg_attach(worker->group) == 0);
			break;
		case CURRENT:
			worker->group = memcg_current();
			break;
		default:
			return NULL;
		}
		store_seq(&worker->order, NOTHING);
	}
}

static void order(struct worker *worker, enum order what)
{
	store_seq(&worker->order, what);
	while (load_seq(&worker->order) != NOTHING)
		usleep(100);
}

static void hire(struct worker *worker)
{
	worker->order = CURRENT; /* anything but nothing: until it has begun */
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
	while (load_seq(&worker->order) != NOTHING)
		usleep(100);
}

static void fire(struct worker *worker)
{
	store_seq(&worker->order, END);
	assert_int_equal(pthread_join(worker->thread, NULL), 0);
	while (syscall(SYS_tgkill, getpid(), worker->tid, 0) == 0)
		usleep(100); /* joined, and still listed by the kernel */
}

static struct memcg *group_of(struct worker *worker)
{
	order(worker, CURRENT);
	return worker->group;
}

static void calling_thread(void **state)
{
	(void)state;
	assert_true(listed(NULL, gettid_now()));
	assert_false(listed(a, gettid_now()));
	assert_int_equal(put_text(a, "0"), 1);
	assert_ptr_equal(memcg_current(), a);
	assert_true(listed(a, gettid_now()));
	assert_false(listed(NULL, gettid_now()));
	assert_int_equal(put_tid(below, gettid_now()), 0);
	assert_ptr_equal(memcg_current(), below);
	assert_false(listed(b, gettid_now())); /* a group's own threads only */
	assert_int_equal(memcg_destroy(below), -EBUSY);
	assert_int_equal(put_text(NULL, " 0x0\n"), 5);
	assert_ptr_equal(memcg_current(), memcg_root());
	assert_true(listed(NULL, gettid_now()));
}

static void refused_writes(void **state)
{
	static const char *const bad[] = { "xx", "-1", "\n", "1.0", "1K", "max", "99999999999999999999", "2147483648" };
	size_t i;

	(void)state;
	for (i = 0; i < array_size(bad); i++)
		assert_int_equal(put_text(a, bad[i]), -EINVAL);
	assert_int_equal(put_text(a, ""), 0);
	assert_int_equal(put_text(a, "2147483647"), -ESRCH);
	assert_int_equal(put_tid(a, getppid()), -ESRCH); /* a thread of another process */
	assert_int_equal(memcg_destroy(a), 0);
	assert_int_equal(put_text(a, "0"), -ENODEV);
	assert_ptr_equal(memcg_current(), memcg_root());
}

static void known_thread(void **state)
{
	struct worker worker = { 0 };
	long refs = (long)a->css.refs;

	(void)state;
	hire(&worker);
	worker.group = a;
	order(&worker, ATTACH);
	assert_int_equal(put_tid(below, worker.tid), 0);
	assert_true(listed(below, worker.tid) && !listed(a, worker.tid));
	assert_ptr_equal(group_of(&worker), below); /* at once */
	order(&worker, CHARGE);
	drain_stock(memcg_root());
	assert_int_equal(page_counter_read(&below->memory), 1);
	assert_int_equal(page_counter_read(&a->memory), 0);
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_int_equal(put_tid(a, worker.tid), 0); /* again: the same */
	assert_int_equal(put_tid(below, worker.tid), 0);
	assert_int_equal(a->css.refs, refs + 1); /* kept once, however often it was moved out */
	worker.group = b;
	order(&worker, ATTACH);
	assert_int_equal(a->css.refs, refs); /* let go */
	fire(&worker);
	memcg_uncharge(below, 1);
	assert_int_equal(a->nr_threads + b->nr_threads + below->nr_threads, 0);
	assert_int_equal(b->threads_below, 0);
}

/* One that never attached finds out by itself, at its next charge. */
static void moved_thread(void **state)
{
	struct worker worker = { 0 };

	(void)state;
	hire(&worker);
	order(&worker, CHARGE); /* has stock of the root now */
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_true(listed(a, worker.tid) && !listed(NULL, worker.tid));
	assert_int_equal(memcg_destroy(a), -EBUSY);
	assert_int_equal(put_tid(below, worker.tid), 0); /* again, before it knows */
	order(&worker, CHARGE);
	assert_ptr_equal(group_of(&worker), below);
	order(&worker, CHARGE);
	drain_stock(memcg_root());
	assert_int_equal(page_counter_read(&below->memory), 2);
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_ptr_equal(group_of(&worker), a);
	memcg_uncharge(below, page_counter_read(&below->memory));
	fire(&worker);
	drain_stock(memcg_root());
	memcg_uncharge(memcg_root(), page_counter_read(&memcg_root()->memory));
	assert_int_equal(a->nr_threads, 1); /* nobody has asked yet */
	memcg_tick();
	assert_int_equal(a->nr_threads, 0);
}

/* One that ends without ever finding out is not there any more. */
static void moved_thread_ends(void **state)
{
	struct worker worker = { 0 };

	(void)state;
	hire(&worker);
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_true(populated(a));
	fire(&worker);
	assert_false(listed(a, worker.tid));
	assert_false(populated(a));
	hire(&worker);
	assert_int_equal(put_tid(a, worker.tid), 0);
	fire(&worker);
	assert_int_equal(memcg_destroy(a), 0); /* not -EBUSY */
	assert_false(threads_unowned());
}

/* A tid comes again: what was meant for one thread is not for the next of that number. */
static void same_tid_another_thread(void **state)
{
	struct worker worker = { 0 };
	struct attached *entry;

	(void)state;
	hire(&worker);
	assert_int_equal(put_tid(a, worker.tid), 0);
	threads_lock();
	entry = member_find(worker.tid);
	assert_non_null(entry);
	assert_true(entry->start > 1);
	entry->start--; /* as if it had been moved before this one began */
	threads_unlock();
	assert_ptr_equal(group_of(&worker), memcg_root());
	assert_false(listed(a, worker.tid));
	assert_true(listed(NULL, worker.tid));
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_ptr_equal(group_of(&worker), a);
	fire(&worker);
}

/* An attach by the thread itself is the end of having to look. */
static void moved_thread_attaches(void **state)
{
	struct worker worker = { 0 };

	(void)state;
	hire(&worker);
	assert_int_equal(put_tid(a, worker.tid), 0);
	worker.group = b;
	order(&worker, ATTACH);
	assert_ptr_equal(group_of(&worker), b);
	assert_int_equal(a->nr_threads, 0);
	assert_int_equal(b->nr_threads, 1);
	assert_false(threads_unowned());
	fire(&worker);
	assert_int_equal(b->nr_threads, 0);
}

/* The group that a thread was moved out of stays in memory until the thread lets go. */
static void moved_out_and_destroyed(void **state)
{
	struct worker worker = { 0 };
	struct memcg *gone;

	(void)state;
	assert_int_equal(memcg_create(NULL, "gone", &gone), 0);
	hire(&worker);
	worker.group = gone;
	order(&worker, ATTACH);
	assert_int_equal(memcg_destroy(gone), -EBUSY);
	assert_int_equal(put_tid(a, worker.tid), 0);
	assert_int_equal(memcg_destroy(gone), 0);
	memcg_put(gone);
	memcg_tick();
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 1);
	fire(&worker);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
}

static bool fires(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t count;

	usleep(11000);
	memcg_tick(); /* what was too soon */
	return poll(&poll_fd, 1, 0) == 1 && read(fd, &count, sizeof(count)) == sizeof(count);
}

static void populated_tells(void **state)
{
	int above = memcg_event_fd(b, "cgroup.events"), own = memcg_event_fd(below, "cgroup.events");
	struct worker worker = { 0 };

	(void)state;
	assert_true(above >= 0 && own >= 0);
	assert_true(populated(NULL)); /* the root always is */
	assert_false(populated(b) || populated(below));
	assert_int_equal(memcg_attach(below), 0);
	assert_true(populated(b) && populated(below));
	assert_true(fires(above) && fires(own));
	hire(&worker);
	assert_int_equal(put_tid(below, worker.tid), 0);
	assert_false(fires(above) || fires(own)); /* populated before */
	assert_int_equal(memcg_attach(b), 0);
	assert_int_equal(put_tid(b, worker.tid), 0);
	assert_true(populated(b) && !populated(below));
	assert_true(fires(own));
	assert_false(fires(above));
	assert_int_equal(memcg_attach(NULL), 0);
	fire(&worker);
	assert_false(populated(b));
	assert_true(fires(above));
	memcg_event_close(above);
	memcg_event_close(own);
}

/* Many threads are moved about while they attach, charge and end. */

static int stop; /* atomic */
static pid_t tids[4];

static void *restless(void *arg)
{
	unsigned int i = 0;

	store_relaxed((pid_t *)arg, gettid_now());
	while (!load_relaxed(&stop)) {
		void *block = memcg_malloc(100);

		must(block);
		if (++i % 64 == 0)
			must(memcg_attach(i % 128 ? a : b) == 0);
		memcg_free(block);
	}
	return NULL;
}

static void moves_under_threads(void **state)
{
	pthread_t threads[4];
	unsigned int round, i;

	(void)state;
	for (round = 0; round < 20; round++) {
		store_relaxed(&stop, 0);
		memset(tids, 0, sizeof(tids));
		for (i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, restless, &tids[i]), 0);
		for (i = 0; i < 200; i++) {
			pid_t tid = load_relaxed(&tids[i % 4]);
			ssize_t ret = tid ? put_tid(i % 3 ? below : NULL, tid) : 0;

			assert_true(ret == 0 || ret == -ESRCH);
			assert_true(listed(NULL, gettid_now()));
		}
		store_relaxed(&stop, 1);
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	threads_settle();
	assert_int_equal(a->threads_below + b->threads_below, 0);
	drain_stock(memcg_root());
	assert_int_equal(page_counter_read(&memcg_root()->memory), 0);
}

/* In the child of a fork there is one thread, where it was. */
static void in_a_child(const void *arg)
{
	const struct worker *worker = arg;

	must(listed(a, gettid_now()) && !listed(b, worker->tid) && !listed(below, worker->tid));
	must(memcg_current() == a);
	must(put_tid(b, worker->tid) == -ESRCH);
	must(put_text(b, "0") == 1);
	must(memcg_destroy(a) == 0 && memcg_destroy(below) == 0);
}

/* A thread that others moved forks: its child is where it was. */
static void *forks_when_moved(void *arg)
{
	pid_t pid;

	store_seq((pid_t *)arg, gettid_now());
	while (memcg_current() != a)
		usleep(100);
	pid = child_fork();
	if (!pid) {
		must(memcg_current() == a && listed(a, gettid_now()) && a->nr_threads == 1);
		must(memcg_destroy(a) == -EBUSY);
		must(put_text(b, "0") == 1 && memcg_current() == b);
		must(memcg_destroy(a) == 0);
		_exit(0);
	}
	must(child_wait(pid) == 0);
	return NULL;
}

static void moved_thread_forks(void **state)
{
	pthread_t thread;
	pid_t tid = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, forks_when_moved, &tid), 0);
	while (!load_seq(&tid))
		usleep(100);
	assert_int_equal(put_tid(a, tid), 0);
	pthread_join(thread, NULL);
}

static void over_fork(void **state)
{
	struct worker known = { 0 }, unknown = { 0 };

	(void)state;
	assert_int_equal(memcg_attach(a), 0);
	hire(&known);
	hire(&unknown);
	known.group = b;
	order(&known, ATTACH);
	assert_int_equal(put_tid(below, known.tid), 0);
	assert_int_equal(put_tid(below, unknown.tid), 0);
	child_expect_ok(child_run(in_a_child, &known));
	assert_true(listed(below, known.tid) && listed(below, unknown.tid));
	fire(&known);
	fire(&unknown);
	assert_int_equal(memcg_attach(NULL), 0);
}

/* When it began cannot be read while no descriptor is left: it is taken for itself, not for another. */
static void no_descriptor_left(void **state)
{
	struct worker worker = { .group = a };
	struct rlimit limit, none;

	(void)state;
	hire(&worker);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(put_tid(b, worker.tid), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	memcg_tick();
	threads_settle();
	order(&worker, CURRENT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_ptr_equal(worker.group, b);
	assert_true(listed(b, worker.tid));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	worker.group = a;
	order(&worker, ATTACH);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(put_tid(b, worker.tid), 0);
	order(&worker, CURRENT);
	assert_ptr_equal(worker.group, b);
	fire(&worker);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(calling_thread),
		CASE(refused_writes),
		CASE(known_thread),
		CASE(moved_thread),
		CASE(moved_thread_ends),
		CASE(moved_thread_attaches),
		CASE(moved_out_and_destroyed),
		CASE(populated_tells),
		CASE(moves_under_threads),
		CASE(over_fork),
		CASE(same_tid_another_thread),
		CASE(moved_thread_forks),
		CASE(no_descriptor_left),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
