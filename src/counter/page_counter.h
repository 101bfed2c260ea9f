/* SPDX-License-Identifier: MIT */
/*
 * page_counter: a level's usage and its limits.
 *
 * One word holds usage | version | climbs:
 *
 *   usage    pages, signed 40 bits. No try-charge ever stores a usage above the limit
 *            in force (A3): each level is a compare-and-exchange, not an addition that
 *            is taken back.
 *   version  changes with each limit, so that an exchange decided under the old limit
 *            fails (two grace periods in each round of versions, so that none is that old).
 *   climbs   charges that have added their pages here and are not decided yet, because
 *            a level above may still refuse: also one without a limit, which may get one any
 *            moment. Kept only while somebody waits for the truth about this level
 *            (pressure); a may-sleep charge is not refused while there are some (A6).
 *
 * A level is climbed bottom-up. A refusal cancels what was added below, exactly, and
 * leaves watermarks alone: they are raised after success only (A4), to the usage that
 * this climb's own exchange stored.
 *
 * Pressure: a charge that waits for the truth holds it. While the word is not 0 no stock is placed below
 * (page_counter_reserve_room()), and climbs are counted. It is clean once that is true of all that began before,
 * too: no stock is below, every climb is counted (charge/drain.c). A clean one may linger after its last holder,
 * so that the next charge that is refused finds it so; the first climb or placement that comes
 * PRESSURE_LINGER_NS after the last holder ends it.
 *
 * Limits: max is what files show, limit is what charges obey. Lowering sets limit
 * first, raising sets max first, so that nobody sees usage above the max he reads.
 */
#ifndef COUNTER_PAGE_COUNTER_H
#define COUNTER_PAGE_COUNTER_H

#include "base/assert.h"
#include "base/compiler.h"

#define PAGE_COUNTER_MAX ((unsigned long)(INT64_MAX / 4096)) /* "max": no limit */
#define PAGE_COUNTER_DEPTH 64U                               /* levels, root included */

#define COUNTER_CLIMB_BITS 18
#define COUNTER_VERSION_BITS 6
#define COUNTER_SHIFT (COUNTER_CLIMB_BITS + COUNTER_VERSION_BITS)
#define COUNTER_CLIMBS ((1UL << COUNTER_CLIMB_BITS) - 1)
#define COUNTER_PAGES_MAX ((1UL << 38) - 1) /* most pages of one call, and of a level by force */

#define PRESSURE_CLEAN (1U << 31) /* in the word of pressure; below it the number of holders */
#ifndef PRESSURE_LINGER_NS
#define PRESSURE_LINGER_NS 2000000 /* no level is drained for charges more often */
#endif

struct page_counter {
	/* Read by each climb, written by operators. */
	struct page_counter *parent; /* constant */
	unsigned long limit;         /* pages that try-charges obey; limit lock */
	unsigned long max;           /* pages that files show; limit lock */
	unsigned long high;          /* pages; stored, relaxed */
	unsigned long low;           /* pages; stored, relaxed */
	unsigned long min;           /* pages; stored, relaxed */
	uint32_t depth;              /* root 0; constant */
	uint32_t pressure;           /* holders and PRESSURE_CLEAN; atomic */
	uint64_t held;               /* ns: when the last holder left that let it linger; relaxed */
	/* Written by each climb. */
	uint64_t word pair_aligned;    /* usage | version | climbs; atomic */
	unsigned long watermark;       /* highest usage that a successful charge stored; atomic */
	unsigned long local_watermark; /* the same since the last reset by an open file; atomic */
	unsigned long room;            /* pages that stock slots below have room for, in sum; atomic */
	unsigned long failcnt;         /* refusals at this level; atomic */
	unsigned long forced;          /* pages charged by force over the limit; atomic */
	unsigned long underflows;      /* pages uncharged that were never charged; atomic */
} pair_aligned;

_Static_assert(offsetof(struct page_counter, word) % PAIR_SIZE == 0, "usage shares no pair with the limits (E1)");

void page_counter_init(struct page_counter *counter, struct page_counter *parent);

static inline long counter_usage(uint64_t word)
{
	return (long)((int64_t)word >> COUNTER_SHIFT);
}

static inline unsigned long page_counter_read(const struct page_counter *counter)
{
	long usage = counter_usage(load_relaxed(&counter->word));

	memcg_debug(usage >= 0);
	return usage > 0 ? (unsigned long)usage : 0;
}

/* What refused a climb. */
struct counter_refusal {
	struct page_counter *counter; /* the level; NULL: none */
	unsigned long margin;         /* pages left below its limit then */
	bool undecided;               /* climbs were under way there: may be wrong in a moment */
};

/*
 * Charge @nr at @counter and all above, up to but excluding @top (NULL: all). Inside a
 * read section. Returns true, or false and @refusal with nothing charged.
 */
bool page_counter_try_charge(struct page_counter *counter, struct page_counter *top, unsigned long nr,
			     struct counter_refusal *refusal);
bool page_counter_force_charge(struct page_counter *counter, struct page_counter *top,
			       unsigned long nr); /* false: beyond all counting */
void page_counter_uncharge(struct page_counter *counter, struct page_counter *top, unsigned long nr);

void page_counter_set_max(struct page_counter *counter, unsigned long pages); /* limit lock; may sleep */
unsigned long
page_counter_reset_peak(struct page_counter *counter);      /* the local one, to what is returned; limit lock */
void page_counter_lower_peak(struct page_counter *counter); /* the lifetime one: v1's max_usage_in_bytes */

/* Room for stock slots: at most an eighth of the limit of every level (A2). */
bool page_counter_reserve_room(struct page_counter *counter,
			       unsigned long pages); /* false: refused at some level, or there is pressure */
void page_counter_return_room(struct page_counter *counter, unsigned long pages);

/* Pressure at one level. The charge floor's drains make it clean. */
bool page_counter_hold(struct page_counter *counter);                /* one holder more; true: it is clean */
void page_counter_clean(struct page_counter *counter);               /* by a holder, after what drain.c does */
void page_counter_let_go(struct page_counter *counter, bool linger); /* the opposite; what is clean may stay so */
bool page_counter_pressed(struct page_counter *counter); /* here or above; what has lingered long enough ends */

#endif
