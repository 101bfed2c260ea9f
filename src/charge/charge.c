/* SPDX-License-Identifier: MIT */
/* Pages: charge, uncharge, move. */
#include <errno.h>

#include "charge/stock.h"
#include "charge/try_charge.h"
#include "group/house.h"
#include "group/slow.h"

static noinline int charge_slow(struct memcg *group, unsigned long nr, unsigned int flags)
{
	if (!group)
		return memcg_charge(memcg_current(), nr, flags);
	if (!memcg_percpu.rseq && stock_consume(group, nr))
		return 0;
	if (!nr || nr > CHARGE_PAGES_MAX || (flags & ~CHARGE_FLAGS))
		return -EINVAL;
	if (group->unaccounted)
		return 0;
	if (flags & MEMCG_MAY_SLEEP)
		group_control_check();
	return try_charge(group, NULL, nr, flags);
}

static noinline void uncharge_slow(struct memcg *group, unsigned long nr)
{
	if (!group) {
		memcg_uncharge(memcg_current(), nr);
		return;
	}
	if (!memcg_percpu.rseq && stock_refill(group, nr))
		return;
	if (!nr || group->unaccounted)
		return;
	if (nr > CHARGE_PAGES_MAX) {
		atomic_add(&group->memory.underflows, nr);
		return;
	}
	slow_enter();
	stock_return(group, nr);
	slow_leave();
}

int memcg_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	if (likely(group && stock_consume_fast(group, nr_pages)))
		return 0;
	return charge_slow(group, nr_pages, flags);
}

void memcg_uncharge(struct memcg *group, unsigned long nr_pages)
{
	if (likely(group && stock_refill_fast(group, nr_pages)))
		return;
	uncharge_slow(group, nr_pages);
}

int memcg_move(struct memcg *from, struct memcg *to, unsigned long nr_pages, unsigned int flags)
{
	struct memcg *top;
	int err = 0;

	from = from ? from : memcg_current();
	to = to ? to : memcg_current();
	if (!nr_pages || nr_pages > CHARGE_PAGES_MAX || (flags & ~CHARGE_FLAGS))
		return -EINVAL;
	if (from->unaccounted || to->unaccounted) {
		err = memcg_charge(to, nr_pages, flags);
		if (!err)
			memcg_uncharge(from, nr_pages);
		return err;
	}
	top = memcg_of(css_common_ancestor(&from->css, &to->css));
	if (to != top)
		err = try_charge(to, top, nr_pages, flags);
	if (err || from == top)
		return err;
	slow_enter();
	page_counter_uncharge(&from->memory, &top->memory, nr_pages);
	if (memcg_dying(from))
		house_check_zombie(from);
	slow_leave();
	return 0;
}
