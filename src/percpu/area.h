/* SPDX-License-Identifier: MIT */
/*
 * Per-CPU areas. One reserved address range; the area of index i starts at base + (i << shift)
 * and costs memory where it was touched only, so that an idle CPU costs nothing.
 *
 * An area is a fixed head, then one block per owner number. Slots and counts in it are changed
 * by the sequences of <memcg/inline.h> in a thread of that index, or by a drain while it is
 * closed to them.
 */
#ifndef PERCPU_AREA_H
#define PERCPU_AREA_H

#include <memcg/inline.h>

#include "base/assert.h"

/* Sizes; a simulator build that explores makes them small. */
#ifndef PAGE_SETS
#define PAGE_SETS 32U            /* sets of page slots; power of two */
#define BYTE_SETS 16U            /* sets of byte slots; power of two */
#define OWNER_NUMBERS (1U << 20) /* owner numbers 1 .. OWNER_NUMBERS - 1 */
#endif
#define PAGE_SLOTS (PAGE_SETS * MEMCG_STOCK_WAYS) /* page slots of an area */
#define BYTE_SLOTS (BYTE_SETS * MEMCG_STOCK_WAYS) /* byte slots of an area */

_Static_assert(OWNER_NUMBERS * sizeof(int64_t) < (1UL << MEMCG_AREA_SHIFT) - 8192, "an area has its stride");

extern struct memcg_percpu
	memcg_percpu; /* what <memcg/inline.h> points to; `fast` by drains, the rest constant after start */

#define KERNEL_SLOTS 7U /* slots of the kernel's shape, which the variants locked and deferred keep */

/* What is counted of an area's page stock: why a charge was not served by its first look at it, and one thing more. */
enum stock_count {
	STOCK_AGAIN,            /* it was there at the second: the sequence was aborted, or a drain had led it away */
	STOCK_MISS,             /* the group had no slot, and was given one */
	STOCK_UNPLACED,         /* nor may it have one: a limit is near, the budget is used up, or it is destroyed */
	STOCK_PRESSED,          /* nor may it have one: a charge waits for the truth at its level or above */
	STOCK_EMPTY,            /* the slot held less */
	STOCK_TOO_LARGE,        /* no slot holds so much */
	STOCK_CLOSED,           /* a drain was at work in the area */
	STOCK_LOCKED,           /* locked and deferred variants: the lock was taken */
	STOCK_TRYLOCK_FAILURES, /* the same, with first looks and uncharges */
	STOCK_COUNT_NR,
};

/* The kernel's shape of a page stock. */
struct local_stock {
	uint32_t lock;                 /* 1: held; taken by trylock only, but for drains */
	uint32_t victim;               /* next slot to be replaced; under lock */
	uint64_t cached[KERNEL_SLOTS]; /* owner numbers, 0: empty; under lock */
	uint32_t held[KERNEL_SLOTS];   /* pages; under lock */
};

struct percpu_area {
	struct memcg_area head;                /* the gate; written by drains */
	uint32_t budget;                       /* pages that slots of this area have room for, in sum; atomic */
	uint32_t busy;                         /* slow paths since the last tick looked; relaxed, may lose some */
	uint32_t page_hand;                    /* clock hand over all page slots, for the budget; relaxed */
	uint64_t counts[STOCK_COUNT_NR];       /* by enum stock_count; relaxed, may lose some */
	uint8_t page_victim[PAGE_SETS];        /* next way to be replaced; relaxed, any value will do */
	uint8_t byte_victim[BYTE_SETS];        /* the same for byte slots */
	struct local_stock local pair_aligned; /* locked and deferred variants only */
	uint64_t page_slots[PAGE_SLOTS] pair_aligned; /* owner | free | held: pages */
	uint64_t byte_slots[BYTE_SLOTS] pair_aligned; /* owner | free | held: bytes */
	int64_t owner_pages[] pair_aligned;           /* per owner number: pages charged for its bytes on this index */
};

/* E1: what drains write and what every fast path writes are pairs apart. */
_Static_assert(offsetof(struct percpu_area, page_slots) % PAIR_SIZE == 0, "slots begin a pair");
_Static_assert(offsetof(struct percpu_area, page_slots) >= PAIR_SIZE, "the gate shares no pair with a slot");
_Static_assert(offsetof(struct percpu_area, byte_slots) % PAIR_SIZE == 0, "byte slots begin a pair");
_Static_assert(offsetof(struct percpu_area, head) == 0, "the inline path finds the gate at the head");

extern unsigned int percpu_nr;             /* indices 0 .. percpu_nr - 1; constant after start */
extern enum memcg_index percpu_index_kind; /* what was chosen at start */
extern unsigned int percpu_budget; /* most pages that the slots of one area have room for; constant after start */

int percpu_start(const struct memcg_options *options); /* reserves the range, chooses index and form */
void percpu_stop(void);                                /* undoes it, where the rest of the start fails */
void percpu_close(void);           /* the fast path finds no slots from here on; the caller fences */
void percpu_open(void);            /* the opposite; nothing changes in the portable form, whose fast path exchanges */
int percpu_extend(uint32_t owner); /* makes blocks up to this number usable in all areas; thread context */
void percpu_thread_start(uint32_t *index); /* gives a thread its index, where the kind is MEMCG_INDEX_THREAD */

extern uint8_t *percpu_touched_flags; /* per index; 1: something was placed in this area once; atomic */

/* Drains, sums and dumps pass over areas that nobody ever used. */
static inline bool percpu_touched(unsigned int index)
{
	return load_seq(&percpu_touched_flags[index]);
}

/* Before the first permission to place something is asked for, so that a drain either sees the area or is seen. */
static inline void percpu_touch(unsigned int index)
{
	if (!load_relaxed(&percpu_touched_flags[index]))
		store_seq(&percpu_touched_flags[index], 1);
}

static inline struct percpu_area *percpu_area(unsigned int index)
{
	memcg_debug(index < percpu_nr);
	return (struct percpu_area *)(void *)(memcg_percpu.base + ((size_t)index << MEMCG_AREA_SHIFT));
}

static inline unsigned int percpu_index(void)
{
	return memcg_index_(&memcg_percpu);
}

/* Not on the fast path. Who sums reads touched areas only. */
static inline void percpu_count(struct percpu_area *area, enum stock_count which)
{
	percpu_touch((unsigned int)((size_t)((char *)area - memcg_percpu.base) >> MEMCG_AREA_SHIFT));
	store_relaxed(&area->counts[which], load_relaxed(&area->counts[which]) + 1);
}

/* The gate of an area as a commit expects it: even whatever it is now, so that a closed one never matches. */
static inline uint64_t percpu_gate(const struct percpu_area *area)
{
	return load_relaxed(&area->head.gate) & ~1ULL;
}

/* See memcg_commit_(): true when stored, false says "look again". */
static inline bool percpu_commit(unsigned int index, struct percpu_area *area, uint64_t *slot, uint64_t before,
				 uint64_t after, uint64_t gate)
{
	return memcg_commit_(&memcg_percpu, index, slot, before, after, &area->head.gate, gate);
}

#endif
