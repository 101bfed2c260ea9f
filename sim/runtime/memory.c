/* SPDX-License-Identifier: MIT */
/*
 * The memory of the code under test: one region at a fixed address.
 *
 * The address is fixed so that code which hashes a pointer behaves alike in every run
 * of the program, with and without address randomisation. The region holds the parked
 * threads' stacks, the fibres' stacks and the arena. The arena is cut into pages of
 * 4 KiB; a page serves one power-of-two size, or belongs to a larger object, so that an
 * address finds its object by one table look-up. Every access of the code under test
 * is checked against that object (S4).
 *
 * A run starts with an empty arena. Memory is handed out zeroed; of a large object only
 * the pages that were touched since they were last zeroed are cleared, so that a
 * reserved range costs what is used of it.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define REGION_BASE 0x200000000000UL
#define ARENA_BASE (REGION_BASE + ARENA_OFFSET)

enum {
	ARENA_OFFSET = 16 << 20,
	PAGE_SHIFT = 12,
	PAGE_BYTES = 1 << PAGE_SHIFT,
	NR_PAGES = 1 << 18, /* 1 GiB of addresses */
	MIN_SHIFT = 5,
	LINE_SHIFT = 6,
	NR_OBJECTS = 1 << 20,
	NO_OBJECT = 0, /* objects[0] stands for "never allocated" */
};

struct page {
	uint32_t first; /* object at its start, or the one it belongs to */
	uint8_t shift;  /* log2 of the objects' size; PAGE_SHIFT: one object */
	bool touched;   /* written since it was last zeroed */
};

static uint32_t *line_round;   /* per line of the arena: the count that it was last part of */
static uint32_t round_nr;      /* counts begun */
static unsigned long nr_lines; /* of the present one */
static bool counting;          /* lines */
static char *region;
static struct page *pages;
static struct sim_object *objects;
static uint32_t nr_pages;              /* handed out in this run */
static uint32_t nr_objects;            /* slots laid out; slot 0 is never used */
static uint32_t serial;                /* allocations in this run */
static uint32_t fresh[PAGE_SHIFT];     /* per size: next slot of its open page */
static uint32_t fresh_end[PAGE_SHIFT]; /* and the page's end */
static uint32_t freed[PAGE_SHIFT];     /* per size: freed objects, latest first */

/* Zeroed address space that costs what is touched of it. @at: where it must be, NULL anywhere. */
void *sim_reserve(void *at, size_t size)
{
	int fixed = at ? MAP_FIXED_NOREPLACE : 0;
	/* cppcheck-suppress invalidFunctionArg */
	void *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);

	if (p == MAP_FAILED || (at && p != at)) {
		fprintf(stderr, "memcg-sim: cannot reserve %zu bytes of address space\n", size);
		exit(2);
	}
	return p;
}

void sim_memory_init(void)
{
	region = sim_reserve((void *)REGION_BASE, ARENA_OFFSET + ((size_t)NR_PAGES << PAGE_SHIFT));
	madvise(region, ARENA_OFFSET + ((size_t)NR_PAGES << PAGE_SHIFT), MADV_NOHUGEPAGE);
	pages = sim_reserve(NULL, NR_PAGES * sizeof(*pages));
	objects = sim_reserve(NULL, NR_OBJECTS * sizeof(*objects));
	line_round = sim_reserve(NULL, ((size_t)NR_PAGES << (PAGE_SHIFT - LINE_SHIFT)) * sizeof(*line_round));
	sim_memory_reset();
}

void *sim_memory_region(size_t offset, size_t size)
{
	if (offset + size > ARENA_OFFSET)
		abort();
	return region + offset;
}

void sim_memory_reset(void)
{
	for (uint32_t i = 0; i < nr_pages; i++)
		pages[i].first = NO_OBJECT;
	nr_pages = 0;
	nr_objects = 1;
	serial = 0;
	memset(fresh, 0, sizeof(fresh));
	memset(fresh_end, 0, sizeof(fresh_end));
	memset(freed, 0, sizeof(freed));
}

