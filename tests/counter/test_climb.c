/* SPDX-License-Identifier: MIT */
/*
 * Climbs over 1 to 64 levels: success, force, uncharge; refusal at each level without a trace (A4), never above
 * a limit (A3); what others see in the middle of a climb.
 */
#include "support/child.h"

#include <pthread.h>
#include <sys/mman.h>

#include "counter/page_counter.h"

static struct page_counter levels[PAGE_COUNTER_DEPTH]; /* 0 is the root */

static void build(unsigned int depth)
{
	unsigned int i;

	memset(levels, 0, sizeof(levels));
	for (i = 0; i < depth; i++)
		page_counter_init(&levels[i], i ? &levels[i - 1] : NULL);
}

static void expect_usage(unsigned int depth, unsigned long usage)
{
	unsigned int i;

	for (i = 0; i < depth; i++) {
		assert_int_equal(page_counter_read(&levels[i]), usage);
		assert_int_equal(levels[i].word & COUNTER_CLIMBS, 0);
	}
}

static void init_has_no_limits(void **state)
{
	unsigned int i;

	(void)state;
	build(PAGE_COUNTER_DEPTH);
	for (i = 0; i < PAGE_COUNTER_DEPTH; i++) {
		assert_int_equal(levels[i].depth, i);
		assert_int_equal(levels[i].max, PAGE_COUNTER_MAX);
		assert_int_equal(levels[i].high, PAGE_COUNTER_MAX);
		assert_int_equal(levels[i].low, 0);
		assert_int_equal(levels[i].min, 0);
		assert_int_equal(levels[i].watermark, 0);
	}
	expect_usage(PAGE_COUNTER_DEPTH, 0);
}

static void charges_every_level(void **state)
{
	struct counter_refusal refusal;
	unsigned int depth, i;

	(void)state;
	for (depth = 1; depth <= PAGE_COUNTER_DEPTH; depth++) {
		struct page_counter *leaf = &levels[depth - 1];

		build(depth);
		assert_true(page_counter_try_charge(leaf, NULL, 5, &refusal));
		assert_true(page_counter_try_charge(leaf, NULL, 1000, &refusal));
		expect_usage(depth, 1005);
		page_counter_uncharge(leaf, NULL, 1000);
		expect_usage(depth, 5);
		assert_true(page_counter_force_charge(leaf, NULL, 7));
		expect_usage(depth, 12);
		for (i = 0; i < depth; i++) {
			assert_int_equal(levels[i].watermark, 1005);
			assert_int_equal(levels[i].forced, 0); /* within all limits */
		}
		page_counter_uncharge(leaf, NULL, 12);
		expect_usage(depth, 0);
	}
}

/* Up to, but excluding, top: as a move below a common ancestor does. */
static void stops_below_top(void **state)
{
	struct counter_refusal refusal;
	unsigned int i;

	(void)state;
	build(10);
	page_counter_set_max(&levels[4], 0);
	assert_true(page_counter_try_charge(&levels[9], &levels[4], 3, &refusal));
	assert_true(page_counter_force_charge(&levels[9], &levels[4], 2));
	for (i = 0; i < 10; i++)
		assert_int_equal(page_counter_read(&levels[i]), i > 4 ? 5 : 0);
	page_counter_uncharge(&levels[9], &levels[4], 5);
	expect_usage(10, 0);
}

/* A4, for each refusing level of each depth, small and large: byte for byte as before. */
static void refusal_leaves_no_trace(void **state)
{
	static struct page_counter before[PAGE_COUNTER_DEPTH];
	const unsigned long sizes[] = { 6, 64, 65, 1000, COUNTER_PAGES_MAX };
	struct counter_refusal refusal;
	unsigned int depth, refuser;
	size_t i;

	(void)state;
	for (depth = 1; depth <= PAGE_COUNTER_DEPTH; depth += depth < 4 ? 1 : 20) {
		for (refuser = 0; refuser < depth; refuser++) {
			build(depth);
			page_counter_set_max(&levels[refuser], 15);
			assert_true(page_counter_try_charge(&levels[depth - 1], NULL, 10, &refusal));
			memcpy(before, levels, sizeof(levels));
			for (i = 0; i < array_size(sizes); i++) {
				assert_false(page_counter_try_charge(&levels[depth - 1], NULL, sizes[i], &refusal));
				assert_ptr_equal(refusal.counter, &levels[refuser]);
				assert_int_equal(refusal.margin, 5);
				assert_false(refusal.undecided);
				assert_memory_equal(before, levels, sizeof(levels));
			}
			/* A6: exactly what is left still fits, and then nothing does. */
			assert_true(page_counter_try_charge(&levels[depth - 1], NULL, 5, &refusal));
			assert_false(page_counter_try_charge(&levels[depth - 1], NULL, 1, &refusal));
			assert_int_equal(refusal.margin, 0);
			expect_usage(depth, 15);
		}
	}
}

