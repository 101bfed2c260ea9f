# SPDX-License-Identifier: MIT
# That each bench runs and prints its keys. No figure is asserted: machines are shared, and a
# test that is sometimes wrong is soon ignored.

bats_require_minimum_version 1.5.0

bench() {
	run -"${1}" --separate-stderr "$BUILD_BIN/memcg-bench" "${@:2}"
}

# Each key on one line, a number after it.
has_keys() {
	local key
	for key; do
		grep -Eq "^${key//./\\.}=[0-9.]+$" <<<"$output" || { echo "no $key in: $output"; return 1; }
	done
}

# The same with the interval around.
has_ratios() {
	local key
	for key; do
		has_keys "$key" "$key.ci_low" "$key.ci_high"
	done
}

@test "misuse is one line and exit 2" {
	local args
	for args in "" "nosuch" "charge --nosuch" "charge extra" "charge --pairs" "charge --pairs 6" "charge --pairs 1x" \
		"charge --pairs -9" "switch --only nosuch"; do
		# shellcheck disable=SC2086
		bench 2 $args
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "help" {
	bench 0 --help
	[[ "$output" == *charge*switch*malloc* ]]
}

@test "charge: keys" {
	bench 0 charge --quick --pairs 7
	has_ratios charge.ratio.memcg_over_{thread_stock,atomic_tree,mutex_tree,locked,deferred}.{1t,2t} \
		charge.ratio.portable_over_atomic_tree.1t charge.ratio.2t_over_1t charge.ratio.64t_over_2t.{same,own} \
		charge.ratio.edge_over_instock.{swing,worst} charge_inline.ratio.memcg_over_atomic_tree.1t
	has_keys charge.ns.{memcg,locked,deferred,portable,thread_stock,atomic_tree,mutex_tree,empty}.{1t,2t}
	[[ "$output" != *skipped* ]]
}

@test "switch: keys, and the bound holds" {
	bench 0 switch --quick --pairs 7
	has_ratios switch.ratio.7groups_over_1 switch.ratio.50groups_over_1.{1t,2t}
	has_keys switch.phantom_bytes_per_cpu{,.seen,.option,.option_seen}
	[ "$(sed -n 's/^switch.phantom_bytes_per_cpu=//p' <<<"$output")" -le 8388608 ]
}

@test "control: keys" {
	bench 0 control --quick --pairs 7
	has_ratios control.ratio.charges_per_cpu_second.hammered_over_quiet
	has_keys control.requests_per_second control.hammered_seconds control.cpu_share.{server,clients}
}

@test "malloc: keys" {
	[ -e "$BUILD_LIB/libmemcg-malloc.so" ] || skip "no libmemcg-malloc.so"
	bench 0 malloc --quick --pairs 7
	has_ratios malloc.ratio.preload_over_libc.64B
	local name
	for name in sqlite python lua; do
		has_ratios "malloc.ratio.$name" || grep -q "^malloc.skipped.$name=not installed" <<<"$output"
	done
}

@test "stat: keys" {
	bench 0 stat --quick --pairs 7
	has_ratios stat.ratio.update_over_rseq_add.{1t,1t_noflush} stat.ratio.2t_over_1t
	has_keys stat.ns.{update.1t,update.1t_noflush,rseq_add.1t}
}

@test "flush: keys" {
	bench 0 flush --quick --pairs 7
	has_ratios flush.{reader,worker}.ratio.{aggregate,whole}.skipped_over_kept flush.ratio.100k_idle_groups_over_none
	has_keys flush.{reader,worker}.items_changed_median
}

@test "json has the same keys" {
	command -v jq >/dev/null || skip "no jq"
	bench 0 switch --quick --pairs 7 --only bound
	local text=$output
	bench 0 switch --quick --pairs 7 --only bound --json
	[ "$(jq -r 'keys_unsorted[]' <<<"$output")" = "$(cut -d= -f1 <<<"$text")" ]
}

@test "a library that is not there is said" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$BUILD_BIN/memcg-bench" "$BATS_TEST_TMPDIR/bin/"
	run --separate-stderr "$BATS_TEST_TMPDIR/bin/memcg-bench" malloc --quick --only lua --libdir /nonexistent
	[ "$status" -ne 0 ] || skip "a library is installed on this machine"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *libmemcg* ]]
}
