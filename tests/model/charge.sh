#!/bin/sh
# SPDX-License-Identifier: MIT
# The model of climbs holds in every scenario, and finds each planted fault.
set -eu
cd "$(dirname "$0")"
exec xargs -P 2 -L 1 ./verify charge.pml <<'END'
holds -DHOPELESS
holds -DTWO
holds -DFULL
holds -DLOWERED
holds -DCAPPED
max -DHOPELESS -DBACK_OFF
live -DHOPELESS -DASSUME_A3 -DBACK_OFF
doubt -DHOPELESS -DNO_MARK
doubt -DTWO -DNO_GRACE
max -DLOWERED -DNO_VERSION
max -DLOWERED -DNO_WRAP_GRACE
max -DLOWERED -DWRAP_ONCE
max -DLOWERED -DMAX_FIRST
watermark -DHOPELESS -DEARLY_PEAK
watermark -DFULL -DPEAK_READ
doubt -DCAPPED -DMARK_LIMITED
doubt -DTWO -DMARK_HELD
END
