#!/bin/sh
# SPDX-License-Identifier: MIT
# check_manual.sh LIBRARY PAGE: each function that the library exports is in its manual page, and each that is
# in the page is exported.
set -eu

exports=$(nm -D --defined-only "$1" | sed -n 's/.* \(memcg_[a-z0-9_]*\)@.*/\1/p' | sort)
named=$(grep -o 'memcg_[a-z0-9_]*' "$2" | sort -u)
[ -n "$exports" ] || { echo "nothing is exported"; exit 1; }
bad=0

for name in $exports; do
	echo "$named" | grep -qx "$name" || { echo "exported, and not in the manual: $name"; bad=1; }
done
for name in $(sed -n 's/^\.It Fn \(memcg_[a-z0-9_]*\).*/\1/p' "$2"); do
	echo "$exports" | grep -qx "$name" || { echo "in the manual, and not exported: $name"; bad=1; }
done
[ "$bad" -eq 0 ] && echo "$(echo "$exports" | wc -l) names are in the manual"
