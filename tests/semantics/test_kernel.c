/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own memory controller (cgroup v1) and ours, driven through the same scenarios: what each says is written
 * down in the same words, and the words must be equal. Where no such controller can be written to, the test
 * is skipped (exit code 77) and says why.
 */
#include "support/machine.h"
#include "semantics/side_kernel.h"
#include "semantics/side_ours.h"

#define NONE (~0UL) /* no limit */

/* What a side said. */
static char said[2][16384];
static char *saying;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t len = strlen(saying);
	va_list args;

	va_start(args, format);
	must(vsnprintf(saying + len, sizeof(said[0]) - len, format, args) < (int)(sizeof(said[0]) - len));
	va_end(args);
}

/* Scenarios. */

static const struct side *side;

static void limit(const char *path, unsigned long pages)
{
	char bytes[32] = "9223372036854771712";

	if (pages != NONE)
		snprintf(bytes, sizeof(bytes), "%lu", pages * MEMCG_PAGE_SIZE);
	must(side->limit(path, bytes) == 0);
}

static void limits_are_rounded(void)
{
	static const char *const texts[] = {
		"4096",
		"4095",
		"4097",
		"0",
		"1",
		"1k",
		"4K",
		"10m",
		"3g",
		"2T",
		"1P",
		"0x2000",
		"010000",
		" 8192",
		"8192\n",
		"xx",
		"10MB",
		"1.0",
		"1xx",
		"+4096",
		"08",
		"0x",
		"4Kk",
		"\n",
		"1e3",
		"0.5M",
		"4 K",
		"123456789",
		"9223372036854771712",
	};
	char back[64];
	size_t i;

	must(side->make("h") == 0);
	for (i = 0; i < array_size(texts); i++) {
		must(side->limit("h", "12288") == 0);
		say("limit %s: %d, ", texts[i], side->limit("h", texts[i]));
		side->show_limit("h", back);
		say("reads %s\n", back);
	}
	must(side->end("h") == 0);
}

static const char *const levels[] = { "g", "g/a", "g/a/b", "g/c" };

static unsigned long failures_before[array_size(levels)];

static void failures_mark(void)
{
	size_t i;

	for (i = 0; i < array_size(levels); i++)
		failures_before[i] = side->failures(levels[i]);
}

/* Which levels counted a failure since the mark. */
static void say_failures(void)
{
	size_t i;

	say("counted by");
	for (i = 0; i < array_size(levels); i++) {
		if (side->failures(levels[i]) != failures_before[i])
			say(" %s", levels[i]);
	}
	say("\n");
}

/* Touch until refused: which level is full, and which counted it. */
static unsigned long fill(unsigned int actor, const char *full, unsigned long max)
{
	unsigned long done;

	failures_mark();
	done = side->touch(actor, 200);
	say("actor %u is %s; %s has %lu of %lu; ", actor, done < 200 ? "refused" : "served", full, side->usage(full),
	    max);
	say_failures();
	return done;
}

static void refusals(void)
{
	unsigned long first, usage;

	limit("g", 140);
	limit("g/a", 60);
	side->join(0, "g/a/b");
	side->join(1, "g/c");
	first = fill(0, "g/a", 60);
	/* what is given back can be had again, and not more */
	side->release(0, 7);
	say("7 less: %lu again\n", side->touch(0, 20));
	/* the level above refuses the sibling, and has nothing to do with the first */
	usage = side->usage("g/a");
	fill(1, "g", 140);
	say("g/a has %ld more\n", (long)(side->usage("g/a") - usage));
	/* more room below is none above */
	limit("g/a", 80);
	say("wider below: %lu\n", side->touch(0, 5));
	limit("g", 150);
	say("wider above: %lu\n", side->touch(0, 20));
	failures_mark();
	limit("g", NONE);
	say("no limit above: %lu, ", side->touch(0, 20));
	say_failures();
	side->release(0, 20 + first);
	side->release(1, 40);
	limit("g/a", NONE);
}

/* How usage moves while 300 pages are touched one by one: by batches of 64, and by other steps. */
static void count_steps(unsigned long *batches, unsigned long *others)
{
	unsigned long before = side->usage("g/c"), usage;
	int i;

	*batches = *others = 0;
	for (i = 0; i < 300; i++) {
		must(side->touch(1, 1) == 1);
		usage = side->usage("g/c");
		if (usage - before == 64)
			++*batches;
		else if (usage != before)
			++*others;
		before = usage;
	}
}

