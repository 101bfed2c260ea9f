#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# memcg-sim explore: what it prints, what it finds, and that it says the same each time.

sim=$BUILD_BIN/memcg-sim

setup() {
	[ -x "$sim" ] || skip 'memcg-sim is not built here'
	cd "$BATS_TEST_TMPDIR"
}

explore() {
	"$sim" explore "$@" 2>/dev/null
}

# found FAULT TEST PATTERN...: within 10,000 schedules, and the report names the places.
found() {
	local fault=$1 test=$2 pattern
	shift 2
	run explore --test "$test" --fault "$fault" --schedules 10000
	[ "$status" -eq 1 ]
	[[ $output == *"FAILURE in test $test"* ]]
	for pattern in "FAULT +[a-z_]+\(\)" "$@"; do
		grep -qE -- "$pattern" <<<"$output" || { echo "$pattern is not in: $output"; return 1; }
	done
}

@test "every test passes, and the last line counts them" {
	run explore --all --schedules 300
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^explore:\ [0-9]+\ tests,\ [0-9]+\ schedules,\ 0\ failures$ ]]
	[[ $output == *"exhaustive, finished"* ]]
}

@test "--list names the tests that --all runs" {
	run explore --list
	[ "$status" -eq 0 ]
	grep -q '^charge-drain ' <<<"$output"
	grep -q '^fork-charge ' <<<"$output"
}

@test "three runs print the same, byte for byte, with and without address randomisation" {
	explore --all --schedules 200 >first
	explore --test charge-drain --fault early-reopen --schedules 1000 >first-failure || true
	for _ in 1 2; do
		explore --all --schedules 200 | cmp - first
		explore --test charge-drain --fault early-reopen --schedules 1000 | cmp - first-failure
	done
	setarch -R true || skip 'setarch -R is not allowed here'
	for _ in 1 2 3; do
		setarch -R "$sim" explore --all --schedules 200 2>/dev/null | cmp - first
		setarch -R "$sim" explore --test charge-drain --fault early-reopen --schedules 1000 2>/dev/null | cmp - first-failure
	done
}

@test "the number of processes does not change what is found" {
	explore --test two-drains --fault fence-by-cid --schedules 5000 --jobs 1 >one || true
	explore --test two-drains --fault fence-by-cid --schedules 5000 --jobs 4 | cmp - one
}

@test "a failure is replayed from its file" {
	run explore --test bytes-drain --fault early-reopen --schedules 1000
	[ "$status" -eq 1 ]
	run explore --replay explore-bytes-drain.replay
	[ "$status" -eq 1 ]
	[[ $output == *"FAILURE in test bytes-drain"* ]]
	[[ $output == *"planted fault early-reopen"* ]]
	sed -i '/^fault/s/.*/fault none/' explore-bytes-drain.replay
	run explore --replay explore-bytes-drain.replay
	[ "$status" -eq 0 ]
}

@test "fault: a lost store in refill" {
	found lost-store-in-refill charge-preempted 'store +percpu_area.page_slots.* memcg_sim_fast\(\) src/percpu/sim.c'
}

@test "fault: gates opened too early in a drain" {
	found early-reopen two-drains 'store +percpu_area.head.* open_gates\(\) src/charge/drain.c:[0-9]+ < run_drain'
}

@test "fault: no fence in a drain" {
	found no-fence-in-drain charge-drain 'FAULT +fence_all\(\) src/percpu/fence.c:[0-9]+ < drain_fence'
	! grep -q ' fenced ' <<<"$output"
}

@test "fault: a fence by concurrency id" {
	found fence-by-cid charge-drain 'membarrier +fence_all\(\) src/percpu/fence.c:[0-9]+ < drain_fence'
}

@test "fault: a dying group is given a slot" {
	found no-dying-check destroy-charge 'FAULT +place\(\) src/charge/stock_word.c' 'commit .* < slot_commit'
}

@test "fault: freed before the grace period" {
	found no-grace-period zombie 'use after free' 'freed by T3' 'FAULT +run_free\(\) src/group/house.c'
	found no-grace-period events-unlisten 'use after free|closed descriptor' 'FAULT +[a-z_]+\(\) src/stat/notify.c'
}

@test "fault: add, then back off" {
	found add-then-back-off limit-race 'usage <= counter->max' 'rmw +page_counter.word.* src/counter/page_counter.c'
}

@test "fault: an owner's remainder is dropped" {
	found drop-remainder destroy-bytes 'FAULT +[a-z_]+\(\) src/(charge/obj_stock|group/objcg).c'
}

@test "fault: the victim's word is read again" {
	found victim-reread replace-irq 'is interrupted' 'FAULT +slot_place\(\) src/charge/slot.c:[0-9]+ < place'
}

@test "fault: a child is linked after its parent" {
	found child-after-parent stat-preempted 'FAULT +deepest\(\) src/stat/rstat.c:[0-9]+ < flush_below'
}

@test "fault: no fence in a flush" {
	found no-fence-in-flush stat-flush 'FAULT +collect\(\) src/stat/rstat.c'
}

@test "fault: a block is marked before its bits are set" {
	found mark-before-bits stat-preempted 'FAULT +rstat_mark\(\) src/stat/mark.c'
}

@test "fault: the epoch moves on before the marks are taken" {
	found epoch-first stat-flush 'FAULT +collect\(\) src/stat/rstat.c'
}

@test "sequential consistency hides what store buffers show" {
	run explore --test litmus-sb --schedules 1000
	[ "$status" -eq 1 ]
	[[ $output == *"store buffers are needed"* ]]
	run explore --test litmus-sb --schedules 1000 --memory sc
	[ "$status" -eq 0 ]
}

@test "an exhaustive search finishes and says how many schedules" {
	run explore --test litmus-toy --scheduler exhaustive --schedules 1000
	[ "$status" -eq 0 ]
	[[ $output == *"test litmus-toy: 20 schedules (20 exhaustive, finished), ok"* ]]
}

@test "flush: fewer lines are written without the local arrays, each time the same" {
	run "$sim" flush
	[ "$status" -eq 0 ]
	local key kept skipped first=$output
	for key in flush.lines_written flush.lines_written.worker; do
		kept=$(sed -n "s/^$key\.kept=//p" <<<"$output")
		skipped=$(sed -n "s/^$key\.skipped=//p" <<<"$output")
		awk -v a="$kept" -v b="$skipped" 'BEGIN { exit !(b > 0 && b < a) }'
	done
	run "$sim" flush
	[ "$output" = "$first" ]
}

@test "wrong options: one line, exit 2" {
	for options in '' '--bogus' '--test nonesuch' '--all --schedules 0' '--all --schedules x' '--all --cpus 17' \
		'--all --memory arm' '--all --scheduler fair' '--all --fault nonesuch' '--test' '--all extra' \
		'--all --list' '--replay /nonesuch'; do
		# shellcheck disable=SC2086
		run "$sim" explore $options
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}
