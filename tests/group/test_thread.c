/* SPDX-License-Identifier: MIT */
/* Which group a thread works for: home, scopes, nothing at all; and what a home keeps alive. */
#include "support/child.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "charge/drain.h"
#include "group/group.h"
#include "group/thread.h"
#include "percpu/thread.h"
#include "support/backing.h"
#include "support/robust.h"

static struct memcg *a, *b;

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
	return memcg_create(NULL, "a", &a) || memcg_create(NULL, "b", &b);
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(memcg_attach(NULL), 0);
	assert_int_equal(memcg_destroy(a), 0);
	assert_int_equal(memcg_destroy(b), 0);
	memcg_put(a);
	memcg_put(b);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	return 0;
}

static void home(void **state)
{
	uint64_t refs = a->css.refs;

	(void)state;
	assert_ptr_equal(memcg_current(), memcg_root());
	assert_int_equal(memcg_attach(a), 0);
	assert_ptr_equal(memcg_current(), a);
	assert_int_equal(a->nr_threads, 1);
	assert_int_equal(memcg_attach(a), 0); /* again: the same */
	assert_int_equal(a->nr_threads, 1);
	assert_int_equal(a->css.refs, refs + 1);
	assert_int_equal(memcg_destroy(a), -EBUSY);
	assert_int_equal(memcg_attach(b), 0);
	assert_int_equal(a->nr_threads, 0);
	assert_int_equal(a->css.refs, refs);
	assert_ptr_equal(memcg_current(), b);
	assert_int_equal(memcg_attach(NULL), 0);
	assert_ptr_equal(memcg_current(), memcg_root());
	assert_int_equal(memcg_attach(memcg_unaccounted()), -EINVAL);
	assert_ptr_equal(memcg_current(), memcg_root());
}

static void failed_attach_changes_nothing(void **state)
{
	struct memcg *gone;

	(void)state;
	assert_int_equal(memcg_create(NULL, "gone", &gone), 0);
	assert_int_equal(memcg_destroy(gone), 0);
	assert_int_equal(memcg_attach(a), 0);
	assert_int_equal(memcg_attach(gone), -ENODEV);
	assert_ptr_equal(memcg_current(), a);
	assert_int_equal(a->nr_threads, 1);
	memcg_put(gone);
}

static void scopes_nest(void **state)
{
	struct memcg *first, *second, *third;

	(void)state;
	assert_int_equal(memcg_attach(b), 0);
	first = memcg_enter(a);
	assert_ptr_equal(memcg_current(), a);
	second = memcg_enter(memcg_root());
	assert_ptr_equal(memcg_current(), memcg_root());
	third = memcg_enter(NULL); /* home again, inside a scope */
	assert_ptr_equal(memcg_current(), b);
	memcg_leave(third);
	assert_ptr_equal(memcg_current(), memcg_root());
	memcg_leave(second);
	assert_ptr_equal(memcg_current(), a);
	assert_int_equal(memcg_attach(NULL), 0); /* the scope is not concerned */
	assert_ptr_equal(memcg_current(), a);
	memcg_leave(first);
	assert_ptr_equal(memcg_current(), memcg_root());
}

static int leaves_early(int when)
{
	MEMCG_SCOPE(a);
	must(memcg_current() == a);
	if (when == 0)
		return 0;
	{
		MEMCG_SCOPE(b);
		must(memcg_current() == b);
		if (when == 1)
			return 1;
	}
	must(memcg_current() == a);
	return 2;
}

static void scope_macro(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(leaves_early(i), i);
		assert_ptr_equal(memcg_current(), memcg_root());
	}
}

