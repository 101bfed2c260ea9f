/* SPDX-License-Identifier: MIT */
/*
 * Bytes: charge, uncharge, move, reservations.
 *
 * The owner that a caller has may be dead (its group destroyed): the nearest living
 * ancestor's pays and is credited, and the dead ones only count what is still theirs.
 */
#include "charge/bytes.h"

#include <errno.h>
#include <limits.h>

#include "charge/try_charge.h"
#include "group/house.h"
#include "group/slow.h"

static unsigned long pages_for(size_t size)
{
	return (size + MEMCG_PAGE_SIZE - 1) / MEMCG_PAGE_SIZE;
}

/* Slow section: @pages were charged to @living's group for @size bytes; the rest is stock. */
static void account(struct memcg_objcg *objcg, struct memcg_objcg *living, unsigned long pages, size_t size)
{
	bytes_count_pages(living, (int64_t)pages);
	objcg_note_dead(objcg, living, (int64_t)size);
	bytes_return(living, pages * MEMCG_PAGE_SIZE - size);
}

/* Slow section. True: charged. False with @living for what comes next. */
static bool charge_here(struct memcg_objcg *objcg, size_t size, struct memcg_objcg **living,
			struct counter_refusal *refusal)
{
	unsigned long pages = pages_for(size), batch;

	*living = objcg_living(objcg);
	if (bytes_take(*living, size)) {
		objcg_note_dead(objcg, *living, (int64_t)size);
		return true;
	}
	batch = bytes_batch(*living, pages);
	if (batch > pages && charge_nowait((*living)->memcg, NULL, batch, refusal))
		pages = batch;
	else if (!charge_nowait((*living)->memcg, NULL, pages, refusal))
		return false;
	account(objcg, *living, pages, size);
	return true;
}

/*
 * The pages were refused at once; try with @flags outside the section. 1: charged; 0: the group was destroyed
 * meanwhile and the pages are back, look again; negative errno. Takes over the reference on @memcg.
 */
static int charge_away(struct memcg_objcg *objcg, struct memcg *memcg, size_t size, unsigned int flags,
		       struct charge_tries *tries)
{
	unsigned long pages = pages_for(size);
	int ret = charge_try(memcg, NULL, pages, flags, tries);

	if (!ret) {
		struct memcg_objcg *living;

		slow_enter();
		living = objcg_living(objcg);
		ret = living->memcg == memcg;
		if (ret)
			account(objcg, living, pages, size);
		else
			stock_return(memcg, pages);
		slow_leave();
	}
	memcg_put(memcg);
	return ret;
}

static int bytes_try(struct memcg_objcg *objcg, size_t size, unsigned int flags, struct charge_tries *tries)
{
	int ret = 0;

	if (pages_for(size) > CHARGE_PAGES_MAX)
		return -ENOMEM;
	while (!ret) {
		struct counter_refusal refusal;
		struct memcg_objcg *living;
		struct memcg *memcg;

		slow_enter();
		if (charge_here(objcg, size, &living, &refusal)) {
			slow_leave();
			return 0;
		}
		memcg = living->memcg;
		if (!flags) {
			charge_met(tries, &refusal, pages_for(size));
			ret = charge_failed(tries);
			slow_leave();
			return ret;
		}
		memcg = css_tryget(&memcg->css) ? memcg : NULL;
		slow_leave();
		if (memcg)
			ret = charge_away(objcg, memcg, size, flags, tries);
	}
	return ret < 0 ? ret : 0;
}

noinline int bytes_charge_slow(struct memcg_objcg *objcg, size_t size, unsigned int flags)
{
	struct charge_tries tries = { 0 };

	if (!size)
		return 0;
	if (size > LONG_MAX || (flags & ~CHARGE_FLAGS))
		return -EINVAL;
	if (!memcg_percpu.rseq && bytes_consume(objcg, size))
		return 0;
	if (flags & MEMCG_MAY_SLEEP)
		group_control_check();
	return bytes_try(objcg, size, flags, &tries);
}

noinline void bytes_uncharge_slow(struct memcg_objcg *objcg, size_t size)
{
	struct memcg_objcg *living;

	if (!size || (!memcg_percpu.rseq && bytes_refill(objcg, size)))
		return;
	slow_enter();
	living = objcg_living(objcg);
	bytes_return(living, size);
	objcg_note_dead(objcg, living, -(int64_t)size);
	slow_leave();
}

int memcg_charge_bytes(struct memcg_objcg *objcg, size_t size, unsigned int flags)
{
	return objcg && size ? bytes_charge(objcg, size, flags) : 0;
}

void memcg_uncharge_bytes(struct memcg_objcg *objcg, size_t size)
{
	if (objcg && size)
		bytes_uncharge(objcg, size);
}

/* A move of whole pages under the common ancestor. */
struct page_move {
	struct memcg_objcg *from; /* living, when the move began */
	struct memcg_objcg *to;   /* the same */
	struct memcg *payer;      /* group of from, referenced */
	struct memcg *receiver;   /* group of to, referenced */
	struct memcg *top;        /* their common ancestor, whose level is not touched */
	unsigned long pages;      /* that go over */
	size_t odd;               /* bytes of them that were not the mover's: taken from from's stock, become to's */
};

