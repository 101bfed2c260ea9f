#!/bin/sh
# SPDX-License-Identifier: MIT
# check_headers.sh INCLUDE_DIR -- CC... [-- CXX...]
# Each public header compiles alone, without warnings: *.h as C11 and C++17, *.hpp as C++17.
set -eu

include=$1
shift 2
cc=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	cc="$cc $1"
	shift
done
[ $# -gt 0 ] && shift
cxx=$*

strict='-pedantic -Wall -Wextra -Werror -fsyntax-only'
bad=0
checked=0

compile() {
	header=$1
	shift
	checked=$((checked + 1))
	if ! printf '#include <memcg/%s>\n#include <memcg/%s>\n' "$header" "$header" |
		"$@" $strict -I "$include" -; then
		echo "not alone compilable: $header by $*" >&2
		bad=$((bad + 1))
	fi
}

for path in "$include"/memcg/*.h; do
	compile "${path##*/}" $cc -x c -std=c11
	[ -z "$cxx" ] || compile "${path##*/}" $cxx -x c++ -std=c++17
done
if [ -n "$cxx" ]; then
	for path in "$include"/memcg/*.hpp; do
		compile "${path##*/}" $cxx -x c++ -std=c++17
	done
fi

echo "$checked compilations, $bad failed"
[ "$checked" -gt 0 ] && [ "$bad" -eq 0 ]
