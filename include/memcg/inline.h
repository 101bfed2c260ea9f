/* SPDX-License-Identifier: MIT */
/*
 * The fast path, inline. Opt-in: a program that includes this header depends on one
 * exact soname of the library, because the layouts below are not part of its ABI
 * otherwise. The library's own memcg_charge() is compiled from the same lines.
 *
 * An object that inlines this must never be unloaded: link it with -z nodelete. A thread holds a
 * pointer into it, to its last sequence, until it enters another. So must one that contains libmemcg.a.
 *
 * A stock slot is one 64-bit word: owner | free | held. The owner is a number, never
 * 0 in use; held is what the slot holds, free what it has room for beyond that. Each change
 * is one store, committed only if nothing came between what was read and the store.
 *
 *   rseq form      the whole operation is a restartable sequence, the store its last
 *                  instruction: preemption, migration, a signal or a drain's fence abort it
 *   portable form  a compare-and-exchange on the slot
 *
 * While a drain works, `fast` leads to areas without slots, so that every operation
 * takes the slow path.
 */
#ifndef MEMCG_INLINE_H
#define MEMCG_INLINE_H

#include <memcg/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCG_STOCK_HIGH 128U /* most pages that one slot holds, and that a charge takes from one */
#define MEMCG_STOCK_WAYS 4U   /* slots that one group can be in, on a CPU */
#ifndef MEMCG_AREA_SHIFT
#define MEMCG_AREA_SHIFT 24 /* area i is at base + (i << this) */
#endif

/* What a fast path needs of a group: the head of struct memcg. Constant while the group lives. */
struct memcg_fast {
	uint64_t owner; /* number in the high 32 bits, 0 below: a slot's word minus this is free | held */
	size_t set;     /* offset in an area of the first slot this owner may use */
};

/* The heads of struct memcg, of what the library keeps of a thread, and of a heap block. */
struct memcg_head_ {
	struct memcg_fast fast;
	struct memcg_objcg *objcg; /* payer of its objects; NULL: nobody pays. Begins with a struct memcg_fast */
};

struct memcg_thread_head_ {
	struct memcg *current; /* what memcg_enter() set; NULL: home */
	struct memcg *home;    /* what memcg_attach() set, or a write to cgroup.threads; NULL: the root */
};

struct memcg_block_ {
	struct memcg_objcg *owner; /* who pays; NULL: nobody. Kept alive by the bytes charged */
	uint64_t size;             /* low 56 bits: bytes the caller asked for; above: log2 of the space before them */
};

#define MEMCG_BLOCK_SIZE_BITS 56
#define MEMCG_BLOCK_SIZE_MASK (((uint64_t)1 << MEMCG_BLOCK_SIZE_BITS) - 1)
#define MEMCG_BLOCK_PLAIN ((uint64_t)4 << MEMCG_BLOCK_SIZE_BITS) /* nothing but the header before them */

/* Where the areas are, and how a thread finds its own. Written at start, and `fast` by drains. */
struct memcg_percpu {
	char *fast;           /* areas for the rseq form: base, or areas without slots */
	ptrdiff_t index_off;  /* from the thread pointer: 32-bit index of the thread's area */
	ptrdiff_t rseq_off;   /* from the thread pointer: struct rseq; in the portable form a place to write to */
	char *base;           /* area of index 0 */
	unsigned int rseq;    /* 1: rseq form, 0: portable form */
	ptrdiff_t thread_off; /* from the thread pointer: struct memcg_thread_head_ */
	struct memcg *root;   /* group of threads without another; NULL until the library runs */
};

/* The head of an area. */
struct memcg_area {
	uint64_t gate; /* even: open; odd: a drain works here; each drain adds 2. Written by drains only */
};

/* A pointer, so that a program that is linked to a copy of it still finds the library's own structure. */
extern MEMCG_API struct memcg_percpu *const memcg_percpu_at;

#define MEMCG_SLOT_HELD(word) ((uint32_t)((word)&0xffff))
#define MEMCG_SLOT_FREE(word) ((uint32_t)(((word) >> 16) & 0xffff))
#define MEMCG_SLOT_ROOM(word) (MEMCG_SLOT_HELD(word) + MEMCG_SLOT_FREE(word))
#define MEMCG_SLOT_UNIT ((uint64_t)0xffff) /* what a slot's word grows by when one unit is taken */

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
const struct memcg_thread_head_ *memcg_sim_thread_head(void);
int memcg_sim_fast(const struct memcg_fast *fast, unsigned long nr, int take);

#endif

static inline const struct memcg_thread_head_ *memcg_thread_head_(const struct memcg_percpu *percpu)
{
#if defined(MEMCG_SIM)
	(void)percpu;
	return memcg_sim_thread_head();
#else
	return (const struct memcg_thread_head_ *)(const void *)((const char *)__builtin_thread_pointer() +
								 percpu->thread_off);
#endif
}

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

#if defined(MEMCG_HAVE_RSEQ)

