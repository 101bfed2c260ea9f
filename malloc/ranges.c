/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses: a treap by their first byte.
 *
 * A treap is a search tree that is also a heap by random priorities, and so is as deep as a tree built in random
 * order, whatever order the ranges come in. Two operations carry it: split at an address, and join of two trees of
 * which one lies below the other.
 */
#include "ranges.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10) /* bytes that are mapped at once for ranges */

/* Those that begin below @at, and the others. */
static void split(struct range *tree, uintptr_t at, struct range **below, struct range **above)
{
	while (tree) {
		if (tree->start < at) {
			*below = tree;
			below = &tree->right;
			tree = tree->right;
		} else {
			*above = tree;
			above = &tree->left;
			tree = tree->left;
		}
	}
	*below = NULL;
	*above = NULL;
}

static struct range *join(struct range *below, struct range *above)
{
	struct range *root, **at = &root;

	while (below && above) {
		if (below->priority > above->priority) {
			*at = below;
			at = &below->right;
			below = below->right;
		} else {
			*at = above;
			at = &above->left;
			above = above->left;
		}
	}
	*at = below ? below : above;
	return root;
}

/* xorshift */
static uint32_t next_priority(struct ranges *ranges)
{
	uint32_t x = ranges->seed ? ranges->seed : 2463534242U;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	ranges->seed = x;
	return x;
}

bool ranges_reserve(struct ranges *ranges, size_t nr)
{
	struct range *chunk;

	if (ranges->nr_free >= nr)
		return true;
	chunk = (struct range *)syscall(SYS_mmap, NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
					0);
	if (chunk == MAP_FAILED)
		return false;
	for (size_t i = 0; i < CHUNK / sizeof(*chunk); i++) {
		chunk[i].left = ranges->free;
		ranges->free = &chunk[i];
		ranges->nr_free++;
	}
	return true;
}

static struct range *take_free(struct ranges *ranges)
{
	struct range *range = ranges->free;

	ranges->free = range->left;
	ranges->nr_free--;
	return range;
}

static void give_free(struct ranges *ranges, struct range *range)
{
	range->left = ranges->free;
	ranges->free = range;
	ranges->nr_free++;
}

struct range *ranges_find(const struct ranges *ranges, uintptr_t at)
{
	struct range *tree = ranges->root, *found = NULL;

	while (tree) {
		if (tree->end > at) {
			found = tree;
			tree = tree->left;
		} else {
			tree = tree->right;
		}
	}
	return found;
}

static void link_range(struct ranges *ranges, struct range *range)
{
	struct range *below, *above;

	range->left = NULL;
	range->right = NULL;
	split(ranges->root, range->start, &below, &above);
	ranges->root = join(join(below, range), above);
}

static void unlink_range(struct ranges *ranges, struct range *range)
{
	struct range *below, *above, *self;

	split(ranges->root, range->start, &below, &above);
	split(above, range->start + 1, &self, &above);
	ranges->root = join(below, above);
}

static struct range *make(struct ranges *ranges, uintptr_t start, uintptr_t end, struct memcg_objcg *payer)
{
	struct range *range = take_free(ranges);

	*range = (struct range){ .start = start, .end = end, .payer = payer, .priority = next_priority(ranges) };
	link_range(ranges, range);
	return range;
}

void ranges_add(struct ranges *ranges, uintptr_t start, uintptr_t end, struct memcg_objcg *payer)
{
	struct range *before = start ? ranges_find(ranges, start - 1) : NULL;
	struct range *after = ranges_find(ranges, start), *whole;

	if (before && before->end == start && before->payer == payer) {
		before->end = end;
		whole = before;
	} else {
		whole = NULL;
	}
	if (after && after != whole && after->start == end && after->payer == payer) {
		unlink_range(ranges, after);
		if (whole) {
			whole->end = after->end;
			give_free(ranges, after);
			return;
		}
		after->start = start;
		link_range(ranges, after);
		return;
	}
	if (!whole)
		make(ranges, start, end, payer);
}

bool ranges_cut(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range *part)
{
	struct range *range = ranges_find(ranges, start);
	uintptr_t behind;

	if (!range || range->start >= end)
		return false;
	part->start = range->start > start ? range->start : start;
	part->end = range->end < end ? range->end : end;
	part->payer = range->payer;
	behind = range->end;
	if (range->start < part->start) {
		range->end = part->start;
	} else {
		unlink_range(ranges, range);
		give_free(ranges, range);
	}
	if (behind > part->end)
		make(ranges, part->end, behind, part->payer);
	return true;
}