/* Slow section. False: the move needs a page that from cannot spare. */
static bool move_begin(struct page_move *move, struct memcg_objcg *from, struct memcg_objcg *to, size_t size)
{
	move->from = objcg_living(from);
	move->to = objcg_living(to);
	move->pages = pages_for(size);
	move->odd = move->pages * MEMCG_PAGE_SIZE - size;
	move->payer = move->from->memcg;
	move->receiver = move->to->memcg;
	if (move->odd && !bytes_take(move->from, move->odd))
		return false;
	if (css_tryget(&move->payer->css)) {
		if (css_tryget(&move->receiver->css)) {
			move->top = memcg_of(css_common_ancestor(&move->payer->css, &move->receiver->css));
			return true;
		}
		memcg_put(move->payer);
	}
	bytes_return(move->from, move->odd);
	return false;
}

/* Slow section; the receiver's levels are charged. False: an owner died meanwhile, all is undone. */
static bool move_end(struct page_move *move, struct memcg_objcg *from, struct memcg_objcg *to, size_t size)
{
	struct page_counter *top = &move->top->memory;

	if (load_seq(&move->from->dead) || load_seq(&move->to->dead)) {
		page_counter_uncharge(&move->receiver->memory, top, move->pages);
		return false;
	}
	bytes_count_pages(move->from, -(int64_t)move->pages);
	bytes_count_pages(move->to, (int64_t)move->pages);
	page_counter_uncharge(&move->payer->memory, top, move->pages);
	objcg_note_dead(from, move->from, -(int64_t)size);
	objcg_note_dead(to, move->to, (int64_t)size);
	if (move->odd)
		bytes_return(move->to, move->odd);
	return true;
}

/* True: moved. False: nothing is changed. */
static bool move_pages(struct memcg_objcg *from, struct memcg_objcg *to, size_t size, unsigned int flags,
		       struct charge_tries *tries)
{
	struct page_move move;
	int err = 0;
	bool done;

	slow_enter();
	done = move_begin(&move, from, to, size);
	slow_leave();
	if (!done)
		return false;
	if (move.receiver != move.top)
		err = charge_try(move.receiver, move.top, move.pages, flags, tries);
	slow_enter();
	done = !err && move_end(&move, from, to, size);
	if (!done && move.odd) {
		struct memcg_objcg *living = objcg_living(move.from);

		/* An owner that died in between was settled with these among its objects' bytes. */
		bytes_return(living, move.odd);
		objcg_note_dead(move.from, living, -(int64_t)move.odd);
	}
	slow_leave();
	memcg_put(move.payer);
	memcg_put(move.receiver);
	return done;
}

static bool same_payer(struct memcg_objcg *from, struct memcg_objcg *to, size_t size)
{
	struct memcg_objcg *living;
	bool same;

	slow_enter();
	living = objcg_living(from);
	same = living == objcg_living(to);
	if (same) {
		objcg_note_dead(to, living, (int64_t)size);
		objcg_note_dead(from, living, -(int64_t)size);
	}
	slow_leave();
	return same;
}

/* Who pays for @objcg now, referenced. Those above live as long, and who pays when it has died is one of them. */
static struct memcg *payer_get(struct memcg_objcg *objcg)
{
	struct memcg *memcg;

	slow_enter();
	memcg = memcg_get(objcg_living(objcg)->memcg);
	slow_leave();
	return memcg;
}

static int move_or_charge(struct memcg_objcg *from, struct memcg_objcg *to, size_t size, unsigned int flags,
			  struct charge_tries *tries)
{
	int err;

	if (move_pages(from, to, size, flags, tries))
		return 0;
	err = bytes_try(to, size, flags, tries);
	if (!err)
		memcg_uncharge_bytes(from, size);
	/* That may have waited, and drained: what the payer could not spare before is in its residue now. */
	if (err == -ENOMEM && (flags & MEMCG_MAY_SLEEP) && move_pages(from, to, size, flags, tries))
		return 0;
	return err;
}

static int move_between(struct memcg_objcg *from, struct memcg_objcg *to, size_t size, unsigned int flags)
{
	struct charge_tries tries = { .later = true };
	struct memcg *receiver;
	int err;

	if (same_payer(from, to, size))
		return 0;
	receiver = payer_get(to);
	err = move_or_charge(from, to, size, flags, &tries);
	if (err == -ENOMEM && tries.last.counter)
		charge_refused(&tries);
	memcg_put(receiver);
	return err;
}

int memcg_move_bytes(struct memcg_objcg *from, struct memcg_objcg *to, size_t size, unsigned int flags)
{
	int err;

	if (size > LONG_MAX || (flags & ~CHARGE_FLAGS))
		return -EINVAL;
	if (from == to || !size)
		return 0;
	if (from && to)
		return move_between(from, to, size, flags);
	err = memcg_charge_bytes(to, size, flags);
	if (!err)
		memcg_uncharge_bytes(from, size);
	return err;
}

void memcg_reserve(struct memcg_reservation *reservation, struct memcg *group)
{
	reservation->objcg = memcg_objcg_get(group);
	reservation->bytes = 0;
}

int memcg_resize(struct memcg_reservation *reservation, size_t total, unsigned int flags)
{
	size_t now = reservation->bytes;
	int err = 0;

	if (total > LONG_MAX)
		return -EINVAL;
	if (total > now)
		err = memcg_charge_bytes(reservation->objcg, total - now, flags);
	else
		memcg_uncharge_bytes(reservation->objcg, now - total);
	if (!err)
		reservation->bytes = total;
	return err;
}

void memcg_unreserve(struct memcg_reservation *reservation)
{
	memcg_uncharge_bytes(reservation->objcg, reservation->bytes);
	memcg_objcg_put(reservation->objcg);
	reservation->objcg = NULL;
	reservation->bytes = 0;
}
