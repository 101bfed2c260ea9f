#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD: what "make run" shows: tenants with a limit each, in a process whose groups the command reports.
set -eu

cd "$(dirname "$0")/.."
build=$1
command=$build/bin/memcg
tenants=$build/examples/lua-tenants/lua-tenants

if [ ! -x "$tenants" ]; then
	echo "run.sh: without Lua 5.4 there is no lua-tenants; a smaller example instead" >&2
	exec "$build/examples/embed"
fi
set -- "$tenants" --max 16M --keep examples/lua-tenants/*.lua
[ ! -x "$command" ] || set -- "$command" run --report text -- "$@"
echo "$@"
exec "$@"
