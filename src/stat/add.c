/* SPDX-License-Identifier: MIT */
/*
 * The update path: one item of one group, and the report that a flush may be due (C1).
 *
 * The rseq form is one restartable sequence. It leaves for the C path if the group is dead, or its block on this
 * index is not marked under the present epoch (rstat.c); then it adds the update's page units to the block's
 * `updates`, and to those of each group above on this index; its last instruction adds to the value.
 *
 *   U1  The value is changed by one committed add: never lost, never doubled, whatever interrupts, also by a handler
 *       that counts the same item. Nothing is allocated and nothing locked (B1, B4).
 *   U2  `updates` may be added to twice, if the sequence is interrupted in its middle: a flush then is due
 *       earlier, by one update. It is never too small: every committed value has been added to it before.
 *   U3  At 64 the sequence sets a level's `updates` to 0 and notes the level; after the commit the amount is reported,
 *       63 + pages, which is no less than what was there. Noted levels survive an interruption. A thread that is
 *       stopped between the two keeps that one amount back.
 *   U4  The walk ends at the first level that is due already: whoever made it due made those above due too.
 *
 * So a group's unreported part is at most 63 an index, what is reported and not flushed 64 an index before
 * a reader flushes: C1's 127, and the one report that each call under way may still have to make.
 *
 * Dead groups. The sequence reads `dead`; who retires a group sets it, fences, and waits for a grace period. In
 * the C path the living ancestor is chosen in a read section, and the item's place in *its* block after that.
 *
 * The portable form adds by seq_cst exchanges, in a read section.
 *
 * Where a sequence fails ATTEMPTS times, the late index takes the count, by an atomic add: what a storm of handlers
 * pushes out waits there for the flush like any other.
 */
#include "stat/add.h"

#include "base/rcu.h"
#include "base/sim.h"
#include "percpu/thread.h"
#include "stat/rstat.h"

#define ATTEMPTS 8

/* @units more page units. A group that becomes due makes those above it due (U4). */
static void report_one(struct group_stat *stat, uint64_t units)
{
	int64_t most = load_relaxed(&rstat.threshold);

	if (__atomic_add_fetch(&stat->updates, (int64_t)units, __ATOMIC_RELAXED) <= most)
		return;
	while ((stat = stat->parent) && load_relaxed(&stat->updates) <= most)
		__atomic_fetch_add(&stat->updates, most + 1, __ATOMIC_RELAXED);
}

/* By exchanges, at an index that others may use too. Read section, @stat not dead. */
static void add_shared(struct group_stat *stat, unsigned int index, size_t off, int64_t nr, uint64_t pages)
{
	__atomic_fetch_add(stat_value_at(stat->base, index, off), nr, __ATOMIC_SEQ_CST);
	/* Pairs with the collection's epoch, then value: one of the two sees the other. */
	if (load_acquire(&stat_block_at(stat->base, index)->mark) != load_seq(&rstat.epoch))
		rstat_mark(stat, index);
	for (; stat && load_relaxed(&stat->updates) <= load_relaxed(&rstat.threshold); stat = stat->parent) {
		uint64_t *updates = &stat_block_at(stat->base, index)->updates;

		if (__atomic_add_fetch(updates, pages, __ATOMIC_RELAXED) >= RSTAT_BATCH)
			report_one(stat, __atomic_exchange_n(updates, 0, __ATOMIC_RELAXED));
	}
}

#if defined(MEMCG_SIM)

/* The simulator's sections have one store, so each level is one of its own, after the commit. */
static void walk_sim(struct group_stat *stat, uint64_t pages)
{
	for (; stat && load_relaxed(&stat->updates) <= load_relaxed(&rstat.threshold); stat = stat->parent) {
		uint64_t *updates, sum;

		sim_section_begin();
		if (load_relaxed(&stat->dead)) {
			sim_section_end();
			return;
		}
		updates = &stat_block_at(stat->base, percpu_index())->updates;
		sum = load_relaxed(updates) + pages;
		if (!sim_section_commit(updates, sum >= RSTAT_BATCH ? 0 : sum))
			report_one(stat, pages);
		else if (sum >= RSTAT_BATCH)
			report_one(stat, sum);
	}
}

