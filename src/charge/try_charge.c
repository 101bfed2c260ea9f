/* SPDX-License-Identifier: MIT */
/*
 * The charge, with the kernel's control flow:
 *
 *   stock; a batch from the counters; the bare amount; force, if asked to; for a caller that may
 *   sleep: max event, reclaim, drain, retries; refusal.
 *
 * A6, no false refusal. The kernel drains once, does not wait for it, and refuses what
 * another CPU's stock or a climb that fails later has in hand. Here a may-sleep charge that a
 * level refuses puts that level under pressure (drain.c): from then on what the level counts is what
 * lives below it, and climbs that are not decided, which the refusing word itself counts. It is
 * refused only by a word without such climbs. What a call waits for them ends after UNDECIDED_NS, in
 * sum (B3). Then a thread is stopped inside its climb, by a debugger or a handler that does not return; or
 * each of some 40,000 looks met some climb under way. Of those that are granted the pages live. Pages of one that is
 * refused in the end are the only ones that can refuse wrongly.
 *
 * A dead owner's objects left parts of pages in slots that only the settling of the dead can attribute
 * (group/objcg.c): it is done before such pages refuse anybody.
 *
 * Several levels can refuse in turn; pressure is kept on each until the call ends, and lingers: who was near
 * a limit once will be again, and the next refusal costs no drain.
 */
#include "charge/try_charge.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"
#include "charge/drain.h"
#include "group/house.h"
#include "group/objcg.h"
#include "group/slow.h"

#define RECLAIM_RETRIES 16       /* MAX_RECLAIM_RETRIES of the kernel */
#define COSTLY_PAGES 8UL         /* up to which progress alone is worth a retry */
#define UNDECIDED_NS 2000000000U /* longest wait of a call for others' climbs */

unsigned long (*charge_reclaim)(struct memcg *over, unsigned long nr);

/* A charge that may sleep. */
struct waiting {
	struct memcg *memcg;  /* who is charged */
	struct memcg *top;    /* first level that is not charged, NULL: none */
	unsigned long nr;     /* pages */
	uint64_t pressed;     /* per depth: levels that this call holds under pressure */
	int retries;          /* fruitless reclaims left */
	unsigned int attempt; /* waits for undecided climbs so far */
	uint64_t since;       /* when the first began, 0: not yet */
};

bool charge_nowait(struct memcg *memcg, struct memcg *top, unsigned long nr, struct counter_refusal *refusal)
{
	struct page_counter *end = top ? &top->memory : NULL;
	unsigned long batch;

	if (end)
		return page_counter_try_charge(&memcg->memory, end, nr, refusal);
	if (stock_take(memcg, nr, &batch))
		return true;
	if (batch > nr && page_counter_try_charge(&memcg->memory, NULL, batch, refusal)) {
		stock_return(memcg, batch - nr);
		return true;
	}
	return page_counter_try_charge(&memcg->memory, NULL, nr, refusal);
}

void charge_met(struct charge_tries *tries, const struct counter_refusal *refusal, unsigned long nr)
{
	tries->last = *refusal;
	tries->asked = nr;
	if (!tries->raised)
		events_raise(&memcg_of_counter(refusal->counter)->events, EVENT_MAX);
	tries->raised = true;
}

void charge_refused(const struct charge_tries *tries)
{
	struct memcg *over = memcg_of_counter(tries->last.counter);
	struct memcg_refusal *last = &thread_self()->refusal;

	last->group = over;
	last->file = "memory.max";
	last->asked = tries->asked;
	last->margin = tries->last.margin;
	__atomic_fetch_add(&over->memory.failcnt, 1, __ATOMIC_RELAXED);
}

int charge_failed(const struct charge_tries *tries)
{
	if (!tries->later)
		charge_refused(tries);
	return -ENOMEM;
}

static int charge_force(struct memcg *memcg, struct memcg *top, unsigned long nr)
{
	bool done;

	slow_enter();
	done = page_counter_force_charge(&memcg->memory, top ? &top->memory : NULL, nr);
	slow_leave();
	return done ? 0 : -EINVAL;
}

/* Wait for the climbs that may have made a refusal wrong. False: long enough. */
static bool wait_undecided(struct waiting *waiting, const struct page_counter *counter)
{
	if (!waiting->since)
		waiting->since = clock_ns();
	if (clock_ns() - waiting->since > UNDECIDED_NS)
		return false;
	clock_pause(waiting->attempt++, &counter->word);
	return true;
}

static bool reclaim(struct waiting *waiting, struct memcg *over)
{
	unsigned long freed;

	if (!charge_reclaim)
		return false;
	freed = charge_reclaim(over, waiting->nr);
	if (freed && waiting->nr <= COSTLY_PAGES)
		return true;
	return waiting->retries-- > 0;
}

/* What was in byte slots of destroyed groups, and is nobody's, counts until it is settled. */
static void settle_dead(const struct memcg *over)
{
	if (load_seq(&objcg_withholding) && (memcg_dying(over) || load_seq(&over->css.nr_dying)))
		house_settle();
}

/* After a refusal: is there something left to do that may change it? */
static bool worth_retry(struct waiting *waiting, const struct counter_refusal *refusal)
{
	struct memcg *over = memcg_of_counter(refusal->counter);
	uint64_t bit = 1ULL << refusal->counter->depth;

	if (reclaim(waiting, over))
		return true;
	/* What is larger than the limit need not know what lives there. */
	if (waiting->nr > load_seq(&refusal->counter->limit))
		return false;
	if (!(waiting->pressed & bit)) {
		waiting->pressed |= bit;
		pressure_begin(over);
		settle_dead(over);
		return true;
	}
	return refusal->undecided && wait_undecided(waiting, refusal->counter);
}

static void release_pressure(const struct waiting *waiting)
{
	struct css *css;

	for (css = &waiting->memcg->css; css; css = css->parent) {
		if (waiting->pressed & (1ULL << css->depth))
			pressure_linger(memcg_of(css));
	}
}

static bool charge_sleep(struct waiting *waiting, struct counter_refusal *refusal)
{
	bool done = false;
	int state;

	/* A handler of the fork that this thread makes has all locks that waiting would take. */
	if (slow_forking())
		return false;
	/* Pressure that is held must be released, and malloc is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (!done && worth_retry(waiting, refusal)) {
		slow_enter();
		done = charge_nowait(waiting->memcg, waiting->top, waiting->nr, refusal);
		slow_leave();
	}
	release_pressure(waiting);
	pthread_setcancelstate(state, NULL);
	return done;
}

int charge_try(struct memcg *memcg, struct memcg *top, unsigned long nr, unsigned int flags, struct charge_tries *tries)
{
	struct counter_refusal refusal;
	bool done;

	slow_enter();
	done = charge_nowait(memcg, top, nr, &refusal);
	slow_leave();
	if (done)
		return 0;
	charge_met(tries, &refusal, nr);
	if (flags & (MEMCG_FORCE | MEMCG_RESERVE))
		return charge_force(memcg, top, nr);
	if (flags & MEMCG_MAY_SLEEP) {
		struct waiting waiting = { .memcg = memcg, .top = top, .nr = nr, .retries = RECLAIM_RETRIES };

		if (charge_sleep(&waiting, &tries->last))
			return 0;
	}
	return charge_failed(tries);
}

int try_charge(struct memcg *memcg, struct memcg *top, unsigned long nr, unsigned int flags)
{
	struct charge_tries tries = { 0 };

	return charge_try(memcg, top, nr, flags, &tries);
}
