#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh BUILD: clang-tidy and cppcheck over what BUILD/compile_commands.json compiles, tests apart.
set -eu

build=$1
cd "$(dirname "$0")/.."
files=$(jq -r '.[] | .directory + "/" + .file' "$build/compile_commands.json" | xargs -r realpath | sort -u |
	grep -E "^$PWD/(src|malloc|cli|bench|sim|examples)/.*\.c$" || true)
[ -n "$files" ] || { echo "lint: no sources yet"; exit 0; }

echo "clang-tidy: $(echo "$files" | wc -l) files"
echo "$files" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet \
	--extra-arg=-Wno-unknown-warning-option

# One look per file is enough: the compile database has each source once per stock variant.
echo "cppcheck"
echo "$files" | cppcheck --file-list=- --quiet --error-exitcode=1 --inline-suppr -j "$(nproc)" \
	--std=c11 --language=c --library=gnu --library=posix -D_GNU_SOURCE -D__x86_64__=1 -D__linux__=1 -D__GNUC__=12 -D__cppcheck__=1 \
	-DMEMCG_DEBUG=1 -Iinclude -Isrc -Imalloc -Icli -Ibench -Isim \
	--enable=warning,performance,portability --suppressions-list=scripts/cppcheck.txt
