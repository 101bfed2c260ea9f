/* SPDX-License-Identifier: MIT */
/*
 * The commit: one store, made only if the word, the gate and the index are as read. In the rseq form and
 * in the portable one, for each kind of index; no count is lost to threads or to handlers (B4).
 */
#include "support/child.h"

#include <pthread.h>
#include <sys/time.h>

#include "percpu/area.h"
#include "percpu/fence.h"

struct form {
	unsigned int index;
	unsigned int flags;
};

static void start(const struct form *form)
{
	struct memcg_options options = { .size = sizeof(options) };
	int err;

	options.flags = form->flags | MEMCG_INIT_NO_HOST_MAX;
	options.index = form->index;
	err = memcg_init(&options);
	if (err == -EOPNOTSUPP)
		child_end(CHILD_SKIP);
	must(err == 0);
	memcg_tick(); /* this thread has its index now */
}

#define SLOT (PAGE_SLOTS - 1) /* of a number that no group of these tests has */

/* Until it is stored: a commit may fail by preemption, and says so. */
static void store(uint64_t before, uint64_t after, unsigned int *index)
{
	int attempt;

	for (attempt = 0; attempt < 100000; attempt++) {
		struct percpu_area *area;

		*index = percpu_index();
		area = percpu_area(*index);
		store_relaxed(&area->page_slots[SLOT], before);
		if (percpu_commit(*index, area, &area->page_slots[SLOT], before, after, percpu_gate(area))) {
			must(load_relaxed(&area->page_slots[SLOT]) == after);
			return;
		}
		must(load_relaxed(&area->page_slots[SLOT]) == before);
	}
	must(!"never stored");
}

/* What must fail does so each time, and stores nothing. */
static void conditions(const void *arg)
{
	struct percpu_area *area;
	unsigned int index, other;
	uint64_t gate;
	int i;

	start(arg);
	store(0, 5, &index);
	area = percpu_area(index);
	gate = percpu_gate(area);
	must((gate & 1) == 0);
	for (i = 0; i < 100; i++) {
		/* stale word */
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 4, 9, gate));
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5 | 1ULL << 32, 9, gate));
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5 | 1ULL << 63, 9, gate));
		/* a gate that has moved since it was read */
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5, 9, gate + 2));
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5, 9, gate | 1ULL << 40));
	}
	/* a closed gate, read before it closed and after */
	store_seq(&area->head.gate, gate | 1);
	must((percpu_gate(area) & 1) == 0);
	for (i = 0; i < 100; i++) {
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5, 9, gate));
		must(!percpu_commit(index, area, &area->page_slots[SLOT], 5, 9, percpu_gate(area)));
	}
	must(load_relaxed(&area->page_slots[SLOT]) == 5);
	/* opened again, two further */
	store_seq(&area->head.gate, gate + 2);
	must(!percpu_commit(index, area, &area->page_slots[SLOT], 5, 9, gate));
	must(load_relaxed(&area->page_slots[SLOT]) == 5);
	store(5, 9, &index);

	/* rseq: only the area of the thread's own index; portable: the exchange makes any safe */
	other = percpu_nr + 7;
	area = percpu_area(index);
	if (memcg_percpu.rseq) {
		for (i = 0; i < 100; i++)
			must(!percpu_commit(other, area, &area->page_slots[SLOT], 9, 1, percpu_gate(area)));
		must(load_relaxed(&area->page_slots[SLOT]) == 9);
	} else {
		must(percpu_commit(other, area, &area->page_slots[SLOT], 9, 1, percpu_gate(area)));
		must(load_relaxed(&area->page_slots[SLOT]) == 1);
	}
}

#define ADDERS 4
#define ADDS 50000U

static unsigned int in_handlers; /* adds of handlers; atomic */
static volatile sig_atomic_t stop_handlers;

static void add_one(void)
{
	for (;;) {
		unsigned int index = percpu_index();
		struct percpu_area *area = percpu_area(index);
		uint64_t gate = percpu_gate(area), word = load_relaxed(&area->page_slots[SLOT]);

		if (percpu_commit(index, area, &area->page_slots[SLOT], word, word + 1, gate))
			return;
	}
}

static void handler(int sig)
{
	(void)sig;
	if (stop_handlers)
		return;
	add_one();
	__atomic_fetch_add(&in_handlers, 1, __ATOMIC_RELAXED);
}

