/* SPDX-License-Identifier: MIT */
/* Limits: A3 (never over), A4 (a refusal leaves no trace), A6 (no false refusal). */
#include "tests/stage.h"
#include "tests/tests.h"

enum {
	MAX = 160
}; /* pages: an eighth of it is more than a first slot has room for */

static void one_level(void)
{
	stage_start(0);
	stage_make(1, 0, MAX);
	stage_make(2, 1, 0);
}

static void two_levels(void)
{
	stage_start(0);
	stage_make(1, 0, MAX);
	stage_make(2, 1, MAX);
}

/* Never fits, however the others stand. */
static void hopeless(void)
{
	sim_check(stage_try(2, MAX + 1, MEMCG_MAY_SLEEP) != 0);
}

static void large(void)
{
	if (!stage_try(2, MAX, MEMCG_MAY_SLEEP))
		stage_uncharge(2, MAX);
}

/* Small ones that fit beside each other: a hopeless one must not make them fail. */
static void small(void)
{
	sim_check(stage_try(2, 2, MEMCG_MAY_SLEEP) == 0);
	sim_check(stage_try(2, 1, MEMCG_MAY_SLEEP) == 0);
	stage_uncharge(2, 3);
}

static void small_may_fail(void)
{
	if (!stage_try(2, 2, 0))
		stage_uncharge(2, 2);
}

static void no_trace(void)
{
	/* Three small chargers, 3 pages each at most, and what their stock held. */
	sim_check(stage_peak(1) < MAX);
	stage_conserved();
}

const struct sim_test test_refusal = {
	.name = "refusal",
	.about = "a hopeless charge beside small ones that fit, one limited level",
	.cpus = 3,
	.threads = { hopeless, small, small },
	.setup = one_level,
	.check = no_trace,
	.invariant = stage_invariant,
};

const struct sim_test test_refusal_two_levels = {
	.name = "refusal-two-levels",
	.about = "the same with two limited levels, and a nowait charger",
	.cpus = 2,
	.threads = { hopeless, small, small_may_fail },
	.setup = two_levels,
	.check = no_trace,
	.invariant = stage_invariant,
};

