#!/bin/sh
# SPDX-License-Identifier: MIT
# layouts.sh: docs/layouts.md on stdout: the three layouts of a group's part on a node, as pahole sees them. Needs gcc and pahole
# (package dwarves).
set -eu

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seen() {
	pahole -F dwarf -C "$2" "$work/$1.o" | grep -v '^$'
}

for layout in BASE PAIRED ALIGNED; do
	"${CC:-gcc}" -g -c -std=gnu11 -D_GNU_SOURCE -DMEMCG_LAYOUT=MEMCG_LAYOUT_$layout -Iinclude -Isrc src/group/per_node.c -o "$work/$layout.o"
done

cat <<'TEXT'
# Layouts of a group's part on a node

What pahole shows of `src/group/per_node.h`, whose head says what the parts are for. Offsets and sizes in bytes, x86-64, gcc 12; printed by
`scripts/layouts.sh`. Static assertions in that header fail the build where a part that is only read and one that is written
come to share a pair of lines.

| layout | begins on | list heads are next to what each update reads | counts share a pair with | size |
|---|---|---|---|---|
TEXT
row() {
	size=$(seen "$1" mem_cgroup_per_node | sed -n 's:.*/\* size\: \([0-9]*\),.*:\1:p')
	echo "| \`$2\` | $3 | $4 | $5 | $size |"
}
row BASE base '64' 'yes' 'the cold part'
row PAIRED paired '64' 'no' 'the node pointer of the lruvec'
row ALIGNED aligned '128' 'no' 'nothing'

cat <<'TEXT'

So where an object begins a pair of lines. Objects that are aligned to 64 bytes may begin in the middle of one: then what each update
reads is next to the end of the neighbour, and `paired` is no better than `base`.
TEXT

for layout in BASE PAIRED ALIGNED; do
	printf '\n## %s\n\n```\n' "$(echo $layout | tr '[:upper:]' '[:lower:]')"
	seen $layout mem_cgroup_per_node
	seen $layout lruvec
	echo '```'
done

printf '\n## Parts that are the same in all three\n\n```\n'
seen ALIGNED per_node_read
seen ALIGNED per_node_cold
seen ALIGNED per_node_hot
echo '```'