/* A restartable sequence from label 1 to label 2, whose abort goes to the label look_again; clobbers rax and rcx. */
#define MEMCG_RSEQ_BEGIN_                    \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n\t"                     \
	"3:\n\t"                             \
	".long 0, 0\n\t"                     \
	".quad 1f, 2f - 1f, 4f\n\t"          \
	".popsection\n\t"                    \
	"leaq 3b(%%rip), %%rax\n\t"          \
	"movq %[rseq], %%rcx\n\t"            \
	"movq %%rax, %%fs:8(%%rcx)\n\t"      \
	"1:\n\t"

/* The bytes before the abort address are the signature that the kernel wants there, as an undefined instruction. */
#define MEMCG_RSEQ_END_                           \
	"2:\n\t"                                  \
	".pushsection __rseq_failure, \"ax\"\n\t" \
	".byte 0x0f, 0xb9, 0x3d\n\t"              \
	".long 0x53053053\n\t"                    \
	"4:\n\t"                                  \
	"jmp %l[look_again]\n\t"                  \
	".popsection\n\t"

/* rcx: the owner's slot on this CPU, or out. The high half of a slot's word is its owner. */
#define MEMCG_RSEQ_FIND_               \
	"movq %[index_off], %%rcx\n\t" \
	"movl %%fs:(%%rcx), %%ecx\n\t" \
	"movl %[owner], %%r10d\n\t"    \
	"shlq %[shift], %%rcx\n\t"     \
	"addq %[fast], %%rcx\n\t"      \
	"addq %[set], %%rcx\n\t"       \
	"cmpl %%r10d, 4(%%rcx)\n\t"    \
	"je 5f\n\t"                    \
	"addq $8, %%rcx\n\t"           \
	"cmpl %%r10d, 4(%%rcx)\n\t"    \
	"je 5f\n\t"                    \
	"addq $8, %%rcx\n\t"           \
	"cmpl %%r10d, 4(%%rcx)\n\t"    \
	"je 5f\n\t"                    \
	"addq $8, %%rcx\n\t"           \
	"cmpl %%r10d, 4(%%rcx)\n\t"    \
	"jne %l[look_again]\n\t"       \
	"5:\n\t"                       \
	"movl (%%rcx), %%eax\n\t"

/*
 * Take from (@take) or put into the slot of @fast on this CPU, in the rseq form. The low half
 * of the word changes by one 32-bit store. 0 units and more than there are fail. Return: 1 when done;
 * 0 says nothing but "look again, the slow way".
 */
/* clang-format off */
#define MEMCG_RSEQ_INPUTS_                                                                   \
	[rseq] "m"(percpu->rseq_off), [index_off] "m"(percpu->index_off),                    \
	[fast] "m"(percpu->fast), [set] "m"(fast->set), [shift] "i"(MEMCG_AREA_SHIFT),       \
	[owner] "m"(((const uint32_t *)(const void *)&fast->owner)[1]),                      \
	[below] "r"(nr - 1), [nr] "r"(nr), [unit] "i"(MEMCG_SLOT_UNIT)

static inline __attribute__((always_inline)) int
memcg_rseq_fast_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, unsigned long nr, int take)
{
	if (take) {
		__asm__ goto(MEMCG_RSEQ_BEGIN_
			     MEMCG_RSEQ_FIND_
			     "movzwl %%ax, %%r10d\n\t"
			     "cmpq %%r10, %[below]\n\t"
			     "jae %l[look_again]\n\t"
			     "imull %[unit], %k[nr], %%r10d\n\t"
			     "addl %%r10d, %%eax\n\t"
			     "movl %%eax, (%%rcx)\n\t"
			     MEMCG_RSEQ_END_
			     : : MEMCG_RSEQ_INPUTS_ : "rax", "rcx", "r10", "cc", "memory" : look_again);
	} else {
		__asm__ goto(MEMCG_RSEQ_BEGIN_
			     MEMCG_RSEQ_FIND_
			     "movl %%eax, %%r10d\n\t"
			     "shrl $16, %%r10d\n\t"
			     "cmpq %%r10, %[below]\n\t"
			     "jae %l[look_again]\n\t"
			     "imull %[unit], %k[nr], %%r10d\n\t"
			     "subl %%r10d, %%eax\n\t"
			     "movl %%eax, (%%rcx)\n\t"
			     MEMCG_RSEQ_END_
			     : : MEMCG_RSEQ_INPUTS_ : "rax", "rcx", "r10", "cc", "memory" : look_again);
	}
	return 1;
look_again:
	return 0;
}
/* clang-format on */

#endif

