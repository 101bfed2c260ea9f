/* SPDX-License-Identifier: MIT */
/*
 * The fast path, inline. Opt-in: a program that includes this header depends on one
 * exact soname of the library, because the layouts below are not part of its ABI
 * otherwise. The library's own memcg_charge() is compiled from the same lines.
 *
 * A stock slot is one 64-bit word: owner | room | held. The owner is a number, never
 * 0 in use; room is what the slot may hold; held is what it holds, in pages. Each change is
 * one store, committed only if the thread is still on the CPU whose slot it read, the
 * slot still has the word read, and no drain has begun there.
 *
 *   rseq form      the store is the last instruction of a restartable sequence: preemption,
 *                  migration, a signal or a drain's fence abort it before
 *   portable form  a compare-and-exchange on the slot
 */
#ifndef MEMCG_INLINE_H
#define MEMCG_INLINE_H

#include <memcg/charge.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCG_STOCK_HIGH 128U /* most pages that one slot holds, and that a charge takes from one */
#define MEMCG_STOCK_WAYS 4U   /* slots that one group can be in, on a CPU */

/* What a fast path needs of a group: the head of struct memcg. Constant while the group lives. */
struct memcg_fast {
	uint64_t owner; /* number in the high 32 bits, 0 below: a slot's word minus this is room | held */
	size_t set;     /* offset in an area of the first slot this owner may use */
};

/* Where the areas are, and how a thread finds its own. Written at start only. */
struct memcg_percpu {
	char *base;          /* area of index 0 */
	ptrdiff_t index_off; /* from the thread pointer: 32-bit index of the thread's area */
	ptrdiff_t rseq_off;  /* from the thread pointer: struct rseq */
	unsigned int shift;  /* area i is at base + (i << shift) */
	unsigned int rseq;   /* 1: rseq form, 0: portable form */
};

/* The head of an area. */
struct memcg_area {
	uint64_t gate; /* even: open; odd: a drain works here; each drain adds 2. Written by drains only */
};

extern MEMCG_API struct memcg_percpu memcg_percpu;

#define MEMCG_SLOT_HELD(word) ((uint32_t)((word)&0xffff))
#define MEMCG_SLOT_ROOM(word) ((uint32_t)(((word) >> 16) & 0xffff))

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(MEMCG_SIM) && !defined(__cppcheck__)
#if defined(__has_feature)
#if !__has_feature(thread_sanitizer)
#define MEMCG_HAVE_RSEQ 1
#endif
#else
#define MEMCG_HAVE_RSEQ 1
#endif
#endif

#if defined(MEMCG_SIM)

uint32_t memcg_sim_index(void);
int memcg_sim_commit(uint32_t index, uint64_t *slot, uint64_t before, uint64_t after, const uint64_t *gate,
		     uint64_t open);

#endif

static inline uint32_t memcg_index_(const struct memcg_percpu *percpu)
{
#if defined(MEMCG_SIM)
	(void)percpu;
	return memcg_sim_index();
#else
	/* Volatile: another thread's slot or another CPU's, one instruction later. */
	return *(const volatile uint32_t *)((const char *)__builtin_thread_pointer() + percpu->index_off);
#endif
}

/*
 * Put @after into @slot if it still holds @before, this thread's index still is @index, and
 * @gate is @open. Return: 1 when stored. 0 says nothing but "look again".
 */
