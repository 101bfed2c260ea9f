/* SPDX-License-Identifier: MIT */
/*
 * Charged heap memory.
 *
 * A block is: padding, header, what the caller gets. The header tells who pays and how much,
 * so that a free from any thread, at any time, credits the payer (A5). Without an alignment
 * above the header's, the header begins the block that the backing allocator gave.
 *
 * Block and payment belong together. Up to PAY_LATER bytes are paid first: the stock does it. A larger
 * amount is paid after it was had: what the allocator below refuses, for its size, must not stand in the peak
 * (A4), nor in the way of others, and memory costs nothing until it is touched.
 *
 * A block that grows in place, or moves without a copy, cannot be had first: once it has moved, a refused payment could
 * not be answered, since the old block is gone. So the allocator is asked for as much as it is to grow by, untouched, and
 * that is given back. Tolerated: there was room for that and, a moment later, not for the grown block. Then the
 * amount stands in the peak, once for each such call.
 */
#include <errno.h>
#include <memcg/heap.h>
#include <string.h>

#include "base/mem.h"
#include "charge/bytes.h"

#define HEADER ((size_t)MEMCG_HEAP_HEADER)
#define PAY_LATER ((size_t)1 << 20) /* bytes from which a block is paid after it was had */
#define SIZE_BITS MEMCG_BLOCK_SIZE_BITS
#define SIZE_MASK MEMCG_BLOCK_SIZE_MASK

_Static_assert(sizeof(struct memcg_block_) == HEADER, "public constant");
_Static_assert((uint64_t)HEADER == 1U << (MEMCG_BLOCK_PLAIN >> SIZE_BITS),
	       "a plain block has the header alone before it");

static struct memcg_block_ *header_of(const void *ptr)
{
	return (struct memcg_block_ *)(uintptr_t)ptr - 1;
}

static size_t space_before(const struct memcg_block_ *header)
{
	return (size_t)1 << (header->size >> SIZE_BITS);
}

static void *fill_header(char *block, size_t space, struct memcg_objcg *owner, size_t size)
{
	struct memcg_block_ *header = (struct memcg_block_ *)(void *)(block + space) - 1;

	header->owner = owner;
	header->size = size | (uint64_t)__builtin_ctzl(space) << SIZE_BITS;
	return header + 1;
}

static struct memcg_objcg *owner_for(struct memcg *group)
{
	return (group ? group : memcg_current())->objcg;
}

static void *out_of_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static bool pay(struct memcg_objcg *owner, size_t total, unsigned int flags)
{
	return !owner || bytes_charge(owner, total, flags) == 0;
}

static void repay(struct memcg_objcg *owner, size_t total)
{
	int saved = errno;

	if (owner)
		bytes_uncharge(owner, total);
	errno = saved;
}

/* After the allocation, before which what is less than PAY_LATER was paid. False: neither block nor payment is left. */
static bool settled(void *block, struct memcg_objcg *owner, size_t total, unsigned int flags)
{
	if (unlikely(!block)) {
		if (total < PAY_LATER)
			repay(owner, total);
		return false;
	}
	if (likely(total < PAY_LATER || pay(owner, total, flags)))
		return true;
	mem_backing.free(block);
	return false;
}

void *memcg_heap_alloc(struct memcg *group, size_t align, size_t size, unsigned int flags)
{
	size_t space = align > HEADER ? align : HEADER;
	struct memcg_objcg *owner;
	size_t total;
	char *block;

	if (unlikely(space & (space - 1) || space > PTRDIFF_MAX / 4 || size > PTRDIFF_MAX - 2 * space))
		return out_of_memory();
	total = space + size;
	owner = owner_for(group);
	if (unlikely(total < PAY_LATER && !pay(owner, total, flags)))
		return out_of_memory();
	if (space == HEADER)
		block = mem_backing.malloc(total);
	else
		block = mem_backing.aligned_alloc(space, (total + space - 1) & ~(space - 1));
	if (unlikely(!settled(block, owner, total, flags)))
		return out_of_memory();
	return fill_header(block, space, owner, size);
}

void *memcg_heap_calloc(struct memcg *group, size_t nr, size_t size, unsigned int flags)
{
	struct memcg_objcg *owner;
	size_t bytes;
	char *block;

	if (__builtin_mul_overflow(nr, size, &bytes) || bytes > PTRDIFF_MAX - 2 * HEADER)
		return out_of_memory();
	owner = owner_for(group);
	if (HEADER + bytes < PAY_LATER && !pay(owner, HEADER + bytes, flags))
		return out_of_memory();
	block = mem_backing.calloc(1, HEADER + bytes);
	if (!settled(block, owner, HEADER + bytes, flags))
		return out_of_memory();
	return fill_header(block, HEADER, owner, bytes);
}