static void *adds(void *arg)
{
	unsigned int i;

	memcg_uncharge(memcg_root(), memcg_charge(memcg_root(), 200, 0) ? 0 : 200); /* its index */
	(void)arg;
	for (i = 0; i < ADDS; i++)
		add_one();
	return NULL;
}

static uint64_t sum_slots(void)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < percpu_nr; i++)
		sum += load_relaxed(&percpu_area(i)->page_slots[SLOT]);
	return sum;
}

static void no_count_is_lost(const void *arg)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t threads[ADDERS];
	size_t i;

	start(arg);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (i = 0; i < ADDERS; i++)
		must(pthread_create(&threads[i], NULL, adds, NULL) == 0);
	for (i = 0; i < ADDERS; i++)
		pthread_join(threads[i], NULL);
	stop_handlers = 1;
	setitimer(ITIMER_PROF, &never, NULL);
	signal(SIGPROF, SIG_IGN);
	must(sum_slots() == (uint64_t)ADDERS * ADDS + in_handlers);
}

static uint32_t go_on = 1;
static uint64_t stored_after_fence; /* by the taker, under closed gates */

static void *hammers(void *arg)
{
	uint64_t *done = arg;

	memcg_uncharge(memcg_root(), memcg_charge(memcg_root(), 200, 0) ? 0 : 200);
	while (load_relaxed(&go_on)) {
		unsigned int index = percpu_index();
		struct percpu_area *area = percpu_area(index);
		uint64_t gate = percpu_gate(area), word = load_relaxed(&area->page_slots[SLOT]);

		if (percpu_commit(index, area, &area->page_slots[SLOT], word, word + 1, gate))
			store_relaxed(done, *done + 1);
	}
	return NULL;
}

/* close, fence, take, reopen: what is taken and what remains is all that was ever put, and nothing is
 * stored between fence and reopening in the rseq form. */
static void drains(const void *arg)
{
	uint64_t done[ADDERS][PAIR_SIZE / 8] = { { 0 } }, taken = 0, sum = 0;
	pthread_t threads[ADDERS];
	unsigned int i, round;

	start(arg);
	for (i = 0; i < ADDERS; i++)
		must(pthread_create(&threads[i], NULL, hammers, done[i]) == 0);
	for (i = 0; i < ADDERS; i++) {
		while (!load_relaxed(&done[i][0]))
			usleep(100);
	}
	for (round = 0; round < 200; round++) {
		for (i = 0; i < percpu_nr; i++)
			store_seq(&percpu_area(i)->head.gate, percpu_area(i)->head.gate | 1);
		must(fence_all() == 0);
		for (i = 0; i < percpu_nr; i++)
			taken += atomic_xchg(&percpu_area(i)->page_slots[SLOT], 0);
		for (i = 0; i < percpu_nr && memcg_percpu.rseq; i++)
			stored_after_fence += load_seq(&percpu_area(i)->page_slots[SLOT]);
		for (i = 0; i < percpu_nr; i++)
			store_seq(&percpu_area(i)->head.gate, percpu_area(i)->head.gate + 1);
	}
	store_relaxed(&go_on, 0);
	for (i = 0; i < ADDERS; i++) {
		pthread_join(threads[i], NULL);
		sum += done[i][0];
	}
	must(stored_after_fence == 0);
	must(taken + sum_slots() == sum);
}

static const struct form forms[] = {
	{ MEMCG_INDEX_MM_CID, 0 }, { MEMCG_INDEX_MM_CID, MEMCG_INIT_PORTABLE },
	{ MEMCG_INDEX_CPU_ID, 0 }, { MEMCG_INDEX_CPU_ID, MEMCG_INIT_PORTABLE },
	{ MEMCG_INDEX_THREAD, 0 },
};

static void each_form(void (*body)(const void *arg))
{
	size_t i, ran = 0;

	for (i = 0; i < array_size(forms); i++) {
		int code = child_run(body, &forms[i]);

		if (code == CHILD_SKIP)
			continue;
		ran++;
		if (code)
			print_error("index %u flags %u\n", forms[i].index, forms[i].flags);
		assert_int_equal(code, 0);
	}
	assert_true(ran > 0);
}

static void commit_conditions(void **state)
{
	(void)state;
	each_form(conditions);
}

static void threads_and_handlers_lose_nothing(void **state)
{
	(void)state;
	each_form(no_count_is_lost);
}

static void fence_separates(void **state)
{
	(void)state;
	each_form(drains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commit_conditions),
		cmocka_unit_test(threads_and_handlers_lose_nothing),
		cmocka_unit_test(fence_separates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
