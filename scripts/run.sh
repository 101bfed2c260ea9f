#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD: what "make run" shows.
set -eu

cd "$(dirname "$0")/.."
build=$1
tenants=$build/examples/lua-tenants/lua-tenants

if [ -x "$build/bin/memcg" ] && [ -x "$tenants" ]; then
	exec "$build/bin/memcg" run --report text -- "$tenants" examples/lua-tenants/*.lua
fi
exec "$build/examples/embed"
