/* SPDX-License-Identifier: MIT */
/* Two counters, one below the other, for each case. */
#ifndef SUPPORT_COUNTERS_H
#define SUPPORT_COUNTERS_H

#include "counter/page_counter.h"
#include "support/child.h"

static struct page_counter root, leaf;

static inline int counters_make(void **state)
{
	(void)state;
	memset(&root, 0, sizeof(root));
	memset(&leaf, 0, sizeof(leaf));
	page_counter_init(&root, NULL);
	page_counter_init(&leaf, &root);
	return 0;
}

static inline bool charge(unsigned long nr)
{
	struct counter_refusal refusal;

	return page_counter_try_charge(&leaf, NULL, nr, &refusal);
}

#endif
