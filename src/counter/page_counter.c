/* SPDX-License-Identifier: MIT */
/* page_counter: climbs. */
#include "counter/page_counter.h"

#include "base/mem.h"
#include "base/rcu.h"
#include "base/sim.h"

#define ONE_PAGE (1UL << COUNTER_SHIFT)
#define ROOM_FRACTION_SHIFT 3 /* an eighth of a limit can be stock */

/* What a climb did, for its end. */
struct climb {
	unsigned long stored[PAGE_COUNTER_DEPTH]; /* per depth: the usage that the exchange stored */
	uint64_t marked;                          /* per depth: a climb is counted there */
};

void page_counter_init(struct page_counter *counter, struct page_counter *parent)
{
	counter->parent = parent;
	counter->depth = parent ? parent->depth + 1 : 0;
	counter->limit = PAGE_COUNTER_MAX;
	counter->max = PAGE_COUNTER_MAX;
	counter->high = PAGE_COUNTER_MAX;
	memcg_assert(counter->depth < PAGE_COUNTER_DEPTH);
	sim_name_field(counter, page_counter, limit);
	sim_name_field(counter, page_counter, max);
	sim_name_field(counter, page_counter, pressure);
	sim_name_field(counter, page_counter, word);
	sim_name_field(counter, page_counter, watermark);
	sim_name_field(counter, page_counter, local_watermark);
	sim_name_field(counter, page_counter, room);
	sim_name_field(counter, page_counter, failcnt);
}

static bool refused(struct counter_refusal *refusal, struct page_counter *counter, uint64_t word, unsigned long limit)
{
	long usage = counter_usage(word);

	refusal->counter = counter;
	refusal->undecided = word & COUNTER_CLIMBS;
	refusal->margin = usage < 0 || (unsigned long)usage >= limit ? 0 : limit - (unsigned long)usage;
	return false;
}

static bool exceeds(uint64_t word, unsigned long nr, unsigned long limit)
{
	long usage = counter_usage(word);

	return nr > limit || (usage > 0 ? (unsigned long)usage : 0) > limit - nr;
}

/* The kernel's way, as a fault to plant: readers see the sum before it is taken back. */
static bool try_level_fault(struct page_counter *counter, unsigned long nr, struct climb *climb,
			    struct counter_refusal *refusal)
{
	uint64_t word = atomic_add(&counter->word, nr * ONE_PAGE);
	unsigned long limit = load_seq(&counter->limit);

	if (exceeds(word, 0, limit)) {
		word = atomic_sub(&counter->word, nr * ONE_PAGE);
		return refused(refusal, counter, word, limit);
	}
	climb->stored[counter->depth] = (unsigned long)counter_usage(word);
	return true;
}

/* Of a word that is not 0: is it held, or does it linger and not for too long? */
static noinline bool still_pressed(struct page_counter *counter, uint32_t pressure)
{
	if (pressure != PRESSURE_CLEAN || (int64_t)(clock_ns() - load_relaxed(&counter->held)) < PRESSURE_LINGER_NS)
		return true;
	/* Fails if a holder came, or another was faster to end it. */
	return !atomic_cas(&counter->pressure, &pressure, 0);
}

static bool pressed(struct page_counter *counter)
{
	uint32_t pressure = load_seq(&counter->pressure);

	return unlikely(pressure) && still_pressed(counter, pressure);
}

/* One level: never stores above the limit that is in force when it stores. */
static bool try_level(struct page_counter *counter, struct page_counter *top, unsigned long nr, struct climb *climb,
		      struct counter_refusal *refusal)
{
	uint64_t bit = 1ULL << counter->depth;
	uint64_t word = load_seq(&counter->word);
	uint64_t mark = pressed(counter) && counter->parent != top; /* the last level decides */

