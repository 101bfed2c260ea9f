#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh BUILD: clang-tidy and cppcheck over what BUILD/compile_commands.json compiles, tests apart. BUILD is set up
# for either compiler; it is compiled no further than headers are made. Prints what is found, and fails then.
set -eu

cd "$(dirname "$0")/.."
build=$1
root=$(pwd -P)
status=0
# One order, one set of rules, whatever the machine's language and number of CPUs.
export LC_ALL=C

"${MESON:-meson}" compile -C "$build" bench_data.h >/dev/null
# What only gcc knows, clang-tidy takes for an error.
mkdir -p "$build/lint"
sed 's/ -mstringop-strategy=[a-z]*//g' "$build/compile_commands.json" >"$build/lint/compile_commands.json"
files=$(jq -r '.[] | if .file | startswith("/") then .file else .directory + "/" + .file end' "$build/compile_commands.json" | tr '\n' '\0' | xargs -0 realpath | sort -u |
	awk -v root="$root/" 'index($0, root) == 1 && substr($0, length(root) + 1) ~ /^(src|malloc|cli|bench|sim|examples)\/.*\.c$/')
[ -n "$files" ] || { echo "lint: $build compiles no source of ours" >&2; exit 1; }

# A file at a time, its findings in one piece and once: it is in the database for each variant. What clang-tidy counts
# in system headers is not shown.
tidy='
	found=$(clang-tidy -p "$0" --quiet --extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-Wno-unused-command-line-argument "$1" 2>&1) && exit
	echo "$found" | grep -Ev "^[0-9]+ (warning|error)s?( and [0-9]+ errors?)? generated\.|warnings? treated as errors?$" |
		awk "!seen[\$0]++"
	exit 1'
echo "clang-tidy: $(echo "$files" | wc -l) files"
echo "$files" | tr '\n' '\0' | xargs -0 -P "$(nproc)" -n 1 sh -c "$tidy" "$build/lint" || status=1

# By one process: several would leave out what is seen across files.
echo "cppcheck: the same files"
echo "$files" | cppcheck --file-list=- --quiet --error-exitcode=1 --inline-suppr -j 1 \
	--std=c11 --language=c --library=gnu --library=posix -D_GNU_SOURCE -D__x86_64__=1 -D__linux__=1 -D__GNUC__=12 -D__cppcheck__=1 \
	-DMEMCG_DEBUG=1 -Iinclude -Isrc -Imalloc -Icli -Ibench -Isim \
	--enable=warning,performance,portability --suppressions-list=scripts/cppcheck.txt || status=1
exit $status
