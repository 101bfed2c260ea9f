/* SPDX-License-Identifier: MIT */
/*
 * mmap(), munmap(), mremap() and mprotect() of the program (MEMCG_RUN_MMAP=1).
 *
 * A mapping that is anonymous, private and can be written to is charged by its size, whether it is touched or not, to the
 * group of the thread that maps it, and credited to it when it is unmapped, by whomever. One that cannot be
 * written to yet (a reservation) is charged when it first can, as the kernel's commit limit has it. What grows is its
 * first payer's. A refusal is ENOMEM, and nothing has changed then.
 *
 * Not charged: stacks (the C library maps them by itself, others say MAP_STACK), huge pages, which the kernel's
 * controller does not count either, and what the library, liburcu and the malloc below map: the blocks in there are
 * charged already. Those are told by who calls.
 *
 *   M1  The lock is held from before the system call until the ranges say what it did: what one thread unmaps and
 *       another maps is seen in that order. Signals are blocked meanwhile: mmap() is called in handlers.
 *   M2  Nothing that may sleep or reclaim is done under the lock. What will be due is found under it, charged
 *       without it, and corrected under it by what was true then: upwards by force, so that it succeeds.
 *   M3  A mapping that could not be noted does not come to be: memory for the ranges is had before each system call.
 *
 * What is mapped where a range still is, was unmapped behind our back: the range is credited. Tolerated: an mprotect()
 * that fails half way has made writable what is not charged.
 */
#undef _FILE_OFFSET_BITS /* mmap() and mmap64() are two names, and both are defined here */
#include "maps.h"
#include "maps_lock.h"
#include "preload.h"
#include "ranges.h"
#include <errno.h>
#include <memcg/charge.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RANGES_NEEDED 8 /* most that one call adds and cuts */

static struct ranges ranges; /* under the maps lock */

/* What a call has charged in advance. */
struct payment {
	struct memcg_objcg *payer; /* with a reference; NULL: nobody pays */
	size_t charged;            /* bytes */
};

static void pay_more(struct payment *payment, size_t bytes)
{
	if (!memcg_charge_bytes(payment->payer, bytes, MEMCG_FORCE))
		payment->charged += bytes;
}

static bool pay(struct payment *payment, size_t bytes)
{
	if (payment->payer && memcg_charge_bytes(payment->payer, bytes, MEMCG_MAY_SLEEP))
		return false;
	payment->charged = payment->payer ? bytes : 0;
	return true;
}

/* Under the lock, or after a call that did nothing: @due is what it came to. */
static void settle(struct payment *payment, size_t due)
{
	if (!payment->payer)
		return;
	if (due > payment->charged)
		pay_more(payment, due - payment->charged);
	else
		memcg_uncharge_bytes(payment->payer, payment->charged - due);
}

static void *refused(struct payment *payment)
{
	memcg_objcg_put(payment->payer);
	errno = ENOMEM;
	return MAP_FAILED;
}

/* Bytes of [start, end) that @payer is charged for; NULL: that nobody is. */
static size_t bytes_of(uintptr_t start, uintptr_t end, const struct memcg_objcg *payer)
{
	size_t bytes = 0;

	for (const struct range *range = ranges_find(&ranges, start); range && range->start < end;
	     range = ranges_find(&ranges, range->end)) {
		uintptr_t from = range->start > start ? range->start : start, to = range->end < end ? range->end : end;

		if (range->payer == payer)
			bytes += to - from;
	}
	return bytes;
}

static size_t bytes_of_locked(uintptr_t start, uintptr_t end, const struct memcg_objcg *payer)
{
	size_t bytes;
	sigset_t mask;

	maps_lock_take(&mask);
	bytes = bytes_of(start, end, payer);
	maps_lock_drop(&mask);
	return bytes;
}

/* Nothing is at [start, end) any more: credits all but @payer, whose bytes are returned. */
static size_t forget(uintptr_t start, uintptr_t end, const struct memcg_objcg *payer)
{
	struct range part;
	size_t bytes = 0;

	while (ranges_cut(&ranges, start, end, &part)) {
		if (part.payer && part.payer == payer)
			bytes += part.end - part.start;
		else if (part.payer)
			memcg_uncharge_bytes(part.payer, part.end - part.start);
	}
	return bytes;
}

/* Is a range kept of it? */
static bool is_noted(int flags)
{
	return (flags & (MAP_ANONYMOUS | MAP_TYPE)) == (MAP_ANONYMOUS | MAP_PRIVATE) &&
	       !(flags & (MAP_STACK | MAP_HUGETLB));
}