/* A block with padding before it cannot be resized by the backing allocator. */
static void *realloc_copy(void *ptr, size_t size, unsigned int flags)
{
	struct memcg_block_ *header = header_of(ptr);
	size_t old = header->size & SIZE_MASK, space = space_before(header);
	struct memcg_objcg *owner = header->owner;
	char *block;
	void *copy;

	if (space + size < PAY_LATER && !pay(owner, space + size, flags))
		return out_of_memory();
	block = mem_backing.aligned_alloc(space, (space + size + space - 1) & ~(space - 1));
	if (!settled(block, owner, space + size, flags))
		return out_of_memory();
	copy = fill_header(block, space, owner, size);
	memcpy(copy, ptr, old < size ? old : size);
	memcg_free(ptr);
	return copy;
}

/* For @more bytes of a block that is about to grow. */
static bool pay_growth(struct memcg_objcg *owner, size_t more, unsigned int flags)
{
	void *room;

	if (!owner || more < PAY_LATER)
		return pay(owner, more, flags);
	room = mem_backing.malloc(more);
	if (!settled(room, owner, more, flags))
		return false;
	mem_backing.free(room);
	return true;
}

void *memcg_heap_realloc(struct memcg *group, void *ptr, size_t size, unsigned int flags)
{
	struct memcg_block_ *header;
	struct memcg_objcg *owner;
	size_t old;
	char *block;

	if (!ptr)
		return memcg_heap_alloc(group, 0, size, flags);
	header = header_of(ptr);
	old = header->size & SIZE_MASK;
	owner = header->owner;
	if (size > PTRDIFF_MAX - 2 * space_before(header))
		return out_of_memory();
	if (space_before(header) != HEADER)
		return realloc_copy(ptr, size, flags);
	if (size > old && !pay_growth(owner, size - old, flags))
		return out_of_memory();
	block = mem_backing.realloc(header, HEADER + size);
	if (!block) {
		if (size > old)
			repay(owner, size - old);
		return out_of_memory();
	}
	if (size < old)
		repay(owner, old - size);
	return fill_header(block, HEADER, owner, size);
}

static noinline void free_slow(void *ptr)
{
	struct memcg_block_ *header = header_of(ptr);
	struct memcg_objcg *owner = header->owner;
	size_t space = space_before(header), total = space + (header->size & SIZE_MASK);

	mem_backing.free((char *)ptr - space);
	repay(owner, total);
}

void memcg_free(void *ptr)
{
	struct memcg_block_ *header;
	struct memcg_objcg *owner;
	size_t total;

	if (!ptr)
		return;
	header = header_of(ptr);
	owner = memcg_block_payer_(header, &total);
	if (unlikely(!owner)) {
		free_slow(ptr);
		return;
	}
	mem_backing.free(header);
	if (unlikely(!memcg_heap_repay_(&memcg_percpu, owner, total)))
		repay(owner, total);
}

void *memcg_malloc(size_t size)
{
	struct memcg_objcg *owner = memcg_heap_pay_(&memcg_percpu, size);
	void *block;

	if (unlikely(!owner))
		return memcg_heap_alloc(NULL, 0, size, 0);
	block = mem_backing.malloc(HEADER + size);
	if (likely(block))
		return memcg_block_fill_(block, owner, size);
	repay(owner, HEADER + size);
	return out_of_memory();
}

void *memcg_calloc(size_t nr, size_t size)
{
	return memcg_heap_calloc(NULL, nr, size, 0);
}

void *memcg_realloc(void *ptr, size_t size)
{
	return memcg_heap_realloc(NULL, ptr, size, 0);
}

void *memcg_aligned_alloc(size_t align, size_t size)
{
	if (!align || align & (align - 1)) {
		errno = EINVAL;
		return NULL;
	}
	return memcg_heap_alloc(NULL, align, size, 0);
}

size_t memcg_heap_size(const void *ptr)
{
	return ptr ? header_of(ptr)->size & SIZE_MASK : 0;
}

struct memcg_objcg *memcg_heap_owner(const void *ptr)
{
	return ptr ? header_of(ptr)->owner : NULL;
}
