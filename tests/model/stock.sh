#!/bin/sh
# SPDX-License-Identifier: MIT
# The model of stock and drains holds in every scenario and both forms, and finds each planted fault.
set -eu
cd "$(dirname "$0")"
exec xargs -P 2 -L 1 ./verify stock.pml <<'END'
holds -DPRESSURE
holds -DPRESSURE -DLIMIT=3
holds -DCLIMB -DLIMIT=3
holds -DSLEEPERS
holds -DDYING
holds -DIDLE
holds -DLOWER
holds -DPORTABLE -DPRESSURE
holds -DPORTABLE -DCLIMB -DLIMIT=3
holds -DPORTABLE -DSLEEPERS
holds -DPORTABLE -DDYING
holds -DPORTABLE -DIDLE
holds -DPORTABLE -DLOWER
usage==.*live -DPRESSURE -DNO_FENCE
drained -DDYING -DNO_FENCE
clean -DPORTABLE -DPRESSURE -DNO_FENCE
drained -DPORTABLE -DDYING -DNO_FENCE
usage==|room>= -DIDLE -DEARLY_REOPEN
usage==|room>= -DPRESSURE -DEARLY_REOPEN
usage==|room>= -DPRESSURE -DNOT_AWAY
clean -DPRESSURE -DASK_FIRST
justified -DPRESSURE -DLIMIT=3 -DASSUME_G1 -DASK_FIRST
drained -DDYING -DASK_FIRST
clean -DPRESSURE -DNO_GRACE
justified -DPRESSURE -DASSUME_G1 -DNO_GRACE
freed -DDYING -DNO_GRACE
freed -DDYING -DFREE_AT_ONCE
drained -DDYING -DNO_DYING_CHECK
clean -DPRESSURE -DNO_PRESSURE_CHECK
clean -DPRESSURE -DPLACE_LINGERING
justified -DPRESSURE -DLIMIT=3 -DASSUME_G1 -DEND_HELD
usage== -DIDLE -DVICTIM_REREAD
room>= -DIDLE -DTAKE_OPEN
drained -DDYING -DTOUCH_LATE
justified -DCLIMB -DLIMIT=3 -DNO_MARK
room>= -DPRESSURE -DROOM_LATE
lowered -DLOWER -DROOM_STALE
END
