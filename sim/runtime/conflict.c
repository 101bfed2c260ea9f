/* SPDX-License-Identifier: MIT */
/*
 * Which words matter for the order of the fibres.
 *
 * Two runs that differ only in the order of accesses to words that one context alone
 * touches, or that nobody writes, are the same run. So the runtime notes for each
 * 8-byte word of the region and of the static data who touched it and whether it was
 * written, over all runs of a test (setup and check do not count). A word is *known*
 * once the engine has frozen what was learned: the schedulers may then spend their
 * decisions on known words alone. Known words change only at a freeze, so every
 * process that shares the work makes the same decisions.
 *
 * Exhaustive search needs more than a hint: a word that comes to conflict while it
 * runs, and was not known, makes it start anew (sim_conflict_freeze() returns how many).
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define REGION_BASE ((uintptr_t)sim_memory_region(0, 0))

enum {
	REGION_BYTES = (16 << 20) + (512 << 20), /* stacks, and the arena's start: beyond it all words are known */
	MULTI = 1,
	WRITTEN = 2,
	CONFLICT = MULTI | WRITTEN,
	KNOWN = 4,
	MAX_NEW = 1 << 16,
};

struct word {
	uint8_t first; /* context that touched it first, plus 1 */
	uint8_t state; /* MULTI, WRITTEN, KNOWN */
};

static struct range {
	uintptr_t start, end; /* addresses covered */
	struct word *words;   /* one for 8 bytes */
} ranges[3];
static struct word *new_words[MAX_NEW]; /* words that conflict and are not known */
static unsigned int nr_new;

void sim_conflict_init(void)
{
	ranges[0].start = REGION_BASE;
	ranges[0].end = REGION_BASE + REGION_BYTES;
	sim_globals_range(0, &ranges[1].start, &ranges[1].end);
	sim_globals_range(1, &ranges[2].start, &ranges[2].end);
	for (unsigned int i = 0; i < 3; i++) {
		size_t size = ((ranges[i].end - ranges[i].start) / 8 + 2) * sizeof(struct word);

		ranges[i].words = sim_reserve(NULL, size);
	}
}

static struct word *word_at(uintptr_t addr)
{
	for (unsigned int i = 0; i < 3; i++)
		if (addr - ranges[i].start < ranges[i].end - ranges[i].start)
			return &ranges[i].words[(addr >> 3) - (ranges[i].start >> 3)];
	return NULL;
}

static void add_new(struct word *word)
{
	if (nr_new == MAX_NEW)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "more than %d words are shared", MAX_NEW);
	new_words[nr_new++] = word;
}

bool sim_conflict_touch(uintptr_t addr, size_t size, bool write, unsigned int ctx)
{
	struct word *word = word_at(addr);
	size_t nr = ((addr & 7) + size + 7) / 8;
	bool known = false;

	if (!word)
		return true;
	for (size_t i = 0; i < nr; i++, word++) {
		uint8_t state = word->state;

		if (!word->first)
			word->first = (uint8_t)(ctx + 1);
		else if (word->first != ctx + 1)
			state |= MULTI;
		if (write)
			state |= WRITTEN;
		if (sim_unlikely(state != word->state)) {
			word->state = state;
			if ((state & (CONFLICT | KNOWN)) == CONFLICT)
				add_new(word);
		}
		known |= state & KNOWN;
	}
	return known;
}

bool sim_conflict_at(uintptr_t addr, size_t size)
{
	const struct word *word = word_at(addr);
	size_t nr = ((addr & 7) + size + 7) / 8;

	for (size_t i = 0; word && i < nr; i++, word++)
		if ((word->state & CONFLICT) == CONFLICT)
			return true;
	return !word;
}

unsigned int sim_conflict_freeze(void)
{
	unsigned int found = nr_new;

	for (unsigned int i = 0; i < nr_new; i++)
		new_words[i]->state |= KNOWN;
	nr_new = 0;
	return found;
}

/* Another test begins. */
void sim_conflict_forget(void)
{
	for (unsigned int i = 0; i < 3; i++)
		madvise(ranges[i].words, ((ranges[i].end - ranges[i].start) / 8 + 2) * sizeof(struct word),
			MADV_DONTNEED);
	nr_new = 0;
}
