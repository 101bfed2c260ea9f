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

# refused PATTERN OPTION...: exit 2, and one line that has the pattern.
refused() {
	local pattern=$1
	shift
	run "$sim" "$@"
	if [ "$status" -ne 2 ] || [ "${#lines[@]}" -ne 1 ] || [[ $output != "memcg-sim: "*$pattern* ]]; then
		echo "$*: $status: $output, not: $pattern"
		return 1
	fi
}

# broken PATTERN SED: the replay file, so edited, is refused.
broken() {
	sed -- "$2" good.replay >bad.replay
	if cmp -s good.replay bad.replay; then return 1; fi
	refused "bad.replay:$1" explore --replay bad.replay
}

# The first line of its decisions is 7.
replay_file() {
	run explore --test bytes-drain --fault early-reopen --schedules 1000
	[ "$status" -eq 1 ]
	mv explore-bytes-drain.replay good.replay
}

@test "wrong options: one line that names the option and what it takes, exit 2" {
	refused 'one is needed of --test, --all' explore
	refused "unknown option '--bogus'" explore --bogus
	refused "unknown option '-x'" explore -x
	refused '--all takes no value' explore --all=3
	refused '--test: its value is missing' explore --test
	refused "--test: 'nonesuch' is no test" explore --test nonesuch
	refused "--schedules: '0' is not 1 to" explore --all --schedules 0
	refused "--schedules: 'x' is not 1 to" explore --all --schedules x
	refused "--seed: '123456789012345678901' is not 0 to" explore --all --seed 123456789012345678901
	refused "--cpus: '17' is not 1 to 16" explore --all --cpus 17
	refused "--memory: 'arm' is not one of tso, sc" explore --all --memory arm
	refused "--scheduler: 'fair' is not one of mix, random" explore --all --scheduler fair
	refused "--fault: 'nonesuch' is not one of none, lost-store" explore --all --fault nonesuch
	refused "unexpected word 'extra'" explore --all extra
	refused 'only one of --test, --all, --list, --replay' explore --all --list
	refused '--seed cannot be combined with --list' explore --list --seed 3
}

@test "wrong commands and words are named" {
	refused 'no command given'
	refused "command 'nonesuch'" nonesuch
	refused "option '--nonesuch'" --nonesuch
	refused "flush: unexpected word 'extra'" flush extra
	refused "selftest: unexpected word 'extra'" selftest extra
}

@test "--output is looked at before the run" {
	refused "--output: ''" explore --all --output ''
	refused "--output: '/nonesuch': No such file" explore --all --output /nonesuch
	touch file
	refused "--output: 'file' is no folder" explore --all --output file
	mkdir folder
	run explore --test litmus-sb --schedules 1000 --output folder
	[ "$status" -eq 1 ]
	[ -s folder/explore-litmus-sb.replay ]
	[ "$(id -u)" -ne 0 ] || skip 'root may write everywhere'
	chmod a-w folder
	refused "--output: 'folder' cannot be written" explore --all --output folder
}

@test "-h works, and --help names each fault with a test that finds it" {
	run "$sim" -h
	[ "$status" -eq 0 ]
	run "$sim" explore -h
	[ "$status" -eq 0 ]
	local help=$output fault test nr=0
	run "$sim" explore --help
	[ "$output" = "$help" ]
	while read -r fault test; do
		grep -q "^	found $fault $test " "$BATS_TEST_FILENAME"
		grep -qF "| \`$fault\` | \`$test\` |" "$SOURCE_ROOT/docs/explore.md"
		nr=$((nr + 1))
	done < <(sed '1,/^Faults/d' <<<"$help")
	[ "$nr" -ge 13 ]
}

@test "output that cannot be written: exit 2 and one line" {
	[ -c /dev/full ] || skip
	replay_file
	local options status
	for options in --help 'explore --help' 'explore --list' flush 'explore --test zombie --schedules 10' \
		'explore --all --schedules 10' 'explore --replay good.replay'; do
		status=0
		# shellcheck disable=SC2086
		"$sim" $options >/dev/full 2>err || status=$?
		[ "$status" -eq 2 ]
		[ "$(cat err)" = 'memcg-sim: cannot write to standard output' ]
	done
}

