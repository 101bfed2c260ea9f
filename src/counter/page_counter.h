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
 *            a level above may still refuse. Kept only while somebody waits for the
 *            truth about this level (pressure); a may-sleep charge is not refused while
 *            there are some (A6).
 *
 * A level is climbed bottom-up. A refusal cancels what was added below, exactly, and
 * leaves watermarks alone: they are raised after success only (A4), to the usage that
 * this climb's own exchange stored.
 *
 * Tolerated: a limit that is set above while a climb is under way may refuse it after
 * a waiter below was refused for its pages: the climb was not counted, nothing above could
 * refuse it when it began. One such refusal for each limit write.
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

struct page_counter {
	/* Read by each climb, written by operators. */
	struct page_counter *parent; /* constant */
	unsigned long limit;         /* pages that try-charges obey; limit lock */
	unsigned long max;           /* pages that files show; limit lock */
	unsigned long high;          /* pages; stored, relaxed */
	unsigned long low;           /* pages; stored, relaxed */
	unsigned long min;           /* pages; stored, relaxed */
	uint32_t depth;              /* root 0; constant */
	uint32_t pressure;           /* may-sleep charges that wait here: no stock below; drain lock, read anywhere */
	uint32_t clean;              /* 1: no stock is below, since pressure > 0; drain lock */
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
page_counter_reset_peak(struct page_counter *counter); /* the local one, to what is returned; limit lock */

/* Room for stock slots: at most an eighth of the limit of every level (A2). */
bool page_counter_reserve_room(struct page_counter *counter,
			       unsigned long pages); /* false: refused at some level, or there is pressure */
void page_counter_return_room(struct page_counter *counter, unsigned long pages);
bool page_counter_pressed(const struct page_counter *counter); /* is somebody waiting at this level or above? */

#endif
