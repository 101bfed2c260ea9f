#!/bin/sh
# SPDX-License-Identifier: MIT
# The model of marks and flushes holds in both scenarios, and finds each planted fault.
set -eu
cd "$(dirname "$0")"
exec xargs -P 2 -L 1 ./verify rstat.pml <<'END'
holds -DFLUSH
holds -DDEATH
least|exact -DFLUSH -DEPOCH_FIRST
least|exact -DFLUSH -DMARK_FIRST
least|exact -DFLUSH -DBOTTOM_UP
least|exact -DFLUSH -DNO_FENCE
least|exact -DFLUSH -DCHILD_AFTER_PARENT
reused|exact -DDEATH -DNO_FENCE
reused|exact -DDEATH -DNO_DEAD_CHECK
reused|exact -DDEATH -DNO_GRACE
END