static uint32_t take_objects(uint32_t nr)
{
	uint32_t first = nr_objects;

	if (nr > NR_OBJECTS - nr_objects)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "the simulator's table of objects is full");
	for (uint32_t i = 0; i < nr; i++)
		objects[first + i] = (struct sim_object){ .state = SIM_OBJ_NONE };
	nr_objects += nr;
	return first;
}

static uint32_t take_pages(uint32_t nr, uint32_t align)
{
	uint32_t first = (nr_pages + align - 1) & ~(align - 1);

	if (first + nr > NR_PAGES)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "the simulated memory is used up");
	for (uint32_t i = nr_pages; i < first; i++)
		pages[i].first = NO_OBJECT;
	nr_pages = first + nr;
	return first;
}

static uint32_t small_slot(unsigned int shift)
{
	uint32_t slot = freed[shift];

	if (slot && sim.reuse) {
		freed[shift] = objects[slot].next_free;
		return slot;
	}
	if (fresh[shift] == fresh_end[shift]) {
		uint32_t page = take_pages(1, 1);
		uint32_t nr = PAGE_BYTES >> shift;

		fresh[shift] = take_objects(nr);
		fresh_end[shift] = fresh[shift] + nr;
		pages[page].first = fresh[shift];
		pages[page].shift = (uint8_t)shift;
		for (uint32_t i = 0; i < nr; i++)
			objects[fresh[shift] + i].base =
				ARENA_BASE + ((uintptr_t)page << PAGE_SHIFT) + ((uintptr_t)i << shift);
	}
	return fresh[shift]++;
}

static uint32_t large_slot(size_t size, size_t align)
{
	uint32_t nr = (uint32_t)((size + PAGE_BYTES - 1) >> PAGE_SHIFT);
	uint32_t page = take_pages(nr, align > PAGE_BYTES ? (uint32_t)(align >> PAGE_SHIFT) : 1);
	uint32_t slot = take_objects(1);

	objects[slot].base = ARENA_BASE + ((uintptr_t)page << PAGE_SHIFT);
	for (uint32_t i = page; i < page + nr; i++) {
		pages[i].first = slot;
		pages[i].shift = PAGE_SHIFT;
		if (pages[i].touched)
			memset((void *)(ARENA_BASE + ((uintptr_t)i << PAGE_SHIFT)), 0, PAGE_BYTES);
		pages[i].touched = false;
	}
	return slot;
}

void *sim_alloc(size_t size, size_t align)
{
	struct sim_object *object;
	unsigned int shift = MIN_SHIFT;
	size_t least = size > align ? size : align;

	if (size > (size_t)NR_PAGES << (PAGE_SHIFT - 1) || (align & (align - 1)))
		return NULL;
	while (shift < PAGE_SHIFT && ((size_t)1 << shift) < least)
		shift++;
	object = &objects[shift < PAGE_SHIFT ? small_slot(shift) : large_slot(size ? size : 1, align)];
	if (shift < PAGE_SHIFT) {
		memset((void *)object->base, 0, (size_t)1 << shift);
		pages[(object->base - ARENA_BASE) >> PAGE_SHIFT].touched = true;
	}
	object->size = size;
	object->state = SIM_OBJ_LIVE;
	object->serial = ++serial;
	object->alloc_pc = SIM_PC;
	object->alloc_ctx = sim.current ? (uint8_t)sim_ctx(sim.current) : 0;
	sim_trace(SIM_ALLOC, object->base, size, 0, SIM_PC);
	return (void *)object->base;
}

struct sim_object *sim_memory_object(uintptr_t addr)
{
	uintptr_t offset = addr - ARENA_BASE;
	const struct page *page;
	struct sim_object *object;

	if (offset >> PAGE_SHIFT >= nr_pages)
		return NULL;
	page = &pages[offset >> PAGE_SHIFT];
	if (!page->first)
		return NULL;
	object = &objects[page->first];
	if (page->shift < PAGE_SHIFT)
		object += (offset & (PAGE_BYTES - 1)) >> page->shift;
	return object->state == SIM_OBJ_NONE ? NULL : object;
}

