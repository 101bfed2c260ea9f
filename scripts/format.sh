#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--check]: clang-format over every C and C++ file of ours.
set -eu

cd "$(dirname "$0")/.."
files=$(find include src malloc cli bench sim examples tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp')
case ${1-} in
--check) echo "$files" | xargs clang-format --dry-run --Werror ;;
*) echo "$files" | xargs clang-format -i ;;
esac
