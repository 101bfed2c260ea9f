/* SPDX-License-Identifier: MIT */
/* All stock below a level back to the counters: as a may-sleep charge that is refused there takes it. */
#ifndef SUPPORT_DRAIN_H
#define SUPPORT_DRAIN_H

#include "charge/drain.h"

static inline void drain_stock(struct memcg *top)
{
	pressure_begin(top);
	pressure_end(top);
}

#endif
