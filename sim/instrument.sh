#!/bin/sh
# SPDX-License-Identifier: MIT
# Links instrumented archives into one relocatable object: its static data in sections of
# their own, its libc calls redirected (redirect.syms).
# usage: instrument.sh LD OBJCOPY SYMS OUTPUT ARCHIVE...
set -eu
ld=$1 objcopy=$2 syms=$3 output=$4
shift 4
"$ld" -r --whole-archive -o "$output.tmp" "$@"
"$objcopy" --redefine-syms="$syms" \
	--rename-section .data=simdata --rename-section .bss=simbss \
	"$output.tmp" "$output"
rm -f "$output.tmp"
