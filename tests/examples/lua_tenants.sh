#!/bin/sh
# SPDX-License-Identifier: MIT
# lua_tenants.sh PROGRAM: the scripts of examples/lua-tenants say what lua_tenants.expected has, the runaway
# is refused, its neighbours are not; then limits that are tight, and scripts and options that are wrong.
set -eu

program=$1
tests=$(cd "$(dirname "$0")" && pwd)
examples=$tests/../../examples/lua-tenants
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

die() {
	echo "$*"
	cat "$work/out" "$work/err"
	exit 1
}

# tenants STATUS ARGS...: run, and expect this exit status. Emulated where the build says so.
tenants() {
	wanted=$1 status=0
	shift
	${MESON_EXE_WRAPPER-} "$program" "$@" >"$work/out" 2>"$work/err" || status=$?
	[ "$status" -eq "$wanted" ] || die "lua-tenants $*: exit status $status, not $wanted"
}

has() {
	grep -qF -- "$1" "$work/out" || die "missing: $1"
}

# measure TENANT: sets peak, refusals and left from its line of numbers.
measure() {
	numbers=$(sed -n "/^tenants\/$1\$/,/^  memory\.peak/s/^  memory\.peak//p" "$work/out" | tr -dc '0-9 ')
	set -- $numbers
	[ $# -eq 3 ] || die "no numbers of a tenant: $numbers"
	peak=$1 refusals=$2 left=$3
	[ "$left" -eq 0 ] || die "$left bytes left behind"
}

# The real scripts.
limit=$((16 << 20))
tenants 0 --max 16M "$examples"/*.lua
sed '/^  memory\.peak /d' "$work/out" >"$work/results"
diff -u "$tests/lua_tenants.expected" "$work/results" || die "not what was expected"
[ ! -s "$work/err" ] || die "messages on standard error"
for script in json lru sieve sudoku words; do
	measure "$script.lua"
	[ "$peak" -gt 65536 ] && [ "$peak" -le "$limit" ] || die "$script: a peak of $peak"
	[ "$refusals" -eq 0 ] || die "$script: refused $refusals times"
done
measure runaway.lua
[ "$peak" -gt $((limit * 3 / 4)) ] && [ "$peak" -le "$limit" ] || die "runaway: a peak of $peak"
[ "$refusals" -gt 0 ] || die "runaway: never refused"

# Near its limit a script collects its garbage, and goes on.
tenants 0 --max 4M --keep "$examples/lru.lua"
has '  returned: 108571 hits'
measure lru.lua
[ "$refusals" -gt 0 ] || die "lru: never refused below 4M"

# A limit that leaves no room to begin, and one that changes nothing.
tenants 0 --max 4096 "$examples/json.lua" "$examples/json.lua"
has 'refused by memory.max of tenants/json.lua: no room to begin'
has 'refused by memory.max of tenants/json.lua.2: no room to begin'
tenants 0 --max max "$examples/json.lua"
has '  returned: checksum 5459c097'

# Other ends of a script: said, and exit status 1; those beside it finish.
echo 'error({})' >"$work/table.lua"
echo 'print(1, nil, "two") error("three")' >"$work/text.lua"
echo 'return return' >"$work/syntax.lua"
echo 'return os or io or require or "no way out"' >"$work/shut.lua"
echo 'local ok, why = pcall(string.rep, "x", 1 << 24) return why' >"$work/caught.lua"
tenants 1 "$work/table.lua" "$work/text.lua" "$work/syntax.lua" "$work/none.lua" "$work/shut.lua" "$work/caught.lua"
has '  failed: (no text)'
has "  | 1	nil	two"
has 'text.lua:1: three'
has 'syntax.lua:1: '
has "cannot open $work/none.lua"
has '  returned: no way out'
has '  returned: not enough memory'
measure caught.lua
[ "$refusals" -gt 0 ] || die "caught.lua: never refused"

# Wrong usage.
tenants 2
tenants 2 --max
tenants 2 --max '' "$examples/json.lua"
tenants 2 --max much "$examples/json.lua"
tenants 2 --min 1M "$examples/json.lua"
tenants 2 "$examples/"