static void poison(struct sim_object *object)
{
	uintptr_t end = object->base + object->size;

	for (uintptr_t at = object->base; at < end;) {
		struct page *page = &pages[(at - ARENA_BASE) >> PAGE_SHIFT];
		uintptr_t stop = (at | (PAGE_BYTES - 1)) + 1;

		if (stop > end)
			stop = end;
		if (page->shift < PAGE_SHIFT || page->touched) { /* untouched pages of a reserve stay so */
			memset((void *)at, SIM_POISON, stop - at);
			page->touched = true;
		}
		at = stop;
	}
}

void sim_free(void *memory)
{
	uintptr_t addr = (uintptr_t)memory;
	struct sim_object *object;
	struct page *page;

	if (!memory)
		return;
	sim_point(SIM_FREE, addr, SIM_PC);
	if (sim.live && sim.tso)
		sim_buffer_drain(sim.current->cpu); /* its own stores come before, and would hit what follows */
	object = sim_memory_object(addr);
	if (!object || object->base != addr)
		sim_fail(SIM_FAIL_BAD_FREE, SIM_PC, addr, "free of what was not allocated");
	else if (object->state == SIM_OBJ_FREED)
		sim_fail(SIM_FAIL_BAD_FREE, SIM_PC, addr, "double free");
	poison(object);
	object->state = SIM_OBJ_FREED;
	object->free_pc = SIM_PC;
	object->free_ctx = sim.current ? (uint8_t)sim_ctx(sim.current) : 0;
	object->free_step = sim.steps;
	page = &pages[(addr - ARENA_BASE) >> PAGE_SHIFT];
	if (page->shift < PAGE_SHIFT) {
		object->next_free = freed[page->shift];
		freed[page->shift] = (uint32_t)(object - objects);
	}
}

static void bad_access(uintptr_t addr, const struct sim_object *object, bool write, uintptr_t pc)
{
	const char *what = write ? "write" : "read";

	if (sim.current && sim.current->in_section && sim.current->aborted && !write)
		return; /* S4: the real section is not executed any more */
	if (object && object->state == SIM_OBJ_FREED)
		sim_fail(SIM_FAIL_USE_AFTER_FREE, pc, addr, "%s after free", what);
	if (object)
		sim_fail(SIM_FAIL_OUT_OF_BOUNDS, pc, addr, "%s out of bounds", what);
	sim_fail(SIM_FAIL_BAD_ADDRESS, pc, addr, "%s of memory that was never allocated", what);
}

void sim_lines_begin(void)
{
	round_nr++;
	nr_lines = 0;
	counting = true;
}

unsigned long sim_lines_end(void)
{
	counting = false;
	return nr_lines;
}

static void count_lines(uintptr_t offset, size_t size)
{
	for (uintptr_t line = offset >> LINE_SHIFT; line <= (offset + size - 1) >> LINE_SHIFT; line++) {
		if (line_round[line] != round_nr)
			nr_lines++;
		line_round[line] = round_nr;
	}
}

void sim_memory_check(uintptr_t addr, size_t size, bool write, uintptr_t pc)
{
	uintptr_t offset = addr - ARENA_BASE;
	const struct sim_object *object;
	struct page *page;

	if (offset >> PAGE_SHIFT >= NR_PAGES) {
		if (addr < (1 << 16))
			sim_fail(SIM_FAIL_BAD_ADDRESS, pc, 0, "%s through a null pointer", write ? "write" : "read");
		return;
	}
	page = &pages[offset >> PAGE_SHIFT];
	object = &objects[page->first];
	if (page->shift < PAGE_SHIFT)
		object += (offset & (PAGE_BYTES - 1)) >> page->shift;
	if (sim_unlikely(!page->first || object->state != SIM_OBJ_LIVE || addr + size - object->base > object->size))
		bad_access(addr, page->first && object->state != SIM_OBJ_NONE ? object : NULL, write, pc);
	if (sim_unlikely(counting) && write)
		count_lines(offset, size);
	if (write)
		for (; offset >> PAGE_SHIFT <= (addr - ARENA_BASE + size - 1) >> PAGE_SHIFT; offset += PAGE_BYTES)
			pages[offset >> PAGE_SHIFT].touched = true;
}