const struct sim_test test_refusal_success = {
	.name = "refusal-success",
	.about = "a charge of the whole limit against small ones",
	.cpus = 2,
	.threads = { large, small_may_fail, small_may_fail },
	.setup = two_levels,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

/* Stock of other CPUs is never the reason of a refusal: exactly the limit is granted. */

static void exact_setup(void)
{
	stage_start(0);
	stage_make(1, 0, MAX);
}

static void charges_to_the_limit(void)
{
	for (int i = 0; i < 2; i++)
		sim_check(stage_try(1, MAX / 4, MEMCG_MAY_SLEEP) == 0);
}

static void exactly_full(void)
{
	sim_check(stage_live(1) == MAX);
	sim_check(stage_try(1, 1, MEMCG_MAY_SLEEP) != 0);
	stage_conserved();
}

static void stock_everywhere(void)
{
	exact_setup();
	stage_charge(1, 1);
	stage_uncharge(1, 1);
}

const struct sim_test test_exact_limit = {
	.name = "exact-limit",
	.about = "may-sleep charges get exactly the limit, whatever stock there is",
	.cpus = 3,
	.threads = { charges_to_the_limit, charges_to_the_limit },
	.setup = stock_everywhere,
	.check = exactly_full,
	.invariant = stage_invariant,
};

static void exact_or_fewer(void)
{
	int granted = 0;

	for (int i = 0; i < 2; i++)
		granted += !stage_try(1, MAX / 2, MEMCG_MAY_SLEEP);
	sim_note(SIM_LEDGER - 1, granted);
}

static void two_granted(void)
{
	sim_check(sim_noted(SIM_LEDGER - 1) == 2);
	stage_conserved();
}

const struct sim_test test_limit_race = {
	.name = "limit-race",
	.about = "three charges race for room for two, with stock coming and going",
	.cpus = 2,
	.threads = { exact_or_fewer, exact_or_fewer },
	.setup = stock_everywhere,
	.check = two_granted,
	.invariant = stage_invariant,
};

/*
 * A climb that a higher level refuses is seen on the lower one for a while. Who asks there
 * meanwhile, and may sleep, must wait for the truth.
 */

static void climb_setup(void)
{
	stage_start(0);
	stage_make(1, 0, 4);
	stage_make(2, 1, 8);
	stage_make(3, 2, 0);
}

static void refused_above(void)
{
	sim_check(stage_try(3, 6, MEMCG_MAY_SLEEP) != 0);
}

static void refused_above_nowait(void)
{
	sim_check(stage_try(3, 5, 0) != 0);
}

static void fits_exactly(void)
{
	sim_check(stage_try(2, 4, MEMCG_MAY_SLEEP) == 0);
	stage_uncharge(2, 4);
}

static void peak_of_what_fits(void)
{
	sim_check(stage_peak(1) == 4 && stage_peak(0) == 4);
	stage_conserved();
}

const struct sim_test test_undecided = {
	.name = "undecided",
	.about = "climbs that a higher level refuses do not refuse others below it",
	.cpus = 3,
	.threads = { refused_above, fits_exactly, refused_above_nowait },
	.setup = climb_setup,
	.check = peak_of_what_fits,
	.invariant = stage_invariant,
};

/*
 * The same where the level above gets its first limit in the middle, and others hold the lower one under pressure. What
 * fits below is refused only if the large one was granted; one that is refused after all is no reason.
 */

enum {
	BOTH_REFUSED = SIM_LEDGER - 1
};

static void capped_setup(void)
{
	stage_start(0);
	stage_make(1, 0, 0);
	stage_make(2, 1, 8);
	stage_make(3, 2, 0);
}

static void large_unless_capped(void)
{
	if (stage_try(3, 6, 0))
		sim_note(BOTH_REFUSED, 1);
	else
		stage_uncharge(3, 6);
}

static void small_below_the_cap(void)
{
	if (stage_try(2, 4, MEMCG_MAY_SLEEP))
		sim_note(BOTH_REFUSED, 1);
	else
		stage_uncharge(2, 4);
}

static void caps(void)
{
	stage_press(2);
	stage_set_max(1, 4);
	stage_release(2);
}

static void not_both(void)
{
	sim_check(sim_noted(BOTH_REFUSED) < 2);
	stage_conserved();
}

const struct sim_test test_capped_above = {
	.name = "capped-above",
	.about = "a climb that a limit set meanwhile refuses above does not refuse a small one below",
	.cpus = 3,
	.threads = { large_unless_capped, small_below_the_cap, caps },
	.setup = capped_setup,
	.check = not_both,
	.invariant = stage_invariant,
};

/*
 * Refusals one after the other: the pressure of the first lingers for the next, and ends between. Whatever stock comes
 * and goes meanwhile, what fits is granted, what does not is refused.
 */

enum {
	FILLED = 100
};

static void filled_setup(void)
{
	one_level();
	stage_charge(1, FILLED);
}

static void refused_again(void)
{
	for (int i = 0; i < 3; i++)
		sim_check(stage_try(2, MAX - FILLED + 1, MEMCG_MAY_SLEEP) != 0);
}

static void fits_again(void)
{
	for (int i = 0; i < 3; i++) {
		sim_check(stage_try(2, MAX - FILLED - 2, MEMCG_MAY_SLEEP) == 0);
		stage_uncharge(2, MAX - FILLED - 2);
	}
}

static void two_come_and_go(void)
{
	for (int i = 0; i < 3; i++)
		small_may_fail();
}

const struct sim_test test_refused_again = {
	.name = "refused-again",
	.about = "refusals in a row, whose pressure lingers, beside what fits and stock that comes and goes",
	.cpus = 3,
	.threads = { refused_again, fits_again, two_come_and_go },
	.setup = filled_setup,
	.check = stage_conserved,
	.invariant = stage_invariant,
};

/* One page, two that want it. */

static void one_page(void)
{
	stage_start(0);
	stage_make(1, 0, 1);
}

static void wants_the_page(void)
{
	if (!stage_try(1, 1, MEMCG_MAY_SLEEP))
		sim_note(SIM_LEDGER - 1, 1);
}

static void wants_the_page_nowait(void)
{
	if (!stage_try(1, 1, 0))
		sim_note(SIM_LEDGER - 1, 1);
}

static void one_got_it(void)
{
	sim_check(sim_noted(SIM_LEDGER - 1) == 1);
	sim_check(stage_peak(1) == 1);
	stage_conserved();
}

const struct sim_test test_last_page = {
	.name = "last-page",
	.about = "two charges for one page, small enough for an exhaustive search",
	.cpus = 2,
	.threads = { wants_the_page_nowait, wants_the_page_nowait },
	.setup = one_page,
	.check = one_got_it,
	.invariant = stage_invariant,
	.exhaustive_bound = 3,
};

const struct sim_test test_last_page_sleeping = {
	.name = "last-page-sleeping",
	.about = "the same for charges that may sleep",
	.cpus = 2,
	.threads = { wants_the_page, wants_the_page },
	.setup = one_page,
	.check = one_got_it,
	.invariant = stage_invariant,
	.exhaustive_bound = 2,
};

/* memory.max is lowered, and raised, against charges. */

static void charges_some(void)
{
	for (int i = 0; i < 3; i++)
		stage_try(2, 4, 0);
}

static void lowers(void)
{
	stage_set_max(1, 8);
	sim_check(memcg_charge(stage[2], 9, 0) != 0);
	stage_set_max(1, 16);
}

const struct sim_test test_max_lowered = {
	.name = "max-lowered",
	.about = "memory.max is lowered and raised against charges",
	.cpus = 2,
	.threads = { charges_some, lowers, small_may_fail },
	.setup = one_level,
	.check = stage_conserved,
	.invariant = stage_invariant,
};