/* NULL is the thread's group; in the unaccounted scope nothing is charged, not even the impossible. */
static void charges_go_where_the_thread_works(void **state)
{
	struct memcg *previous = memcg_enter(a);
	struct memcg_reservation reservation;

	(void)state;
	assert_int_equal(memcg_charge(NULL, 200, 0), 0);
	assert_int_equal(page_counter_read(&a->memory), 200);
	memcg_leave(previous);
	previous = memcg_enter(memcg_unaccounted());
	assert_ptr_equal(memcg_current(), memcg_unaccounted());
	assert_int_equal(memcg_charge(NULL, 300, 0), 0);
	assert_int_equal(memcg_charge(NULL, 0, 0), -EINVAL);
	memcg_uncharge(NULL, 300);
	assert_null(memcg_objcg_get(NULL));
	assert_int_equal(memcg_charge_bytes(NULL, 1 << 30, 0), 0);
	memcg_uncharge_bytes(NULL, 1 << 30);
	memcg_reserve(&reservation, NULL);
	assert_int_equal(memcg_resize(&reservation, 1 << 30, 0), 0);
	memcg_unreserve(&reservation);
	memcg_leave(previous);
	drain_stock(memcg_root());
	assert_int_equal(page_counter_read(&memcg_root()->memory), 200);
	memcg_uncharge(a, 200);
	assert_int_equal(page_counter_read(&memcg_root()->memory), 0);
}

/* T17: a switch flushes nothing. */
static void a_switch_keeps_the_stock(void **state)
{
	unsigned long usage;
	int i;

	(void)state;
	assert_int_equal(memcg_charge(a, 1, 0), 0);
	assert_int_equal(memcg_charge(b, 1, 0), 0);
	usage = page_counter_read(&memcg_root()->memory);
	for (i = 0; i < 100; i++)
		memcg_leave(memcg_enter(i & 1 ? a : b));
	assert_int_equal(page_counter_read(&memcg_root()->memory), usage);
	memcg_uncharge(a, 1);
	memcg_uncharge(b, 1);
}

static sem_t attached, may_end;

static void *lives_in_a(void *arg)
{
	must(memcg_current() == memcg_root()); /* homes are not inherited */
	must(memcg_attach(a) == 0);
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	sem_post(&attached);
	sem_wait(&may_end);
	must(memcg_current() == a);
	return NULL;
}

static pid_t listed[8];
static int nr_listed;

static void list(pid_t tid, void *arg)
{
	(void)arg;
	listed[nr_listed++] = tid;
}

static void thread_exit_detaches(void **state)
{
	pthread_t threads[3];
	long live = backing_live;
	pid_t tids[3];
	int i;

	(void)state;
	sem_init(&attached, 0, 0);
	sem_init(&may_end, 0, 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, lives_in_a, &tids[i]), 0);
	for (i = 0; i < 3; i++)
		sem_wait(&attached);
	assert_int_equal(a->nr_threads, 3);
	assert_int_equal(memcg_destroy(a), -EBUSY);
	nr_listed = 0;
	assert_int_equal(threads_list(a, list, NULL), 3);
	assert_int_equal(nr_listed, 3);
	for (i = 0; i < 3; i++)
		assert_true(listed[i] == tids[0] || listed[i] == tids[1] || listed[i] == tids[2]);
	assert_int_equal(threads_list(b, list, NULL), 0);
	for (i = 0; i < 3; i++)
		sem_post(&may_end);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(a->nr_threads, 0);
	assert_int_equal(threads_list(a, list, NULL), 0);
	assert_int_equal(backing_live, live);
}

static pthread_key_t late_key;

static void attach_in_destructor(void *arg)
{
	static __thread int rounds;

	(void)arg;
	must(memcg_attach(b) == 0);
	must(memcg_charge(NULL, 1, 0) == 0);
	memcg_uncharge(NULL, 1);
	if (rounds++ < 1)
		pthread_setspecific(late_key, &late_key);
}

static void *uses_late_key(void *arg)
{
	(void)arg;
	pthread_setspecific(late_key, &late_key);
	must(memcg_attach(a) == 0);
	return NULL;
}

