/* SPDX-License-Identifier: MIT */
/*
 * Owners of objects.
 *
 * For a living owner: pages charged for bytes = sum of owner_pages over the areas + moved_pages,
 * and that many bytes are in objects, in byte slots, or the residue. No count is kept
 * per object.
 *
 * Death. `dead` is set when the group is destroyed; slow sections that began later charge and
 * uncharge the nearest living ancestor's owner instead, and note the bytes in `live` of each
 * dead owner on the way. After the drain and a grace period nothing moves the sums any
 * more: bytes still in objects = pages * 4096 - residue. They are added to `live`, whose bias goes, and
 * pages and residue become the parent's. When live reaches 0 the bytes' reference goes.
 *
 * Number. The fast path finds an owner's slot by its number, and does not ask whether it is
 * dead. So the number is not another's while anybody may still charge or uncharge through it (A5),
 * that is until the owner itself is freed. Its blocks in the areas are zeroed when it is settled;
 * 8 bytes an area wait for the last object.
 *
 * The parent's owner may be dead too, and not settled yet: it is later in the same queue.
 *
 * Between death and drain the fast path still finds the dead owner's slots, so bytes that were
 * charged to an ancestor after death may land in one. They are real, but their pages are the
 * ancestor's: of a dead owner no page is given back for bytes. What would be waits in its residue,
 * which then exceeds a page, until the settling above hands it to where the pages are. Who may not be refused
 * for such pages asks objcg_withholding, and has the settling done (A6).
 */
#include <errno.h>

#include "base/mem.h"
#include "base/rcu.h"
#include "base/sim.h"
#include "group/group.h"
#include "group/house.h"
#include "group/objcg.h"
#include "group/stat.h"
#include "percpu/area.h"

struct id_table objcg_ids;
uint64_t objcg_withholding;

int objcg_create(struct memcg *memcg)
{
	struct memcg_objcg *objcg = mem_zalloc(sizeof(*objcg));
	uint32_t id, generation;
	int err;

	if (!objcg)
		return -ENOMEM;
	err = id_alloc(&objcg_ids, &id, &generation);
	if (err) {
		mem_free(objcg);
		return err;
	}
	objcg->fast.owner = (uint64_t)id << 32;
	objcg->fast.set = offsetof(struct percpu_area, byte_slots) +
			  (size_t)(id % BYTE_SETS) * MEMCG_STOCK_WAYS * sizeof(uint64_t);
	objcg->memcg = memcg;
	objcg->refs = 2; /* the group's, and that of live bytes */
	if (memcg->css.parent) {
		objcg->parent = memcg_of(memcg->css.parent)->objcg;
		__atomic_fetch_add(&objcg->parent->refs, 1, __ATOMIC_RELAXED);
	}
	memcg->objcg = objcg;
	sim_name_field(objcg, objcg, residue);
	sim_name_field(objcg, objcg, moved_pages);
	sim_name_field(objcg, objcg, live);
	sim_name_field(objcg, objcg, refs);
	sim_name_field(objcg, objcg, dead);
	id_publish(&objcg_ids, id, objcg);
	return 0;
}

void objcg_kill(struct memcg_objcg *objcg)
{
	store_seq(&objcg->live, OBJCG_BIAS);
	store_seq(&objcg->dead, 1);
}

void objcg_put_ref(struct memcg_objcg *objcg)
{
	if (atomic_sub(&objcg->refs, 1) == 0)
		house_free_objcg(objcg);
}

int64_t objcg_pages(const struct memcg_objcg *objcg)
{
	uint32_t id = objcg_id(objcg);
	int64_t pages = load_relaxed(&objcg->moved_pages);
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		if (percpu_touched(i))
			pages += load_relaxed(&percpu_area(i)->owner_pages[id]);
	}
	return pages;
}

unsigned long objcg_add_residue(struct memcg_objcg *objcg, unsigned long bytes)
{
	int64_t old = load_relaxed(&objcg->residue);
	int64_t sum;

	do {
		sum = old + (int64_t)bytes;
	} while (!atomic_cas(&objcg->residue, &old, sum % (int64_t)MEMCG_PAGE_SIZE));
	return objcg_may_give(objcg, (unsigned long)sum / MEMCG_PAGE_SIZE);
}

/* After the pages' bytes were taken from where they were: what lands there after death is seen to be late. */
unsigned long objcg_may_give(struct memcg_objcg *objcg, unsigned long pages)
{
	if (!pages || !load_seq(&objcg->dead))
		return pages;
	atomic_add(&objcg->residue, (int64_t)(pages * MEMCG_PAGE_SIZE));
	if (!atomic_xchg(&objcg->withholds, 1))
		atomic_add(&objcg_withholding, 1);
	return 0;
}

void objcg_note_dead(struct memcg_objcg *objcg, const struct memcg_objcg *living, int64_t bytes)
{
	while (objcg != living) {
		struct memcg_objcg *parent = objcg->parent;
		int64_t live = atomic_add(&objcg->live, bytes);

		if (bytes > 0 && live == bytes)
			__atomic_fetch_add(&objcg->refs, 1, __ATOMIC_RELAXED);
		if (bytes < 0 && live == 0)
			objcg_put_ref(objcg);
		objcg = parent;
	}
}

static void zero_blocks(uint32_t id)
{
	unsigned int i;

	for (i = 0; i < percpu_nr; i++) {
		if (percpu_touched(i))
			store_relaxed(&percpu_area(i)->owner_pages[id], 0);
	}
}

void objcg_reparent(struct memcg_objcg *objcg)
{
	struct memcg_objcg *parent = objcg->parent;
	struct memcg *memcg = objcg->memcg;
	int64_t pages = objcg_pages(objcg);
	int64_t residue = atomic_xchg(&objcg->residue, 0);
	unsigned long whole;

	/* More was uncharged than charged: the callers' bug, which has been given to them already. */
	memcg_debug(pages >= 0 && residue >= 0);
	if (unlikely(pages < 0)) {
		atomic_add(&memcg->memory.underflows, (unsigned long)-pages);
		memcg_mod_heap(memcg, -(long)pages);
		pages = 0;
	}
	whole = objcg_add_residue(parent, (unsigned long)residue);
	atomic_add(&parent->moved_pages, pages - (int64_t)whole);
	page_counter_uncharge(&memcg->memory, memcg->memory.parent, (unsigned long)pages);
	if (whole) {
		memcg_mod_heap(parent->memcg, -(long)whole);
		page_counter_uncharge(&parent->memcg->memory, NULL, whole);
		/* A parent that is dead too may have waited for just this. */
		house_check_zombie(parent->memcg);
	}
	if (atomic_xchg(&objcg->withholds, 0))
		atomic_sub(&objcg_withholding, 1);
	zero_blocks(objcg_id(objcg));
	if (atomic_add(&objcg->live, pages * (int64_t)MEMCG_PAGE_SIZE - residue - OBJCG_BIAS) == 0)
		objcg_put_ref(objcg);
}

struct memcg_objcg *memcg_objcg_get(struct memcg *group)
{
	struct memcg_objcg *objcg = (group ? group : memcg_current())->objcg;

	if (objcg)
		__atomic_fetch_add(&objcg->refs, 1, __ATOMIC_RELAXED);
	return objcg;
}

struct memcg_objcg *memcg_objcg_ref(struct memcg_objcg *objcg)
{
	if (objcg)
		__atomic_fetch_add(&objcg->refs, 1, __ATOMIC_RELAXED);
	return objcg;
}

void memcg_objcg_put(struct memcg_objcg *objcg)
{
	if (objcg)
		objcg_put_ref(objcg);
}
