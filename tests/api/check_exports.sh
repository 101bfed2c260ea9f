#!/bin/sh
# SPDX-License-Identifier: MIT
# check_exports.sh LIBRARY: whatever it defines for others is memcg_*@@LIBMEMCG_0; it may not be
# unloaded, has the versioned soname, and its thread-local storage is initial-exec.
set -eu

exports=$(nm -D --defined-only "$1" | awk '{ print $NF }' | grep -v '^LIBMEMCG_[0-9]*$' || true)
stray=$(echo "$exports" | grep -v '^memcg_[a-z0-9_]*@@LIBMEMCG_0$' || true)
[ -n "$exports" ] || { echo "nothing is exported"; exit 1; }
[ -z "$stray" ] || { echo "exported, but not public: $stray"; exit 1; }

dynamic=$(readelf -dW "$1")
for wanted in 'soname: \[libmemcg\.so\.0\]' 'NODELETE' 'BIND_NOW\|Flags:.*NOW'; do
	echo "$dynamic" | grep -q "$wanted" || { echo "missing in the dynamic section: $wanted"; exit 1; }
done
if readelf -rW "$1" | grep -q 'DTPMOD\|TLSDESC'; then
	echo "thread-local storage is not initial-exec"
	exit 1
fi
echo "$(echo "$exports" | wc -l) functions exported"