	if (sim_fault(FAULT_ADD_THEN_BACK_OFF))
		return try_level_fault(counter, nr, climb, refusal);
	for (;;) {
		/* After the word: a limit that is set between the two changes the version in the word. */
		unsigned long limit = load_seq(&counter->limit);

		if (exceeds(word, nr, limit) || exceeds(word, nr, COUNTER_PAGES_MAX))
			return refused(refusal, counter, word, limit);
		if (mark && (word & COUNTER_CLIMBS) == COUNTER_CLIMBS)
			return refused(refusal, counter, word, limit);
		if (atomic_cas(&counter->word, &word, word + nr * ONE_PAGE + mark))
			break;
	}
	climb->stored[counter->depth] = (unsigned long)counter_usage(word) + nr;
	if (mark)
		climb->marked |= bit;
	return true;
}

/* Uncharge one level. More than was charged is the caller's bug: counted, and clamped here. */
static void cancel_level(struct page_counter *counter, unsigned long nr, uint64_t mark)
{
	uint64_t word = atomic_sub(&counter->word, nr * ONE_PAGE + mark);
	long usage = counter_usage(word);

	if (unlikely(usage < 0)) {
		unsigned long excess = (unsigned long)-usage;

		excess = excess < nr ? excess : nr;
		atomic_add(&counter->word, excess * ONE_PAGE);
		atomic_add(&counter->underflows, excess);
		memcg_debug(!"uncharged more than was charged");
	}
}

static void raise_mark(unsigned long *at, unsigned long usage)
{
	unsigned long mark = load_seq(at);

	while (usage > mark) {
		if (atomic_cas(at, &mark, usage))
			return;
	}
}

static void raise_watermark(struct page_counter *counter, unsigned long usage)
{
	raise_mark(&counter->local_watermark, usage);
	raise_mark(&counter->watermark, usage);
}

/*
 * Who climbs stores the usage, then looks at the mark; here the mark is lowered, then the usage is looked at
 * again: what was charged when that look was made is in the mark. A charge in flight can be, and the lifetime mark is
 * left alone: only v1's max_usage_in_bytes lowers that one, in the same way.
 */
static unsigned long lower_mark(struct page_counter *counter, unsigned long *mark)
{
	unsigned long usage = page_counter_read(counter);
	long again;

	store_seq(mark, usage);
	again = counter_usage(load_seq(&counter->word));
	raise_mark(mark, again > 0 ? (unsigned long)again : 0);
	return usage;
}

unsigned long page_counter_reset_peak(struct page_counter *counter)
{
	return lower_mark(counter, &counter->local_watermark);
}

void page_counter_lower_peak(struct page_counter *counter)
{
	lower_mark(counter, &counter->watermark);
}

static void climb_done(struct page_counter *counter, struct page_counter *top, const struct climb *climb)
{
	for (; counter != top; counter = counter->parent) {
		raise_watermark(counter, climb->stored[counter->depth]);
		if (climb->marked & (1ULL << counter->depth))
			atomic_sub(&counter->word, 1);
	}
}

static void climb_undo(struct page_counter *counter, const struct page_counter *refuser, unsigned long nr,
		       const struct climb *climb)
{
	for (; counter != refuser; counter = counter->parent)
		cancel_level(counter, nr, !!(climb->marked & (1ULL << counter->depth)));
}

/*
 * A look before a large climb: what cannot fit is refused without being seen by anybody.
 * Reads only, so that the lines of the levels stay shared.
 */
static bool fits(struct page_counter *counter, const struct page_counter *top, unsigned long nr,
		 struct counter_refusal *refusal)
{
	for (; counter != top; counter = counter->parent) {
		uint64_t word = load_seq(&counter->word);
		unsigned long limit = load_seq(&counter->limit);

		if (exceeds(word, nr, limit))
			return refused(refusal, counter, word, limit);
	}
	return true;
}

bool page_counter_try_charge(struct page_counter *counter, struct page_counter *top, unsigned long nr,
			     struct counter_refusal *refusal)
{
	struct page_counter *level;
	struct climb climb;

	climb.marked = 0;
	refusal->counter = NULL;
	if (nr > 64 && !fits(counter, top, nr, refusal))
		return false;
	for (level = counter; level != top; level = level->parent) {
		if (!try_level(level, top, nr, &climb, refusal)) {
			climb_undo(counter, level, nr, &climb);
			return false;
		}
	}
	climb_done(counter, top, &climb);
	return true;
}

