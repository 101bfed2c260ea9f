/* SPDX-License-Identifier: MIT */
/* Marks of blocks that were updated, and the tree of groups that are to be flushed. The essay is rstat.c's. */
#include "stat/mark.h"

#include "base/sim.h"
#include "stat/rstat.h"

static void set_bit(uint64_t *words, unsigned int bit)
{
	uint64_t mask = 1ULL << (bit % 64);

	/* Set already: it has not been taken yet, and what takes it reads the level below later. */
	if (!(load_seq(&words[bit / 64]) & mask))
		__atomic_fetch_or(&words[bit / 64], mask, __ATOMIC_SEQ_CST);
}

/* One more index may keep its batches to itself. */
static void use_index(struct stat_tops *tops)
{
	if (!load_relaxed(&tops->used) && !atomic_xchg(&tops->used, 1))
		__atomic_fetch_add(&rstat.threshold, RSTAT_BATCH, __ATOMIC_RELAXED);
}

void rstat_mark(struct group_stat *stat, unsigned int index)
{
	uint64_t epoch = load_seq(&rstat.epoch);
	unsigned int slot = STAT_BLOCK_SLOT(stat->number);
	uint32_t chunk = STAT_BLOCK_CHUNK(stat->number);
	struct stat_block *block = stat_block_at(stat->base, index);
	struct stat_tops *tops = &stat_tops[index];

	use_index(tops);
	if (sim_fault(FAULT_MARK_BEFORE_BITS))
		store_release(&block->mark, epoch);
	set_bit(&stat_stripe_of(stat->number, stat->base, index)->marks, slot);
	set_bit(tops->top, chunk);
	set_bit(tops->topmost, chunk / 64);
	store_release(&block->mark, epoch);
}

bool rstat_dirty(void)
{
	unsigned int i, w;

	for (i = 0; i < stat_nr_index; i++) {
		for (w = 0; load_relaxed(&stat_tops[i].used) && w < STAT_TOPMOST_WORDS; w++) {
			if (load_seq(&stat_tops[i].topmost[w]))
				return true;
		}
	}
	return false;
}

/* It and all above it, up to the first that is in the tree already. */
static void link_up(struct group_stat *stat)
{
	while (stat && !stat->linked) {
		struct group_stat *parent = stat->parent;

		store_relaxed(&stat->linked, true);
		if (parent) {
			stat->next = parent->children;
			stat->link = &parent->children;
			if (stat->next)
				stat->next->link = &stat->next;
			parent->children = stat;
		}
		stat = parent;
	}
}

void rstat_unlink(struct group_stat *stat)
{
	store_relaxed(&stat->linked, false);
	if (!stat->link)
		return;
	*stat->link = stat->next;
	if (stat->next)
		stat->next->link = stat->link;
	stat->link = NULL;
}

/* Bits of a word: taken, or only looked at. */
static uint64_t bits_of(uint64_t *word, bool take)
{
	uint64_t bits = load_seq(word);

	return bits && take ? atomic_xchg(word, 0) : bits;
}

static void collect_stripe(uint32_t chunk, unsigned int index, bool take)
{
	struct stat_stripe *stripe = stat_stripe_at(chunk, index);
	uint64_t marks = stripe ? bits_of(&stripe->marks, take) : 0;

	for (; marks; marks &= marks - 1) {
		struct group_stat *stat = stat_block_owner(chunk, (unsigned int)__builtin_ctzll(marks));

		if (!stat)
			continue;
		stat->updated[index / 64] |= 1ULL << (index % 64);
		stat->touched[index / 64] |= 1ULL << (index % 64);
		link_up(stat);
	}
}

static void collect_index(unsigned int index, bool take)
{
	struct stat_tops *tops = &stat_tops[index];
	unsigned int w;

	for (w = 0; w < STAT_TOPMOST_WORDS; w++) {
		uint64_t words = bits_of(&tops->topmost[w], take);

		for (; words; words &= words - 1) {
			uint32_t word = w * 64 + (uint32_t)__builtin_ctzll(words);
			uint64_t bits = bits_of(&tops->top[word], take);

			for (; bits; bits &= bits - 1)
				collect_stripe(word * 64 + (uint32_t)__builtin_ctzll(bits), index, take);
		}
	}
}

void rstat_collect(bool take)
{
	unsigned int i;

	for (i = 0; i < stat_nr_index; i++) {
		if (load_seq(&stat_tops[i].used))
			collect_index(i, take);
	}
}