static inline int memcg_commit_(const struct memcg_percpu *percpu, uint32_t index, uint64_t *slot, uint64_t before,
				uint64_t after, const uint64_t *gate, uint64_t open)
{
#if defined(MEMCG_SIM)
	(void)percpu;
	return memcg_sim_commit(index, slot, before, after, gate, open);
#else
#if defined(MEMCG_HAVE_RSEQ)
	if (__builtin_expect(percpu->rseq, 1)) {
		__asm__ goto(
			".pushsection __rseq_cs, \"aw\"\n\t"
			".balign 32\n\t"
			"3:\n\t"
			".long 0, 0\n\t"
			".quad 1f, 2f - 1f, 4f\n\t"
			".popsection\n\t"
			"leaq 3b(%%rip), %%rax\n\t"
			"movq %%rax, %%fs:8(%[rseq])\n\t"
			"1:\n\t"
			"cmpl %[index], %%fs:(%[index_off])\n\t"
			"jne %l[look_again]\n\t"
			"cmpq %[open], %[gate]\n\t"
			"jne %l[look_again]\n\t"
			"cmpq %[before], %[slot]\n\t"
			"jne %l[look_again]\n\t"
			"movq %[after], %[slot]\n\t"
			"2:\n\t"
			".pushsection __rseq_failure, \"ax\"\n\t"
			/* The signature that the kernel wants before an abort address, as an undefined instruction. */
			".byte 0x0f, 0xb9, 0x3d\n\t"
			".long 0x53053053\n\t"
			"4:\n\t"
			"jmp %l[look_again]\n\t"
			".popsection\n\t"
			:
			: [rseq] "r"(percpu->rseq_off), [index_off] "r"(percpu->index_off), [index] "r"(index),
			  [open] "r"(open), [gate] "m"(*gate), [before] "r"(before), [slot] "m"(*slot),
			  [after] "r"(after)
			: "rax", "cc", "memory"
			: look_again);
		return 1;
look_again:
		return 0;
	}
#endif
	(void)index;
	/* Pairs with the drain's exchange of the slot: it takes the word before, or the one after. */
	if (__atomic_load_n(gate, __ATOMIC_ACQUIRE) != open)
		return 0;
	return __atomic_compare_exchange_n(slot, &before, after, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
#endif
}

/* The slot of an owner on this CPU, or a null pointer; @area and @word receive what was read. */
static inline uint64_t *memcg_slot_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, uint32_t index,
				    struct memcg_area **area, uint64_t *word)
{
	char *base = percpu->base + ((size_t)index << percpu->shift);
	uint64_t *slot = (uint64_t *)(void *)(base + fast->set);
	unsigned int way;

	*area = (struct memcg_area *)(void *)base;
	for (way = 0; way < MEMCG_STOCK_WAYS; way++, slot++) {
		*word = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if ((*word ^ fast->owner) >> 32 == 0)
			return slot;
	}
	return NULL;
}

/* Take @nr pages from the stock of this CPU. Return: 0 says nothing but "take the slow path". */
static inline int memcg_consume_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, unsigned long nr)
{
	uint32_t index = memcg_index_(percpu);
	struct memcg_area *area;
	uint64_t word, open;
	uint64_t *slot = memcg_slot_(percpu, fast, index, &area, &word);

	/* 0 pages and too many are the slow path's to refuse. */
	if (!slot || nr - 1 >= MEMCG_SLOT_HELD(word))
		return 0;
	open = __atomic_load_n(&area->gate, __ATOMIC_RELAXED) & ~(uint64_t)1;
	return memcg_commit_(percpu, index, slot, word, word - nr, &area->gate, open);
}

/* Put @nr pages into the stock of this CPU, where there is room. Return: as memcg_consume_(). */
static inline int memcg_refill_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, unsigned long nr)
{
	uint32_t index = memcg_index_(percpu);
	struct memcg_area *area;
	uint64_t word, open;
	uint64_t *slot = memcg_slot_(percpu, fast, index, &area, &word);

	if (!slot || nr - 1 >= MEMCG_SLOT_ROOM(word) - MEMCG_SLOT_HELD(word))
		return 0;
	open = __atomic_load_n(&area->gate, __ATOMIC_RELAXED) & ~(uint64_t)1;
	return memcg_commit_(percpu, index, slot, word, word + nr, &area->gate, open);
}

/* memcg_charge() and memcg_uncharge(), inline while in stock. @group must not be NULL. */
static inline int memcg_inline_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	if (__builtin_expect(memcg_consume_(&memcg_percpu, (const struct memcg_fast *)(const void *)group, nr_pages),
			     1))
		return 0;
	return memcg_charge(group, nr_pages, flags);
}

static inline void memcg_inline_uncharge(struct memcg *group, unsigned long nr_pages)
{
	if (__builtin_expect(memcg_refill_(&memcg_percpu, (const struct memcg_fast *)(const void *)group, nr_pages), 1))
		return;
	memcg_uncharge(group, nr_pages);
}

#ifdef __cplusplus
}
#endif
#endif