struct map_call {
	void *addr; /* as given, all of them */
	size_t len;
	int prot;
	int flags;
	int fd;
	off_t offset;
};

static void *raw_mmap(const struct map_call *call)
{
	return (void *)syscall(SYS_mmap, call->addr, call->len, call->prot, call->flags, call->fd, call->offset);
}

/* The lock is held. */
static void *map_and_note(const struct map_call *call, size_t size, struct payment *payment)
{
	uintptr_t start;
	void *result;
	size_t reused;

	if (!ranges_reserve(&ranges, RANGES_NEEDED)) {
		errno = ENOMEM;
		result = MAP_FAILED;
	} else {
		result = raw_mmap(call);
	}
	if (result == MAP_FAILED) {
		settle(payment, 0);
		return result;
	}
	start = (uintptr_t)result;
	reused = forget(start, start + size, payment->payer);
	settle(payment, size - reused);
	if (is_noted(call->flags))
		ranges_add(&ranges, start, start + size, payment->payer);
	return result;
}

static void *map(const struct map_call *call)
{
	bool fixed = call->flags & MAP_FIXED, pays = is_noted(call->flags) && call->prot & PROT_WRITE;
	size_t size = maps_round(call->len), there = 0;
	struct payment payment = { 0 };
	sigset_t mask;
	void *result;

	if (!size)
		return raw_mmap(call); /* which says what is wrong */
	payment.payer = pays ? memcg_objcg_get(NULL) : NULL;
	if (payment.payer && fixed)
		there = bytes_of_locked((uintptr_t)call->addr, (uintptr_t)call->addr + size, payment.payer);
	if (!pay(&payment, size - there))
		return refused(&payment);
	maps_lock_take(&mask);
	result = map_and_note(call, size, &payment);
	maps_lock_drop(&mask);
	memcg_objcg_put(payment.payer);
	return result;
}

static int unmap(void *addr, size_t len)
{
	uintptr_t start = (uintptr_t)addr;
	size_t size = maps_round(len);
	sigset_t mask;
	int ret;

	maps_lock_take(&mask);
	if (ranges_reserve(&ranges, RANGES_NEEDED)) {
		ret = (int)syscall(SYS_munmap, addr, len);
		if (!ret)
			forget(start, start + size, NULL);
	} else {
		errno = ENOMEM;
		ret = -1;
	}
	maps_lock_drop(&mask);
	return ret;
}

/* The lock is held: what nobody is charged for becomes the payer's. How much; the rest, where memory is short, stays nobody's. */
static size_t assign(uintptr_t start, uintptr_t end, struct memcg_objcg *payer)
{
	uintptr_t at = start;
	const struct range *range;
	size_t assigned = 0;

	while (at < end && (range = ranges_find(&ranges, at)) && range->start < end) {
		uintptr_t from = range->start > start ? range->start : start, to = range->end < end ? range->end : end;
		struct range part;

		if (!range->payer && ranges_reserve(&ranges, RANGES_NEEDED) && ranges_cut(&ranges, from, to, &part)) {
			ranges_add(&ranges, from, to, payer);
			assigned += to - from;
		}
		at = to;
	}
	return assigned;
}

static int protect(void *addr, size_t len, int prot)
{
	uintptr_t start = (uintptr_t)addr, end = start + maps_round(len);
	size_t due = prot & PROT_WRITE ? bytes_of_locked(start, end, NULL) : 0;
	struct payment payment = { 0 };
	size_t assigned = 0;
	sigset_t mask;
	int ret = -1;

	if (!due)
		return (int)syscall(SYS_mprotect, addr, len, prot);
	payment.payer = memcg_objcg_get(NULL);
	if (!pay(&payment, due)) {
		refused(&payment);
		return -1;
	}
	maps_lock_take(&mask);
	if (ranges_reserve(&ranges, RANGES_NEEDED))
		ret = (int)syscall(SYS_mprotect, addr, len, prot);
	else
		errno = ENOMEM;
	if (!ret && payment.payer)
		assigned = assign(start, end, payment.payer);
	settle(&payment, assigned);
	maps_lock_drop(&mask);
	memcg_objcg_put(payment.payer);
	return ret;
}

struct remap_call {
	uintptr_t old; /* as given, all of them; the sizes in whole pages */
	size_t old_size;
	size_t new_size;
	int flags;
	void *where;
};

static void *raw_mremap(const struct remap_call *call)
{
	return (void *)syscall(SYS_mremap, call->old, call->old_size, call->new_size, call->flags, call->where);
}