/* Of several levels that would refuse, the lowest is named. */
static void lowest_refuser_is_named(void **state)
{
	struct counter_refusal refusal;

	(void)state;
	build(6);
	page_counter_set_max(&levels[1], 3);
	page_counter_set_max(&levels[4], 3);
	assert_false(page_counter_try_charge(&levels[5], NULL, 4, &refusal));
	assert_ptr_equal(refusal.counter, &levels[4]);
	assert_false(page_counter_try_charge(&levels[5], NULL, 400, &refusal));
	assert_ptr_equal(refusal.counter, &levels[4]);
	assert_false(page_counter_try_charge(&levels[3], NULL, 4, &refusal));
	assert_ptr_equal(refusal.counter, &levels[1]);
}

/* T16: a million refusals change nothing. */
static void many_refusals_change_nothing(void **state)
{
	static struct page_counter before[PAGE_COUNTER_DEPTH];
	struct counter_refusal refusal;
	int i;

	(void)state;
	build(4);
	page_counter_set_max(&levels[0], 10);
	memcpy(before, levels, sizeof(levels));
	for (i = 0; i < 1000000; i++)
		assert_false(page_counter_try_charge(&levels[3], NULL, 11, &refusal));
	assert_memory_equal(before, levels, sizeof(levels));
}

/* Only what goes over counts as forced, at each level by its own limit. */
static void force_is_counted(void **state)
{
	struct counter_refusal refusal;

	(void)state;
	build(3);
	page_counter_set_max(&levels[0], 10);
	page_counter_set_max(&levels[1], 20);
	assert_true(page_counter_try_charge(&levels[2], NULL, 8, &refusal));
	assert_true(page_counter_force_charge(&levels[2], NULL, 5));
	assert_int_equal(levels[0].forced, 3);
	assert_int_equal(levels[1].forced, 0);
	assert_true(page_counter_force_charge(&levels[2], NULL, 9));
	assert_int_equal(levels[0].forced, 12);
	assert_int_equal(levels[1].forced, 2);
	assert_int_equal(levels[2].forced, 0);
	expect_usage(3, 22);
	assert_int_equal(levels[0].watermark, 22);
	assert_false(page_counter_try_charge(&levels[2], NULL, 1, &refusal));
	assert_int_equal(refusal.margin, 0);
	page_counter_uncharge(&levels[2], NULL, 22);
	expect_usage(3, 0);
}

/* In a climb, at its last level: a page fault there looks at the levels below. */
static struct page_counter *low, *mid, *high; /* high's word is on a page of its own */
static char *fault_page;
static size_t page_size;
static struct {
	int faults;
	uint64_t low_word, mid_word;
	unsigned long low_peak, mid_peak;
} seen;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if ((char *)info->si_addr < fault_page || (char *)info->si_addr >= fault_page + page_size)
		abort();
	seen.faults++;
	seen.low_word = load_seq(&low->word);
	seen.mid_word = load_seq(&mid->word);
	seen.low_peak = load_seq(&low->watermark);
	seen.mid_peak = load_seq(&mid->watermark);
	mprotect(fault_page, page_size, PROT_READ | PROT_WRITE);
}

static void climb_with_a_look(unsigned long nr, bool granted)
{
	struct counter_refusal refusal;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(mprotect(fault_page, page_size, PROT_NONE), 0);
	assert_int_equal(page_counter_try_charge(low, NULL, nr, &refusal), granted);
	assert_int_equal(seen.faults, 1);
}

static void what_a_climb_shows(void **state)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, old;
	char *memory;

	(void)state;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	build(2);
	fault_page = memory + page_size;
	high = (struct page_counter *)(void *)(fault_page - offsetof(struct page_counter, word));
	mid = &levels[0];
	low = &levels[1];
	page_counter_init(high, NULL);
	page_counter_init(mid, high);
	page_counter_init(low, mid);
	sigaction(SIGSEGV, &action, &old);

	/* no pressure: pages are visible below, peaks are not raised, nothing is marked */
	page_counter_set_max(high, 100);
	climb_with_a_look(10, true);
	assert_int_equal(counter_usage(seen.low_word), 10);
	assert_int_equal(counter_usage(seen.mid_word), 10);
	assert_int_equal(seen.low_word & COUNTER_CLIMBS, 0);
	assert_int_equal(seen.low_peak, 0);
	assert_int_equal(seen.mid_peak, 0);
	assert_int_equal(low->watermark, 10);

	/* refused: what was seen was no success, and is gone */
	page_counter_set_max(high, 15);
	climb_with_a_look(6, false);
	assert_int_equal(counter_usage(seen.low_word), 16);
	assert_int_equal(page_counter_read(low), 10);
	assert_int_equal(low->watermark, 10);

	/* A6: under pressure a climb is counted where it waits for the levels above, until it is decided */
	low->pressure = mid->pressure = 1;
	climb_with_a_look(6, false);
	assert_int_equal(seen.low_word & COUNTER_CLIMBS, 1);
	assert_int_equal(seen.mid_word & COUNTER_CLIMBS, 1);
	assert_int_equal((low->word | mid->word | high->word) & COUNTER_CLIMBS, 0);
	climb_with_a_look(5, true);
	assert_int_equal(seen.low_word & COUNTER_CLIMBS, 1);
	assert_int_equal((low->word | mid->word | high->word) & COUNTER_CLIMBS, 0);

	/* also where no level above has a limit: it may get one before the climb is there */
	page_counter_set_max(high, PAGE_COUNTER_MAX);
	climb_with_a_look(1, true);
	assert_int_equal(seen.low_word & COUNTER_CLIMBS, 1);
	assert_int_equal(seen.mid_word & COUNTER_CLIMBS, 1);
	assert_int_equal((low->word | mid->word | high->word) & COUNTER_CLIMBS, 0);
	sigaction(SIGSEGV, &old, NULL);
	munmap(memory, 2 * page_size);
}