/*
 * The general commit, for what is decided in C: put @after into @slot if it still holds @before, this thread's
 * index still is @index, and @gate is @open. Return: 1 when stored. 0 says nothing but "look again".
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
		__asm__ goto(MEMCG_RSEQ_BEGIN_ "cmpl %[index], %%fs:(%[index_off])\n\t"
					       "jne %l[look_again]\n\t"
					       "cmpq %[open], %[gate]\n\t"
					       "jne %l[look_again]\n\t"
					       "cmpq %[before], %[slot]\n\t"
					       "jne %l[look_again]\n\t"
					       "movq %[after], %[slot]\n\t" MEMCG_RSEQ_END_
			     :
			     : [rseq] "m"(percpu->rseq_off), [index_off] "r"(percpu->index_off), [index] "r"(index),
			       [open] "r"(open), [gate] "m"(*gate), [before] "r"(before), [slot] "m"(*slot),
			       [after] "r"(after)
			     : "rax", "rcx", "cc", "memory"
			     : look_again);
		return 1;
look_again:
		return 0;
	}
#endif
	(void)percpu;
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
	char *base = percpu->base + ((size_t)index << MEMCG_AREA_SHIFT);
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

/* As memcg_rseq_fast_(), decided in C: for the portable form, and for slow paths that look again. */
static inline int memcg_general_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, unsigned long nr,
				 int take)
{
	uint32_t index = memcg_index_(percpu);
	struct memcg_area *area;
	uint64_t word, open;
	uint64_t *slot = memcg_slot_(percpu, fast, index, &area, &word);

	if (!slot || nr - 1 >= (take ? MEMCG_SLOT_HELD(word) : MEMCG_SLOT_FREE(word)))
		return 0;
	open = __atomic_load_n(&area->gate, __ATOMIC_RELAXED) & ~(uint64_t)1;
	return memcg_commit_(percpu, index, slot, word,
			     take ? word + nr * MEMCG_SLOT_UNIT : word - nr * MEMCG_SLOT_UNIT, &area->gate, open);
}

/* The fastest that this build has. */
static inline int memcg_fast_(const struct memcg_percpu *percpu, const struct memcg_fast *fast, unsigned long nr,
			      int take)
{
#if defined(MEMCG_HAVE_RSEQ)
	return memcg_rseq_fast_(percpu, fast, nr, take);
#elif defined(MEMCG_SIM)
	return percpu->rseq ? memcg_sim_fast(fast, nr, take) : memcg_general_(percpu, fast, nr, take);
#else
	return memcg_general_(percpu, fast, nr, take);
#endif
}

/* memcg_charge() and memcg_uncharge(), inline while in stock. @group must not be NULL. */
static inline int memcg_inline_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	if (__builtin_expect(memcg_fast_(memcg_percpu_at, (const struct memcg_fast *)(const void *)group, nr_pages, 1),
			     1))
		return 0;
	return memcg_charge(group, nr_pages, flags);
}

static inline void memcg_inline_uncharge(struct memcg *group, unsigned long nr_pages)
{
	if (__builtin_expect(memcg_fast_(memcg_percpu_at, (const struct memcg_fast *)(const void *)group, nr_pages, 0),
			     1))
		return;
	memcg_uncharge(group, nr_pages);
}

/*
 * Charge a plain block of @size bytes, with its header, to the payer of the thread's group, if this CPU's stock serves
 * it. NULL says "call memcg_heap_alloc()". What no slot can hold is not tried, so that the sum cannot wrap.
 */
static inline struct memcg_objcg *memcg_heap_pay_(const struct memcg_percpu *percpu, size_t size)
{
	const struct memcg_thread_head_ *self = memcg_thread_head_(percpu);
	struct memcg_objcg *owner;
	struct memcg *group, *home;

	/* Before the library runs there is nothing to look at, not even of the thread. */
	if (__builtin_expect(!percpu->root || size >> 16, 0))
		return NULL;
	/* Another thread may give this one another home. */
	home = __atomic_load_n(&self->home, __ATOMIC_RELAXED);
	group = self->current ? self->current : home ? home : percpu->root;
	owner = ((const struct memcg_head_ *)(const void *)group)->objcg;
	if (!owner || !memcg_fast_(percpu, (const struct memcg_fast *)(const void *)owner, MEMCG_HEAP_HEADER + size, 1))
		return NULL;
	return owner;
}

static inline void *memcg_block_fill_(void *block, struct memcg_objcg *owner, size_t size)
{
	struct memcg_block_ *header = (struct memcg_block_ *)block;

	header->owner = owner;
	header->size = size | MEMCG_BLOCK_PLAIN;
	return header + 1;
}

/* The payer of a plain block, NULL for any other, which is memcg_free()'s. @total receives what was charged. */
static inline struct memcg_objcg *memcg_block_payer_(const struct memcg_block_ *block, size_t *total)
{
	*total = MEMCG_HEAP_HEADER + (block->size & MEMCG_BLOCK_SIZE_MASK);
	return block->size >> MEMCG_BLOCK_SIZE_BITS == MEMCG_BLOCK_PLAIN >> MEMCG_BLOCK_SIZE_BITS ? block->owner : NULL;
}

/* Give @size bytes of @owner to this CPU's stock. 0: not done, memcg_uncharge_bytes() does it. */
static inline int memcg_heap_repay_(const struct memcg_percpu *percpu, struct memcg_objcg *owner, size_t size)
{
	return memcg_fast_(percpu, (const struct memcg_fast *)(const void *)owner, size, 0);
}

#ifdef __cplusplus
}
#endif
#endif