@test "--list marks the simulator's own tests" {
	run explore --list
	grep -qE '^litmus-sb .*\[selftest, fails by design\]$' <<<"$output"
	grep -qE '^litmus-mp .*\[selftest\]$' <<<"$output"
	! grep '^charge-drain ' <<<"$output" | grep -q selftest
}

@test "--replay takes --memory and --full, and no other option" {
	run explore --test litmus-sb --schedules 1000
	[ "$status" -eq 1 ]
	run explore --replay explore-litmus-sb.replay --full
	[ "$status" -eq 1 ]
	run explore --replay explore-litmus-sb.replay --memory sc
	[ "$status" -eq 0 ]
	local options
	for options in '--cpus 2' '--fault none' '--seed 1' '--schedules 1' '--scheduler pct' '--bound 1' '--output .' \
		'--jobs 1'; do
		# shellcheck disable=SC2086
		refused 'cannot be combined with --replay' explore --replay explore-litmus-sb.replay $options
	done
}

@test "what is no replay file is refused with its cause" {
	refused '/nonesuch: No such file' explore --replay /nonesuch
	refused '/: Is a directory' explore --replay /
	: >bad.replay
	refused 'bad.replay:1: ' explore --replay bad.replay
	replay_file
	broken "1: the line ends in CR LF" 's/$/\r/'
	broken '1: no replay file' '1s/1/2/'
	broken "2: test 'nonesuch'" 's/^test.*/test nonesuch/'
	broken "3: seed 'x'" 's/^seed.*/seed x/'
	broken "3: seed '123456" 's/^seed.*/seed 12345678901234567890123/'
	broken "4: memory 'arm'" 's/^memory.*/memory arm/'
	broken "5: cpus '17'" 's/^cpus.*/cpus 17/'
	broken "6: fault 'nonesuch'" 's/^fault.*/fault nonesuch/'
	broken "4: a second 'seed'" 's/^seed.*/&\n&/'
	broken "3: nothing after 'seed'" 's/^seed.*/seed/'
	broken "3: '7', the end of the line" 's/^seed.*/seed 1 7/'
	broken "7: 'wat', one of" '7s/.*/wat/'
	local field
	for field in test seed memory cpus fault; do
		sed "/^$field /d" good.replay >bad.replay
		refused "the end of the file, a line '$field VALUE' was expected" explore --replay bad.replay
	done
}

@test "a decision that cannot apply is refused, never dropped" {
	replay_file
	broken '7: T9, T1 to T3' '7s/.*/at T1 89: run T9/'
	broken "7: 'T0'" '7s/.*/at T1 89: run T0/'
	broken "7: '2', 'run THREAD'" '7s/.*/at T1 89: run 2/'
	broken '7: T9, T1 to T3' '7s/.*/at T9 89: preempt/'
	broken '7: CPU 2, 0 to 1' '7s/.*/at T1 89: place T2 2/'
	broken "7: '89', a point" '7s/.*/at T1 89 run T2/'
	broken "7: 'T1/irqx'" '7s/.*/at T1\/irqx 89: preempt/'
	broken "7: '2', the end of the line" '7s/.*/at T1 89: preempt 2/'
	broken '7: a decision of main' '7s/.*/at main 0: preempt/'
	printf 'at T3 99999: preempt\n' | cat good.replay - >bad.replay
	run "$sim" explore --replay bad.replay
	[ "$status" -eq 2 ]
	[[ $output == *"bad.replay:$(wc -l <bad.replay): decision not carried out"*"did not come to this point"* ]]
	sed '7s/^at \(T[0-9]*\) \([0-9]*\): .*/at \1 \2: run \1/' good.replay >bad.replay
	run "$sim" explore --replay bad.replay
	[ "$status" -eq 2 ]
	[[ $output == *"bad.replay:7: decision not carried out"*"does not apply at this point"* ]]
}