/* The last level of a climb decides it: nothing is counted there, be it the root or the one below top. */
static void the_last_level_counts_no_climb(void **state)
{
	struct counter_refusal refusal;

	(void)state;
	build(3);
	levels[0].pressure = levels[1].pressure = 1;
	levels[0].word += COUNTER_CLIMBS; /* one more would not fit */
	assert_true(page_counter_try_charge(&levels[2], NULL, 1, &refusal));
	levels[1].word += COUNTER_CLIMBS;
	assert_false(page_counter_try_charge(&levels[2], NULL, 1, &refusal));
	assert_ptr_equal(refusal.counter, &levels[1]);
	assert_true(refusal.undecided);
	assert_true(page_counter_try_charge(&levels[2], &levels[0], 1, &refusal));
	assert_int_equal(counter_usage(levels[1].word), 2);
	assert_int_equal(counter_usage(levels[0].word), 1);
}

/* A refusal by a word with climbs in it says that it may be wrong; by one without, that it is not. */
static void refusal_says_undecided(void **state)
{
	struct counter_refusal refusal;

	(void)state;
	build(2);
	page_counter_set_max(&levels[0], 10);
	levels[0].word += 1;
	assert_false(page_counter_try_charge(&levels[1], NULL, 11, &refusal));
	assert_true(refusal.undecided);
	assert_false(page_counter_try_charge(&levels[1], NULL, 100, &refusal));
	assert_true(refusal.undecided);
	levels[0].word -= 1;
	assert_false(page_counter_try_charge(&levels[1], NULL, 11, &refusal));
	assert_false(refusal.undecided);
}

#define RACERS 4
#define RACES 30000

static uint32_t racing; /* racers left; atomic */

static void *races(void *arg)
{
	struct page_counter *leaf = arg;
	struct counter_refusal refusal;
	int i;

	for (i = 0; i < RACES; i++) {
		unsigned long nr = (unsigned long)(i % 7) + 1;

		if (page_counter_try_charge(leaf, NULL, nr, &refusal))
			page_counter_uncharge(leaf, NULL, nr);
	}
	atomic_sub(&racing, 1);
	return NULL;
}

/* A3: no sample of any level ever shows usage above max, a hopeless large charger among them; A1 after. */
static void never_above_max(void **state)
{
	pthread_t threads[RACERS];
	struct counter_refusal refusal;
	size_t i;

	(void)state;
	build(4);
	page_counter_set_max(&levels[0], 9);
	page_counter_set_max(&levels[2], 8);
	racing = RACERS;
	for (i = 0; i < RACERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, races, &levels[3]), 0);
	while (load_relaxed(&racing)) {
		assert_true(page_counter_read(&levels[0]) <= 9);
		assert_true(page_counter_read(&levels[1]) <= 9 + 7 * RACERS); /* in flight below the refuser */
		assert_true(page_counter_read(&levels[2]) <= 8);
		assert_false(page_counter_try_charge(&levels[3], NULL, 50, &refusal));
	}
	for (i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	expect_usage(4, 0);
	assert_true(levels[0].watermark <= 9 && levels[2].watermark <= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(init_has_no_limits),
		cmocka_unit_test(charges_every_level),
		cmocka_unit_test(stops_below_top),
		cmocka_unit_test(refusal_leaves_no_trace),
		cmocka_unit_test(lowest_refuser_is_named),
		cmocka_unit_test(many_refusals_change_nothing),
		cmocka_unit_test(force_is_counted),
		cmocka_unit_test(what_a_climb_shows),
		cmocka_unit_test(refusal_says_undecided),
		cmocka_unit_test(never_above_max),
		cmocka_unit_test(the_last_level_counts_no_climb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