bool page_counter_force_charge(struct page_counter *counter, struct page_counter *top, unsigned long nr)
{
	struct page_counter *level;

	for (level = counter; level != top; level = level->parent) {
		if (exceeds(load_relaxed(&level->word), nr, COUNTER_PAGES_MAX))
			return false;
	}
	for (level = counter; level != top; level = level->parent) {
		unsigned long usage = (unsigned long)counter_usage(atomic_add(&level->word, nr * ONE_PAGE));
		unsigned long limit = load_relaxed(&level->limit);

		raise_watermark(level, usage);
		if (usage > limit)
			atomic_add(&level->forced, usage - limit < nr ? usage - limit : nr);
	}
	return true;
}

void page_counter_uncharge(struct page_counter *counter, struct page_counter *top, unsigned long nr)
{
	for (; counter != top; counter = counter->parent)
		cancel_level(counter, nr, 0);
}

/* Makes each exchange that was decided under the old limit fail. */
static void bump_version(struct page_counter *counter)
{
	const uint64_t one = 1ULL << COUNTER_CLIMB_BITS;
	const uint64_t mask = ((1ULL << COUNTER_VERSION_BITS) - 1) << COUNTER_CLIMB_BITS;
	const uint64_t half = mask >> 1 & mask;
	uint64_t word = load_seq(&counter->word);
	uint64_t next;

	/*
	 * Before a version comes again, no decision made under it may be on its way. Two waits a round: each lets
	 * pass what begins while it lasts, and that has a version which the other comes between.
	 */
	if ((word & half) == half)
		rcu_synchronize();
	do {
		next = (word & ~mask) | ((word + one) & mask);
	} while (!atomic_cas(&counter->word, &word, next));
}

void page_counter_set_max(struct page_counter *counter, unsigned long pages)
{
	if (pages >= load_relaxed(&counter->max)) {
		store_seq(&counter->max, pages);
		store_seq(&counter->limit, pages);
		return;
	}
	store_seq(&counter->limit, pages);
	bump_version(counter);
	store_seq(&counter->max, pages);
}

bool page_counter_hold(struct page_counter *counter)
{
	return atomic_add(&counter->pressure, 1) & PRESSURE_CLEAN;
}

void page_counter_clean(struct page_counter *counter)
{
	uint32_t old = load_relaxed(&counter->pressure);

	/* No holder: in the child of a fork that a handler made in the middle of our wait. */
	while ((old & ~PRESSURE_CLEAN) && !atomic_cas(&counter->pressure, &old, old | PRESSURE_CLEAN))
		;
}

void page_counter_let_go(struct page_counter *counter, bool linger)
{
	uint32_t old = load_relaxed(&counter->pressure), next;

	if (linger)
		store_relaxed(&counter->held, clock_ns());
	do {
		if (!(old & ~PRESSURE_CLEAN)) /* as above */
			return;
		next = old - 1;
		if (next == PRESSURE_CLEAN && !linger)
			next = 0;
	} while (!atomic_cas(&counter->pressure, &old, next));
}

bool page_counter_pressed(struct page_counter *counter)
{
	for (; counter; counter = counter->parent) {
		if (pressed(counter))
			return true;
	}
	return false;
}

bool page_counter_reserve_room(struct page_counter *counter, unsigned long pages)
{
	struct page_counter *level, *undo;

	for (level = counter; level; level = level->parent) {
		unsigned long allowed = load_relaxed(&level->limit) >> ROOM_FRACTION_SHIFT;

		if (pressed(level) || load_relaxed(&level->room) + pages > allowed)
			break;
		/* Again: who lowers the limit now either sees this room and drains, or is seen. */
		if (atomic_add(&level->room, pages) > load_seq(&level->limit) >> ROOM_FRACTION_SHIFT) {
			atomic_sub(&level->room, pages);
			break;
		}
	}
	if (!level)
		return true;
	for (undo = counter; undo != level; undo = undo->parent)
		atomic_sub(&undo->room, pages);
	return false;
}

void page_counter_return_room(struct page_counter *counter, unsigned long pages)
{
	for (; counter; counter = counter->parent) {
		unsigned long left = atomic_sub(&counter->room, pages);

		memcg_debug((long)left >= 0);
		(void)left;
	}
}