static bool add_sequence(struct group_stat *stat, size_t off, int64_t nr, uint64_t pages)
{
	struct stat_block *block;
	unsigned int index;
	int64_t *value;

	sim_section_begin();
	index = percpu_index();
	block = stat_block_at(stat->base, index);
	if (load_relaxed(&stat->dead) || load_relaxed(&block->mark) != load_relaxed(&rstat.epoch)) {
		sim_section_end();
		return false;
	}
	value = stat_value_at(stat->base, index, off);
	if (!sim_section_commit((uint64_t *)value, (uint64_t)(load_relaxed(value) + nr)))
		return false;
	walk_sim(stat, pages);
	return true;
}

static bool add_plain(char *value, int64_t nr)
{
	int64_t *at;

	sim_section_begin();
	at = stat_value_at(value, percpu_index(), 0);
	return sim_section_commit((uint64_t *)at, (uint64_t)(load_relaxed(at) + nr));
}

#elif defined(MEMCG_HAVE_RSEQ)

/* The levels of @stat and above whose bit is set in @levels. */
static noinline void report(struct group_stat *stat, uint64_t levels, uint64_t units)
{
	for (; levels; levels >>= 1, stat = stat->parent) {
		if (levels & 1)
			report_one(stat, units);
	}
}

/* clang-format off */
static inline __attribute__((always_inline)) bool add_sequence(struct group_stat *stat, size_t off, int64_t nr,
							       uint64_t pages)
{
	uint64_t levels = 0;

	__asm__ goto(MEMCG_RSEQ_BEGIN_
		     "movq %[index_off], %%rcx\n\t"
		     "movl %%fs:(%%rcx), %%ecx\n\t"
		     "cmpl $0, %c[dead](%[stat])\n\t"
		     "jne %l[look_again]\n\t"
		     "shlq %[shift], %%rcx\n\t"
		     "movq %c[base](%[stat]), %%r11\n\t"
		     "addq %%rcx, %%r11\n\t"
		     "movq %c[mark](%%r11), %%rax\n\t"
		     "cmpq %[epoch], %%rax\n\t"
		     "jne %l[look_again]\n\t"
		     "addq %[off], %%r11\n\t"
		     "movl $1, %%r9d\n\t"
		     "movq %[stat], %%r8\n\t"
		     "jmp 7f\n\t"
		     /* A level has enough to report. */
		     "5:\n\t"
		     "orq %%r9, (%[levels])\n\t"
		     "xorl %%eax, %%eax\n\t"
		     "6:\n\t"
		     "movq %%rax, %c[updates](%%r10)\n\t"
		     "movq %c[parent](%%r8), %%r8\n\t"
		     "addq %%r9, %%r9\n\t"
		     "testq %%r8, %%r8\n\t"
		     "je 8f\n\t"
		     "7:\n\t"
		     "movq %c[reported](%%r8), %%rax\n\t"
		     "cmpq %[threshold], %%rax\n\t"
		     "jg 8f\n\t"
		     "movq %c[base](%%r8), %%r10\n\t"
		     "addq %%rcx, %%r10\n\t"
		     "movq %c[updates](%%r10), %%rax\n\t"
		     "addq %[pages], %%rax\n\t"
		     "cmpq %[batch], %%rax\n\t"
		     "jae 5b\n\t"
		     "jmp 6b\n\t"
		     "8:\n\t"
		     "addq %[nr], (%%r11)\n\t"
		     MEMCG_RSEQ_END_
		     : : [rseq] "m"(memcg_percpu.rseq_off), [index_off] "m"(memcg_percpu.index_off),
			 [shift] "i"(STAT_STRIDE_SHIFT), [stat] "r"(stat), [off] "r"(off), [nr] "r"(nr),
			 [pages] "r"(pages), [levels] "r"(&levels), [epoch] "m"(rstat.epoch),
			 [threshold] "m"(rstat.threshold), [batch] "i"(RSTAT_BATCH),
			 [dead] "i"(offsetof(struct group_stat, dead)), [base] "i"(offsetof(struct group_stat, base)),
			 [parent] "i"(offsetof(struct group_stat, parent)),
			 [reported] "i"(offsetof(struct group_stat, updates)),
			 [mark] "i"(offsetof(struct stat_block, mark)),
			 [updates] "i"(offsetof(struct stat_block, updates))
		     : "rax", "rcx", "r8", "r9", "r10", "r11", "cc", "memory" : look_again);
	if (unlikely(levels))
		report(stat, levels, RSTAT_BATCH - 1 + pages);
	return true;
look_again:
	if (levels)
		report(stat, levels, RSTAT_BATCH - 1 + pages);
	return false;
}

