/* SPDX-License-Identifier: MIT */
/* What flushes need of marks. All under the stat lock. */
#ifndef STAT_MARK_H
#define STAT_MARK_H

#include "stat/group_stat.h"

void rstat_collect(bool take);              /* links each group that is marked; the bits are taken, or only looked at */
void rstat_unlink(struct group_stat *stat); /* it is flushed */

#endif