static void steps(bool same_batch)
{
	unsigned long batches, others, before, usage;
	bool clean = false;
	int tries;

	/* In the kernel any group at its limit, of whoever's, drains this CPU's stock: then there are other steps, too. */
	for (tries = 0; tries < 50 && !clean; tries++) {
		if (tries)
			side->release(1, 300);
		count_steps(&batches, &others);
		clean = same_batch ? batches >= 4 && batches <= 5 && !others : batches + others < 150;
	}
	say("usage moves by %s: %s\n", same_batch ? "64 pages" : "more than single pages", clean ? "yes" : "no");
	before = side->usage("g/c");
	/* near a limit by single pages, up to it */
	limit("g/c", before + 40);
	others = 0;
	while (side->touch(1, 1)) {
		usage = side->usage("g/c");
		if (usage > before + 40)
			others++;
	}
	say("at the limit: %s, over it %lu times\n", side->usage("g/c") == before + 40 ? "all of it" : "not all",
	    others);
	limit("g/c", NONE);
}

static void peaks(void)
{
	unsigned long usage;

	side->reset_peak("g/c");
	usage = side->usage("g/c");
	say("after a reset the peak is usage: %s\n", side->peak("g/c") == usage ? "yes" : "no");
	side->release(1, 200);
	say("and stays while usage falls: %s\n",
	    side->peak("g/c") == usage && side->usage("g/c") < usage ? "yes" : "no");
	side->reset_peak("g/c");
	say("another reset lowers it: %s\n", side->peak("g/c") == side->usage("g/c") ? "yes" : "no");
	usage = side->peak("g/c");
	limit("g/c", side->usage("g/c") + 10);
	while (side->touch(1, 1))
		;
	say("refusals leave it at the limit: %ld more\n", (long)(side->peak("g/c") - usage));
	limit("g/c", NONE);
}

/* What an actor has touched stays charged where it was, also when the group is gone. */
static void moves_and_ends(void)
{
	unsigned long above;

	must(side->touch(0, 90) == 90);
	say("a group with an actor: %d\n", side->end("g/a/b"));
	say("a group with a group below: %d\n", side->end("g/a"));
	side->join(0, "g/c");
	say("a move moves no pages: %s\n", side->usage("g/a/b") >= 90 ? "yes" : "no");
	say("a second of the same name: %d\n", side->make("g/c"));
	above = side->usage("g/a");
	say("a group with charges ends: %d\n", side->end("g/a/b"));
	say("above it nothing changes: %s\n",
	    side->usage("g/a") + MEMCG_STOCK_HIGH > above && side->usage("g/a") <= above ? "yes" : "no");
	above = side->usage("g/a");
	side->release(0, 90);
	say("until its pages go: %s\n", above - side->usage("g/a") >= 90 - MEMCG_STOCK_HIGH / 2 ? "yes" : "no");
}

static void scenarios(bool same_batch)
{
	size_t i;

	limits_are_rounded();
	for (i = 0; i < array_size(levels); i++)
		must(side->make(levels[i]) == 0);
	refusals();
	steps(same_batch);
	peaks();
	moves_and_ends();
}

static void run_kernel(bool same_batch)
{
	side = &kernel_side;
	saying = said[0];
	actors_start();
	scenarios(same_batch);
	actors_end();
	guardian_end();
}

static void run_ours(bool same_batch)
{
	struct memcg_options options = { .size = sizeof(options) };

	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	must(memcg_init(&options) == 0);
	players_start();
	side = &our_side;
	saying = said[1];
	scenarios(same_batch);
	memcg_file_close(peak_file);
	players_end();
	must(our_end("g/a") == 0 && our_end("g/c") == 0 && our_end("g") == 0);
	tree_is_empty();
}

int main(void)
{
	/* Two variants of the stock have the kernel's batch; ours has slots that grow. */
	const bool same_batch = MEMCG_STOCK != MEMCG_STOCK_RSEQ;
	const char *why = machine_valgrind() ? "valgrind's own memory would be counted" : kernel_start();

	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		if (guardian)
			guardian_end();
		return CHILD_SKIP;
	}
	run_kernel(same_batch);
	run_ours(same_batch);
	if (strcmp(said[0], said[1]) != 0) {
		fprintf(stderr, "The kernel says:\n%s\nWe say:\n%s", said[0], said[1]);
		return 1;
	}
	printf("%s", said[0]);
	return 0;
}
