/* SPDX-License-Identifier: MIT */
/*
 * rstat: from per-CPU counts to group totals, at the cost of what was updated (C2).
 *
 * Marks. An update that finds its group's block on this index unmarked under the present epoch marks it: three bits,
 * group in stripe, chunk in top, word of top in topmost, bottom-up, then the epoch into the block. A
 * bit that is set twice is set once, so whoever is stopped in the middle is in nobody's way: the
 * next update of the same block sets them all again. (A list would need one that began to push to
 * end it; here it may be preempted, or be interrupted by a handler that counts.)
 *
 * Collection. The bits are taken, top-down, and each group is linked into the tree of what is to be flushed, with
 * those above it up to the first that is in it already: a group in the tree has all above it in the tree.
 * Then the epoch moves on, which makes every mark old at once; then one fence; then values may be read. (Were
 * the epoch first, a mark under the new one could find its bit still there, and lose it to this collection.)
 *
 * Flush. The part of the tree below the group asked for, children before parents: a child's deltas
 * are pending in its parent when the parent's turn comes. Who is flushed leaves the tree. What was
 * collected outside that part stays in it.
 *
 *   R1  A count whose update returned before a flush began is in that flush. Its mark had
 *       the epoch of its commit, so its bits were there to be taken, or had been taken by a flush that reads the value
 *       after it. (rseq: a sequence that saw the old epoch is committed before the fence or starts again. Portable: add,
 *       then read the epoch, both seq_cst, against epoch, then value.) Where the kernel refuses the fence, one may be missed until the next update of that block.
 *   R2  Counts of one index: the updater alone adds, the flusher only reads and remembers what it saw. No count
 *       is lost or taken twice.
 *   R3  A group that is due has all above it due (add.c, U4), and no report is lost: reports are reset, from the
 *       top down, between a look at the bits, which says whose, and their taking. Who reported before the reset had
 *       its bits there to be taken; who stopped at a child that was still due is committed before the fence, or
 *       looks again.
 */
#include "stat/rstat.h"

#include "base/mem.h"
#include "base/sim.h"
#include "percpu/fence.h"
#include "stat/mark.h"

struct rstat rstat;

static bool fence_missing; /* the kernel refused one since the start; stat lock */

void rstat_start(void)
{
	rstat.epoch = 1;
	rstat.threshold = 0;
	rstat.last = clock_ns();
	sim_name_field(&rstat, rstat, epoch);
	sim_name_field(&rstat, rstat, threshold);
}

/* R3: from the top down. */
static void reset_reports(struct group_stat *top)
{
	struct group_stat *stat = top;

	if (!top->linked)
		return;
	for (;;) {
		if (load_relaxed(&stat->updates))
			atomic_xchg(&stat->updates, 0);
		if (stat->children) {
			stat = stat->children;
			continue;
		}
		while (stat != top && !stat->next)
			stat = stat->parent;
		if (stat == top)
			return;
		stat = stat->next;
	}
}

/* Stat lock. @top: what is to be flushed; NULL: groups that count for nobody's reports any more. */
static void collect(struct group_stat *top)
{
	if (top) {
		rstat_collect(false);
		reset_reports(top);
	}
	if (sim_fault(FAULT_EPOCH_FIRST))
		store_seq(&rstat.epoch, rstat.epoch + 1);
	rstat_collect(true);
	if (!sim_fault(FAULT_EPOCH_FIRST))
		store_seq(&rstat.epoch, rstat.epoch + 1);
	/* The portable form's updates add and look by seq_cst operations of their own. */
	if (memcg_percpu.rseq && !sim_fault(FAULT_NO_FENCE_IN_FLUSH) && fence_all())
		fence_missing = true;
}

/* Flush. */

/* What came to the items at @off .. on the indices of @stat that were updated. */
static void gather(struct group_stat *stat, size_t off, unsigned int nr, int64_t *delta)
{
	unsigned int w, i, words = (stat_nr_index + 63) / 64;

	for (w = 0; w < words; w++) {
		uint64_t bits = stat->updated[w];

		for (; bits; bits &= bits - 1) {
			unsigned int index = w * 64 + (unsigned int)__builtin_ctzll(bits);
			int64_t *values = stat_value_at(stat->base, index, off);
			int64_t *flushed = stat_flushed_at(stat->base, index, off);

			for (i = 0; i < nr; i++) {
				int64_t value = load_seq(&values[i]);

				if (value != flushed[i]) {
					delta[i] += value - flushed[i];
					flushed[i] = value;
				}
			}
		}
	}
}

static void add_to(int64_t *total, int64_t value)
{
	store_relaxed(total, *total + value);
}

/* Lines without a change are not written. */
static int64_t take_pending(int64_t *pending)
{
	int64_t value = *pending;

	if (value)
		*pending = 0;
	return value;
}

static void flush_node(struct group_stat *stat, unsigned int node, int64_t *delta)
{
	struct node_stats *own = &stat->nodes[node];
	int64_t came[STAT_NR_NODE] = { 0 };
	unsigned int i;

	gather(stat, stat_item_off((enum stat_item)0, node), STAT_NR_NODE, came);
	for (i = 0; i < STAT_NR_NODE; i++) {
		int64_t sum = came[i] + take_pending(&own->pending[i]);

		if (came[i])
			add_to(&own->local[i], came[i]);
		delta[i] += came[i];
		if (!sum)
			continue;
		add_to(&own->state[i], sum);
		if (stat->parent)
			stat->parent->nodes[node].pending[i] += sum;
	}
}