static inline __attribute__((always_inline)) bool add_plain(char *value, int64_t nr)
{
	__asm__ goto(MEMCG_RSEQ_BEGIN_
		     "movq %[index_off], %%rcx\n\t"
		     "movl %%fs:(%%rcx), %%ecx\n\t"
		     "shlq %[shift], %%rcx\n\t"
		     "addq %[nr], (%[value],%%rcx)\n\t"
		     MEMCG_RSEQ_END_
		     : : [rseq] "m"(memcg_percpu.rseq_off), [index_off] "m"(memcg_percpu.index_off),
			 [shift] "i"(STAT_STRIDE_SHIFT), [value] "r"(value), [nr] "r"(nr)
		     : "rax", "rcx", "cc", "memory" : look_again);
	return true;
look_again:
	return false;
}
/* clang-format on */

#else

/* This build has no sequences; memcg_percpu.rseq is 0. */
static bool add_sequence(struct group_stat *stat, size_t off, int64_t nr, uint64_t pages)
{
	(void)stat;
	(void)off;
	(void)nr;
	(void)pages;
	return false;
}

static bool add_plain(char *value, int64_t nr)
{
	(void)value;
	(void)nr;
	return false;
}

#endif

/* One attempt in a read section: the living group first, then the item's place in it. */
static bool add_attempt(struct group_stat *stat, size_t off, int64_t nr, uint64_t pages, bool last)
{
	struct thread_state *self = thread_self();
	bool done = true;

	if (unlikely(!self->started)) {
		self->started = 1;
		percpu_thread_start(&self->index);
	}
	rcu_lock();
	while (load_seq(&stat->dead))
		stat = stat->parent;
	if (!memcg_percpu.rseq) {
		add_shared(stat, percpu_index(), off, nr, pages);
	} else if (last) {
		add_shared(stat, stat_nr_index - 1, off, nr, pages);
	} else {
		rstat_mark(stat, percpu_index());
		done = add_sequence(stat, off, nr, pages);
	}
	rcu_unlock();
	return done;
}

static noinline void add_again(struct group_stat *stat, size_t off, int64_t nr, uint64_t pages)
{
	int attempt;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (add_attempt(stat, off, nr, pages, attempt == ATTEMPTS - 1))
			return;
	}
}

void stat_add(struct group_stat *stat, char *value, int64_t nr, uint64_t pages)
{
	size_t off = (size_t)(value - stat->base);

	if (likely(memcg_percpu.rseq) && likely(add_sequence(stat, off, nr, pages)))
		return;
	add_again(stat, off, nr, pages);
}

void stat_node_wide_add(unsigned int node, enum stat_item item, int64_t nr)
{
	char *value = stat_node_wide + stat_item_off(item, node);
	int attempt;

	for (attempt = 0; memcg_percpu.rseq && attempt < ATTEMPTS; attempt++) {
		if (likely(add_plain(value, nr)))
			return;
	}
	__atomic_fetch_add(stat_value_at(value, memcg_percpu.rseq ? stat_nr_index - 1 : percpu_index(), 0), nr,
			   __ATOMIC_RELAXED);
}
