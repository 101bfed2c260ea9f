#!/bin/sh
# SPDX-License-Identifier: MIT
# sqlite_tenants.sh PROGRAM: the scripts of examples/sqlite-tenants answer what sqlite_tenants.expected has: the hoarder is
# refused, its neighbours finish; then limits that are tight, and scripts and options that are wrong.
set -eu

program=$1
tests=$(cd "$(dirname "$0")" && pwd)
examples=$tests/../../examples/sqlite-tenants
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
	[ "$status" -eq "$wanted" ] || die "sqlite-tenants $*: exit status $status, not $wanted"
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

limit=$((8 << 20))
tenants 0 "$examples"/*.sql
sed '/^  memory\.peak /d' "$work/out" >"$work/results"
diff -u "$tests/sqlite_tenants.expected" "$work/results" || die "not what was expected"
[ ! -s "$work/err" ] || die "messages on standard error"
for script in orders paths primes; do
	measure $script
	[ "$peak" -gt 65536 ] && [ "$peak" -le "$limit" ] || die "$script: a peak of $peak"
	[ "$refusals" -eq 0 ] || die "$script: refused $refusals times"
done
measure hoarder
[ "$peak" -gt $((limit * 3 / 4)) ] && [ "$peak" -le "$limit" ] || die "hoarder: a peak of $peak"
[ "$refusals" -gt 0 ] || die "hoarder: never refused"

# What SQLite itself says, where its command is.
if command -v sqlite3 >/dev/null; then
	for script in orders paths primes; do
		sqlite3 :memory: <"$examples/$script.sql" | sed 's/^/  /' >"$work/oracle"
		sed -n "/^tenants\/$script\$/,/^  done/p" "$work/out" | sed '1d;$d' | diff -u "$work/oracle" - ||
			die "$script: not what sqlite3 says"
	done
fi

# Two that are refused: each by its own group.
tenants 0 --max 1M "$examples/hoarder.sql" "$examples/hoarder.sql" "$examples/primes.sql"
has 'refused by memory.max of tenants/hoarder'
has 'refused by memory.max of tenants/hoarder.2'
has '  1229|9973|5736396'

# A limit that leaves no room to begin, and one that changes nothing.
tenants 0 --max 4096 "$examples/primes.sql"
has 'refused by memory.max of tenants/primes'
tenants 0 --max max "$examples/primes.sql"
has '  1229|9973|5736396'

# Other ends: said, and exit status 1; those beside it finish.
echo 'SELECT none FROM nowhere;' >"$work/wrong.sql"
: >"$work/empty.sql"
tenants 1 "$work/wrong.sql" "$work/empty.sql" "$work/none.sql" "$examples/primes.sql"
has '  no such table: nowhere'
has "  cannot read $work/none.sql: No such file or directory"
has "  cannot read $work/empty.sql"
has '  1229|9973|5736396'

# Wrong usage.
tenants 2
tenants 2 --max
tenants 2 --max 1M
tenants 2 --max '' "$examples/primes.sql"
tenants 2 --max much "$examples/primes.sql"
tenants 2 --min 1M "$examples/primes.sql"
