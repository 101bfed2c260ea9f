/* SPDX-License-Identifier: MIT */
/*
 * Charging: pages by group, bytes by object owner, reservations, moves.
 *
 * A charge is refused, never granted over a limit; MEMCG_FORCE alone goes over,
 * and is counted. Guarantees A1 to A6 are in docs/guarantees.md.
 */
#ifndef MEMCG_CHARGE_H
#define MEMCG_CHARGE_H

#include <memcg/memcg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCG_MAY_SLEEP (1U << 0) /* draining other CPUs, reclaim and waiting are allowed */
#define MEMCG_FORCE (1U << 1)     /* must succeed; may exceed max; counted */
#define MEMCG_RESERVE (1U << 2)   /* the reclaimer's reserve: as MEMCG_FORCE until the reclaim floor bounds it */

/**
 * memcg_charge - charge pages to a group and all above it
 * @group:    NULL is the calling thread's group
 * @nr_pages: 1 .. 2^38 - 1
 * @flags:    0 for nowait
 *
 * Context: nowait; may-sleep with MEMCG_MAY_SLEEP. A may-sleep charge is refused
 * only if what lives below the refusing level, with this, would exceed its max (A6).
 * Return: 0; -ENOMEM (memcg_last_refusal() says who refused); -EINVAL for 0, for
 * too many pages, for a force beyond all counting, and for unknown flags, which are looked at
 * when the CPU's stock does not serve. A refused call leaves no trace but the
 * max event and failcnt (A4).
 */
MEMCG_API int memcg_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags);

/**
 * memcg_uncharge - give pages back to the group that was charged
 *
 * From any thread, also after memcg_destroy() while the caller holds a reference.
 * More than was charged is a bug of the caller: it is counted, clamped at each
 * level, and asserted in debug builds. Context: fast, walks the counters when a stock is full.
 */
MEMCG_API void memcg_uncharge(struct memcg *group, unsigned long nr_pages);

/** struct memcg_objcg - the owner that an object stores: outlives its group; charges then belong to the parent. */
struct memcg_objcg;

/**
 * memcg_objcg_get - the owner for objects of a group, with a reference
 *
 * Charged bytes keep an owner alive by themselves; the reference is for holders
 * that have none charged at the moment. Context: fast. NULL for memcg_unaccounted().
 */
MEMCG_API struct memcg_objcg *memcg_objcg_get(struct memcg *group);
MEMCG_API void memcg_objcg_put(struct memcg_objcg *objcg); /* Context: fast; NULL is ignored */

/** memcg_objcg_ref - another reference on an owner that lives: charged bytes or a reference keep it. Context: fast. NULL is NULL. */
MEMCG_API struct memcg_objcg *memcg_objcg_ref(struct memcg_objcg *objcg);

/**
 * memcg_charge_bytes - charge @size bytes for an object
 * @objcg: NULL charges nothing and succeeds
 *
 * Pages are charged underneath; what is left of one stays on the CPU. @size is at
 * most LONG_MAX. Context, flags and errors: as memcg_charge(). Size 0 succeeds.
 */
MEMCG_API int memcg_charge_bytes(struct memcg_objcg *objcg, size_t size, unsigned int flags);

/** memcg_uncharge_bytes - the inverse, from any thread. Context: as memcg_uncharge(). */
MEMCG_API void memcg_uncharge_bytes(struct memcg_objcg *objcg, size_t size);

/**
 * memcg_move_bytes - move charged bytes to another owner
 *
 * Levels at and above the common ancestor are not touched, so that a full
 * ancestor does not refuse, but for one page when a move of part of one leaves both with a part. Return: 0, or as memcg_charge_bytes() with nothing moved.
 */
MEMCG_API int memcg_move_bytes(struct memcg_objcg *from, struct memcg_objcg *to, size_t size, unsigned int flags);

/** memcg_move - the same for pages charged by memcg_charge(). */
MEMCG_API int memcg_move(struct memcg *from, struct memcg *to, unsigned long nr_pages, unsigned int flags);

/**
 * struct memcg_reservation - an amount that is set, not added to
 *
 * For memory whose owner knows its total only (an arena, a hash table).
 * The caller serialises calls on one reservation.
 */
struct memcg_reservation {
	struct memcg_objcg *objcg; /* who pays; holds a reference */
	size_t bytes;              /* charged now */
};

/** memcg_reserve - begin a reservation of 0 bytes. Context: fast. NULL @group is the thread's. */
MEMCG_API void memcg_reserve(struct memcg_reservation *reservation, struct memcg *group);

/**
 * memcg_resize - make the reservation @total bytes; 0 releases the bytes
 *
 * Return: 0, or as memcg_charge_bytes() with the old amount kept.
 */
MEMCG_API int memcg_resize(struct memcg_reservation *reservation, size_t total, unsigned int flags);

/** memcg_unreserve - release bytes and owner. Context: fast. */
MEMCG_API void memcg_unreserve(struct memcg_reservation *reservation);

/** struct memcg_refusal - why the calling thread's last charge was refused */
struct memcg_refusal {
	struct memcg *group;  /* whose limit; as long as the group that was charged lives; NULL: none yet */
	const char *file;     /* which file: "memory.max" */
	unsigned long asked;  /* pages */
	unsigned long margin; /* pages that were left below the limit */
};

/** memcg_last_refusal - of the calling thread. Context: fast. Never NULL. */
MEMCG_API const struct memcg_refusal *memcg_last_refusal(void);

/**
 * memcg_dump - write the tree and its largest groups to a descriptor
 * @top:        NULL for the root
 * @max_groups: how many of the largest to list; 0 for the tree only
 *
 * Allocates nothing and takes no lock: for the refusal path, signal handlers
 * and debuggers. Return: 0; the errno of write(2), negative; -EINVAL for memcg_unaccounted().
 */
MEMCG_API int memcg_dump(int fd, struct memcg *top, unsigned int max_groups);

#ifdef __cplusplus
}
#endif
#endif
