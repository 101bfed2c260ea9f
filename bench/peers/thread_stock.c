/* SPDX-License-Identifier: MIT */
/*
 * A thread-local batch of 4 MiB over hierarchical atomics: as fast as charging can
 * be, and wrong by threads x 4 MiB (twice that after much freeing). A thread keeps
 * the stock of one group; another group's charge gives it back. What a thread that
 * ends still holds is lost: a destructor would cost nothing here and is left out.
 */
#include <memcg/charge.h>

#include "tracker.h"

#define BATCH ((4L << 20) >> MEMCG_PAGE_SHIFT)

static __thread struct {
	struct tracker *owner; /* whose pages; NULL: none yet */
	long pages;            /* charged to the owner and not used */
} stock __attribute__((tls_model("initial-exec")));

static void change_owner(struct tracker *owner)
{
	if (stock.owner)
		tracker_uncharge(stock.owner, NULL, stock.pages);
	stock.owner = owner;
	stock.pages = 0;
}

static __attribute__((noinline)) int refill(struct tracker *group, long n)
{
	long batch = n > BATCH ? n : BATCH;
	int err;

	if (stock.owner != group)
		change_owner(group);
	err = tracker_charge(group, batch);
	if (err) {
		batch = n;
		err = tracker_charge(group, n);
	}
	if (!err)
		stock.pages += batch - n;
	return err;
}

static __attribute__((noinline)) void give_back(struct tracker *group, long n)
{
	if (stock.owner != group)
		change_owner(group);
	stock.pages += n;
	if (stock.pages > 2 * BATCH) {
		tracker_uncharge(group, NULL, stock.pages - BATCH);
		stock.pages = BATCH;
	}
}

int memcg_charge(struct memcg *group, unsigned long nr_pages, unsigned int flags)
{
	(void)flags;
	if (__builtin_expect(stock.owner == (struct tracker *)group && stock.pages >= (long)nr_pages, 1)) {
		stock.pages -= (long)nr_pages;
		return 0;
	}
	return refill((struct tracker *)group, (long)nr_pages);
}

void memcg_uncharge(struct memcg *group, unsigned long nr_pages)
{
	if (__builtin_expect(stock.owner == (struct tracker *)group && stock.pages + (long)nr_pages <= 2 * BATCH, 1)) {
		stock.pages += (long)nr_pages;
		return;
	}
	give_back((struct tracker *)group, (long)nr_pages);
}