/* Attached again by a destructor that runs after ours: detached again. */
static void attach_while_a_thread_ends(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_key_create(&late_key, attach_in_destructor), 0);
	assert_int_equal(pthread_create(&thread, NULL, uses_late_key, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(a->nr_threads, 0);
	assert_int_equal(b->nr_threads, 0);
	pthread_key_delete(late_key);
}

#ifdef SANITIZE_THREAD
#define LAST_ROUND_IS_ITS_OWN 1 /* it has forgotten the thread by then */
#else
#define LAST_ROUND_IS_ITS_OWN 0
#endif

static pthread_key_t last_key;

/* In the last round: what is set for a key now is forgotten. */
static void attach_in_last_round(void *arg)
{
	static __thread int rounds;

	(void)arg;
	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(last_key, &last_key);
	else
		must(memcg_attach(a) == 0);
}

static void *uses_last_key(void *arg)
{
	(void)arg;
	pthread_setspecific(last_key, &last_key);
	return NULL;
}

static void *exits_barely(void *arg)
{
	(void)arg;
	must(memcg_attach(a) == 0);
	syscall(SYS_exit, 0);
	return NULL;
}

static void run_threads(int nr, void *(*body)(void *))
{
	pthread_t thread;

	while (nr--) {
		must(pthread_create(&thread, NULL, body, NULL) == 0);
		must(pthread_join(thread, NULL) == 0);
	}
}

/* A thread that no destructor detaches keeps its group no longer than the others. */
static void attach_and_end_unseen(void **state)
{
	long live = backing_live;

	(void)state;
	if (!robust_mutexes_work() || LAST_ROUND_IS_ITS_OWN)
		skip();
	assert_int_equal(pthread_key_create(&last_key, attach_in_last_round), 0);
	run_threads(3, uses_last_key);
	if (!SANITIZED)
		run_threads(3, exits_barely);
	assert_true(a->nr_threads > 0); /* nobody has looked */
	assert_int_equal(threads_list(a, list, NULL), 0);
	assert_int_equal(a->nr_threads, 0);
	assert_int_equal(backing_live, live);

	run_threads(1, uses_last_key);
	assert_int_equal(memcg_attach(a), 0);
	assert_int_equal(memcg_destroy(a), -EBUSY); /* this thread */
	assert_int_equal(a->nr_threads, 1);
	assert_int_equal(memcg_attach(NULL), 0);
	run_threads(1, uses_last_key);
	assert_int_equal(memcg_destroy(a), 0);
	memcg_put(a);
	assert_int_equal(memcg_create(NULL, "a", &a), 0);

	/* Nobody destroys, nobody lists: they do not pile up. */
	run_threads(1000, uses_last_key);
	assert_true(a->nr_threads < 200);
	pthread_key_delete(last_key);
	assert_int_equal(threads_list(a, list, NULL), 0);
}

static void *tries_to_attach(void *arg)
{
	struct memcg *root = memcg_root();

	(void)arg;
	backing_left = 0;
	must(memcg_attach(a) == -ENOMEM);
	backing_left = 1L << 60;
	must(memcg_current() == root);
	must(a->nr_threads == 0);
	must(memcg_attach(a) == 0);
	return NULL;
}

static void attach_without_memory(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, tries_to_attach, NULL), 0);
	pthread_join(thread, NULL);
}

static void *reads_refusal(void *arg)
{
	(void)arg;
	must(memcg_last_refusal() != NULL);
	must(memcg_last_refusal()->group == NULL);
	return NULL;
}

static void refusals_are_a_threads_own(void **state)
{
	const struct memcg_refusal *refusal;
	pthread_t thread;

	(void)state;
	page_counter_set_max(&a->memory, 5);
	assert_int_equal(memcg_charge(a, 6, 0), -ENOMEM);
	refusal = memcg_last_refusal();
	assert_ptr_equal(refusal->group, a);
	assert_string_equal(refusal->file, "memory.max");
	assert_int_equal(refusal->asked, 6);
	assert_int_equal(refusal->margin, 5);
	assert_int_equal(pthread_create(&thread, NULL, reads_refusal, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(memcg_charge(b, 1, 0), 0); /* a success does not wipe it */
	assert_ptr_equal(memcg_last_refusal()->group, a);
	memcg_uncharge(b, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(home),
		CASE(failed_attach_changes_nothing),
		CASE(scopes_nest),
		CASE(scope_macro),
		CASE(charges_go_where_the_thread_works),
		CASE(a_switch_keeps_the_stock),
		CASE(thread_exit_detaches),
		CASE(attach_while_a_thread_ends),
		CASE(attach_and_end_unseen),
		CASE(attach_without_memory),
		CASE(refusals_are_a_threads_own),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