static void flush_whole(struct group_stat *stat, const int64_t *delta)
{
	unsigned int i;

	for (i = 0; i < STAT_NR; i++) {
		int64_t sum = delta[i] + take_pending(&stat->pending[i]);

		if (MEMCG_V1 && stat->locals && delta[i])
			add_to(&stat->locals->local[i], delta[i]);
		if (!sum)
			continue;
		add_to(&stat->state[i], sum);
		if (stat->parent)
			stat->parent->pending[i] += sum;
	}
}

#ifdef RSTAT_TICKS

struct rstat_ticks rstat_ticks;

static uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return clock_ns();
#endif
}

static void ticks_note(uint64_t begin, uint64_t aggregate, const int64_t *delta)
{
	uint64_t now = ticks_now();
	unsigned int i;

	rstat_ticks.whole += now - begin;
	rstat_ticks.aggregate += now - aggregate;
	rstat_ticks.groups++;
	for (i = 0; i < STAT_NR; i++)
		rstat_ticks.items += delta[i] != 0;
}

#else
#define ticks_now() 0
#define ticks_note(begin, aggregate, delta) ((void)(begin), (void)(aggregate))
#endif

static void flush_one(struct group_stat *stat)
{
	uint64_t begin = ticks_now(), aggregate;
	int64_t delta[STAT_NR] = { 0 };
	unsigned int node, w;

	for (node = 0; node < nodes_nr; node++)
		flush_node(stat, node, delta);
	aggregate = ticks_now();
	gather(stat, stat_item_off(STAT_NODE_END, 0), STAT_NR - STAT_NR_NODE, delta + STAT_NR_NODE);
	flush_whole(stat, delta);
	ticks_note(begin, aggregate, delta);
	for (w = 0; w < (stat_nr_index + 63) / 64; w++)
		stat->updated[w] = 0;
	store_relaxed(&rstat.flushed_groups, rstat.flushed_groups + 1);
}

static struct group_stat *deepest(struct group_stat *stat)
{
	while (stat->children && !sim_fault(FAULT_CHILD_AFTER_PARENT))
		stat = stat->children;
	return stat;
}

/* Stat lock, after a collection. */
static void flush_below(struct group_stat *top)
{
	struct group_stat *stat = deepest(top);

	if (!top->linked)
		return;
	for (;;) {
		struct group_stat *parent = stat->parent;

		flush_one(stat);
		rstat_unlink(stat);
		if (stat == top)
			return;
		stat = deepest(parent);
	}
}

/* Stat lock. */
static void flush_locked(struct group_stat *top)
{
	store_seq(&rstat.running, 1);
	collect(top);
	flush_below(top);
	store_seq(&rstat.running, 0);
	if (!top->parent)
		store_relaxed(&rstat.last, clock_ns());
	store_relaxed(&rstat.flushes, rstat.flushes + 1);
}

void rstat_flush(struct group_stat *top)
{
	lock_take(&stat_lock);
	flush_locked(top);
	lock_drop(&stat_lock);
}

/* More is reported than may lag, or was until a flush took it that is not done yet. */
static bool due(const struct group_stat *stat)
{
	return load_seq(&stat->updates) > load_relaxed(&rstat.threshold) || load_seq(&rstat.running);
}

void rstat_flush_periodic(struct group_stat *root)
{
	if (clock_ns() - load_relaxed(&rstat.last) >= RSTAT_PERIOD_NS && (load_relaxed(&root->linked) || rstat_dirty()))
		rstat_flush(root);
}

void rstat_flush_if_due(struct group_stat *top)
{
	if (due(top)) {
		lock_take(&stat_lock);
		if (due(top))
			flush_locked(top);
		lock_drop(&stat_lock);
	}
	/* Where nobody flushes by the clock, readers do. */
	while (top->parent)
		top = top->parent;
	rstat_flush_periodic(top);
}

void rstat_flush_ratelimited(struct group_stat *top)
{
	if (clock_ns() - load_relaxed(&rstat.last) > RSTAT_LATE_NS && due(top))
		rstat_flush(top);
}

/* Retirement. */

void rstat_retire_begin(void)
{
	lock_take(&stat_lock);
	collect(NULL);
}

/* What it had alone is the parent's: the group's objects are, and what is taken back of them will be. */
static void reparent_local(struct group_stat *stat)
{
	struct group_stat *parent = stat->parent;
	unsigned int node, i;

	for (node = 0; node < nodes_nr; node++) {
		for (i = 0; i < STAT_NR_NODE; i++) {
			add_to(&parent->nodes[node].local[i], stat->nodes[node].local[i]);
			store_relaxed(&stat->nodes[node].local[i], 0);
		}
	}
	for (i = 0; MEMCG_V1 && stat->locals && i < STAT_NR; i++) {
		add_to(&parent->locals->local[i], stat->locals->local[i]);
		store_relaxed(&stat->locals->local[i], 0);
	}
}

void rstat_retire(struct group_stat *stat)
{
	flush_below(stat);
	reparent_local(stat);
	stat->freed = true;
	/* Without the fence a sequence may be under way in it still: it is not given to another. */
	if (!fence_missing)
		stat_block_free(stat->number, stat->touched);
}

void rstat_retire_end(void)
{
	lock_drop(&stat_lock);
}

void rstat_forget(struct group_stat *stat)
{
	lock_take(&stat_lock);
	stat_block_free(stat->number, stat->touched);
	lock_drop(&stat_lock);
}

void rstat_fork_prepare(void)
{
	lock_take(&stat_lock);
}

void rstat_fork_parent(void)
{
	lock_drop(&stat_lock);
}

void rstat_fork_child(void)
{
	lock_reinit(&stat_lock);
}