/* The lock is held. Who pays for what comes behind the old end, with a reference. */
static struct memcg_objcg *payer_of_growth(const struct remap_call *call)
{
	const struct range *range = ranges_find(&ranges, call->old + call->old_size - 1);

	return range && range->start < call->old + call->old_size ? memcg_objcg_ref(range->payer) : NULL;
}

/* What the call will cost: what it grows by, or all, where the old mapping stays. */
static size_t cost_of(const struct remap_call *call)
{
	if (call->flags & MREMAP_DONTUNMAP)
		return call->new_size;
	return call->new_size > call->old_size ? call->new_size - call->old_size : 0;
}

/* The lock is held. To where they are now; the parts behind the new end are credited. */
static void move_ranges(const struct remap_call *call, uintptr_t to)
{
	size_t kept = call->new_size < call->old_size ? call->new_size : call->old_size;
	struct range part;

	forget(to, to + call->new_size, NULL);
	while (ranges_cut(&ranges, call->old, call->old + kept, &part))
		ranges_add(&ranges, part.start - call->old + to, part.end - call->old + to, part.payer);
	forget(call->old, call->old + call->old_size, NULL);
}

/* The lock is held. @noted: the old mapping was one of ours. */
static void note_remap(const struct remap_call *call, uintptr_t to, bool noted, struct payment *payment)
{
	uintptr_t old_end = call->old + call->old_size;

	if (call->flags & MREMAP_DONTUNMAP) {
		forget(to, to + call->new_size, NULL);
		if (noted)
			ranges_add(&ranges, to, to + call->new_size, payment->payer);
	} else if (to != call->old) {
		move_ranges(call, to);
	} else if (call->new_size < call->old_size) {
		forget(to + call->new_size, old_end, NULL);
	} else {
		forget(old_end, to + call->new_size, NULL);
	}
	if (noted && !(call->flags & MREMAP_DONTUNMAP) && call->new_size > call->old_size)
		ranges_add(&ranges, to + call->old_size, to + call->new_size, payment->payer);
	settle(payment, noted ? payment->charged : 0);
}

static void *remap(const struct remap_call *call)
{
	struct payment payment = { 0 };
	void *result = MAP_FAILED;
	sigset_t mask;
	bool noted;

	maps_lock_take(&mask);
	payment.payer = payer_of_growth(call);
	maps_lock_drop(&mask);
	if (!pay(&payment, cost_of(call)))
		return refused(&payment);
	maps_lock_take(&mask);
	if (ranges_reserve(&ranges, RANGES_NEEDED)) {
		const struct range *last = ranges_find(&ranges, call->old + call->old_size - 1);

		noted = last && last->start < call->old + call->old_size;
		result = raw_mremap(call);
		if (result != MAP_FAILED)
			note_remap(call, (uintptr_t)result, noted, &payment);
	} else {
		errno = ENOMEM;
	}
	if (result == MAP_FAILED)
		settle(&payment, 0);
	maps_lock_drop(&mask);
	memcg_objcg_put(payment.payer);
	return result;
}

EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	const struct map_call call = { addr, len, prot, flags, fd, offset };
	void *result;

	if (!maps_begin(__builtin_return_address(0)))
		return raw_mmap(&call);
	result = map(&call);
	maps_end();
	return result;
}

/* 64-bit machines have one kind of offset. */
EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset) __attribute__((alias("mmap")));

EXPORT int munmap(void *addr, size_t len)
{
	int ret;

	if (!maps_begin(__builtin_return_address(0)))
		return (int)syscall(SYS_munmap, addr, len);
	ret = unmap(addr, len);
	maps_end();
	return ret;
}

EXPORT int mprotect(void *addr, size_t len, int prot)
{
	int ret;

	if (!maps_begin(__builtin_return_address(0)))
		return (int)syscall(SYS_mprotect, addr, len, prot);
	ret = protect(addr, len, prot);
	maps_end();
	return ret;
}

EXPORT void *mremap(void *old, size_t old_len, size_t new_len, int flags, ...)
{
	struct remap_call call = { (uintptr_t)old, old_len, new_len, flags, NULL };
	void *result;
	va_list args;

	va_start(args, flags);
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		call.where = va_arg(args, void *);
	va_end(args);
	if (!maps_round(old_len) || !maps_round(new_len) || !maps_begin(__builtin_return_address(0)))
		return raw_mremap(&call);
	call.old_size = maps_round(old_len);
	call.new_size = maps_round(new_len);
	result = remap(&call);
	maps_end();
	return result;
}
