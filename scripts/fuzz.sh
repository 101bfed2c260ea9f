#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh BUILD SECONDS: each fuzz target for so long, from its corpus. What ends one stays in BUILD as crash-*,
# timeout-* or leak-*: move it to tests/fuzz/corpus/<name>/, where the test suite replays it.
set -eu

cd "$(dirname "$0")/.."
build=$1
seconds=$2
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM

for target in tests/fuzz/fuzz_*.c; do
	name=$(basename "$target" .c)
	name=${name#fuzz_}
	echo "fuzz-$name"
	mkdir "$new/$name"
	# What it finds on the way goes to the first folder, not into the tree.
	if ! "$build/tests/fuzz/fuzz-$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=8192 \
		-dict="tests/fuzz/$name.dict" -artifact_prefix="$build/" -print_final_stats=1 \
		"$new/$name" "tests/fuzz/corpus/$name" >"$new/log" 2>&1; then
		cat "$new/log" >&2
		exit 1
	fi
	grep -E 'DONE|number_of_executed_units' "$new/log"
done
