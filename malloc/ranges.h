/* SPDX-License-Identifier: MIT */
/*
 * Which addresses are mapped for whom: disjoint ranges in the order of their addresses.
 *
 * The memory for them is mapped by itself, by system calls of its own, and never given back: nothing here allocates by
 * malloc() or takes a lock. The caller serialises.
 */
#ifndef MEMCG_RANGES_H
#define MEMCG_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memcg_objcg;

struct range {
	uintptr_t start;           /* first byte */
	uintptr_t end;             /* behind the last */
	struct memcg_objcg *payer; /* who is charged for it; NULL: nobody, it cannot be written to yet */
	uint32_t priority;         /* of a heap: above both below */
	struct range *left;        /* lower addresses; list of free ones */
	struct range *right;       /* higher addresses */
};

struct ranges {
	struct range *root; /* a treap by start */
	struct range *free; /* by left */
	size_t nr_free;     /* in it */
	uint32_t seed;      /* of priorities; 0 at first */
};

#define RANGES_HIDDEN __attribute__((visibility("hidden")))

/* So that the next @nr additions and cuts find the memory they need. False: there is none. */
RANGES_HIDDEN bool ranges_reserve(struct ranges *ranges, size_t nr);

/* The lowest range that ends behind @at; NULL: none. */
RANGES_HIDDEN struct range *ranges_find(const struct ranges *ranges, uintptr_t at);

/* Nothing may be there yet. One that continues a neighbour of the same payer becomes part of it. Takes 1. */
RANGES_HIDDEN void ranges_add(struct ranges *ranges, uintptr_t start, uintptr_t end, struct memcg_objcg *payer);

/* Takes the lowest part out that lies in [start, end), and says what it was. False: there is none. Takes 1. */
RANGES_HIDDEN bool ranges_cut(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range *part);

#endif
