# SPDX-License-Identifier: MIT
# The commands that talk to a process: what they print, and what is wrong with a group, a file, a value, a process.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -m 700 run
	export XDG_RUNTIME_DIR=$PWD/run
	server=
}

teardown() {
	[ -z "$server" ] || kill $server 2>/dev/null || true
	wait
}

# start ARGS...: a process that does nothing under memcg run; its id is in pid.
start() {
	$memcg run "$@" -- sleep 1000 >run.out 2>run.err &
	server=$!
	find_pid $server
}

# The one that a command runs.
find_pid() {
	for ((i = 0; i < 200; i++)); do
		pid=$(pgrep -P $1 || true)
		[ -n "$pid" ] && [ -S run/memcg/$pid ] && return 0
		sleep 0.05
	done
	cat run.err
	return 1
}

says() {
	cat err
	grep -qF -- "$1" err
}

@test "help of each, on stdout" {
	for command in ls tree top get set mkdir rmdir events; do
		ends_with 0 $memcg $command --help
		grep -q "^Usage: memcg $command" out
		[ ! -s err ]
		if [ -c /dev/full ]; then
			status=0
			$memcg $command --help >/dev/full 2>err || status=$?
			[ $status -eq 2 ]
		fi
	done
}

@test "ls, tree, get, set, mkdir, rmdir" {
	start --max 1G
	[ -z "$($memcg ls)" ]
	$memcg mkdir a a/b
	$memcg mkdir --parents a/c/d a/c/d
	[ "$($memcg ls /)" = a ]
	[ "$($memcg ls a | xargs)" = 'b c' ]
	$memcg set a/b memory.max 64M
	[ "$($memcg get a/b memory.max)" = 67108864 ]
	$memcg set /a//b/ memory.max 0x2000k
	[ "$($memcg get /a/b memory.max)" = 8388608 ]
	[ "$($memcg get / memory.max)" = 1073741824 ]
	$memcg tree >out
	cat out
	[ "$(head -1 out | xargs)" = 'GROUP CURRENT PEAK HIGH MAX THREADS EVENTS' ]
	grep -qE '^/ +[0-9.]+K +[0-9.]+K +max +1\.0G +[0-9]+$' out
	grep -qE '^    b +0 +0 +max +8\.0M +0$' out
	[ "$($memcg tree a/c | sed 1d | awk '{ print $1 }' | xargs)" = 'a/c d' ]
	$memcg get / >out
	grep -qx '0644 memory.max' out
	grep -qx '0444 memory.current' out
	$memcg rmdir a/b a/c/d a/c a
	[ -z "$($memcg ls)" ]
}

@test "JSON" {
	start --set a/b/memory.max=1M
	$memcg tree --json | jq -e ".pid == $pid and .program == \"sleep\" and (.groups | map(.path) == [\"/\", \"a\", \"a/b\"])"
	$memcg tree --json | jq -e '.groups[2] | .max == 1048576 and .high == "max" and .depth == 2 and .events.max == 0 and .name == "b"'
	$memcg tree a --json | jq -e '.groups | map(.path) == ["a", "a/b"]'
	$memcg ls --json | jq -e 'map(.path) == ["a"]'
	$memcg ls --json a/b | jq -e '. == []'
	$memcg get --json a/b memory.max | jq -e '. == { group: "a/b", file: "memory.max", value: 1048576 }'
	$memcg get --json a memory.max | jq -e '.value == "max"'
	$memcg get --json a memory.events | jq -e '.value.max == 0'
	$memcg get --json a cgroup.threads | jq -e '.value == []'
	$memcg get --json / memory.stat | jq -e '.value | has("anon") and has("slab")'
}

@test "names that a terminal would obey are written, not sent" {
	start
	name=$(printf 'a\033[2Jb\tc\177\302\233d\377\303\244')
	$memcg mkdir "$name" 'plain name' "$(printf 'quote"\\')"
	[ "$($memcg ls | head -1)" = "$(printf '%s' 'a\x1b[2Jb\x09c\x7f\xc2\x9bd\xff')$(printf '\303\244')" ]
	for command in ls tree 'top -b -n 1'; do
		$memcg $command >out
		not env LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out
		grep -qF '\x1b[2J' out
		grep -q 'plain name' out
	done
	$memcg tree --json | jq -e '.groups | length == 4'
	$memcg ls --json | jq -e 'map(.name) | index("quote\"\\") != null'
	$memcg set "$name" memory.max 1M
	[ "$($memcg get "$name" memory.max)" = 1048576 ]
	$memcg events "$name" >out &
	watcher=$!
	sleep 0.3
	fails_with 2 $memcg rmdir "$name/none"
	says '?[2Jb'
	$memcg rmdir "$name"
	wait $watcher
}

@test "wrong usage: one line, 2" {
	for args in 'get' 'set' 'set /' 'set / memory.max' 'set / memory.max 1 2' 'mkdir' 'rmdir' 'ls a b' 'tree a b' 'top a' \
		'events a b' 'get / memory.max x' 'get --json /' 'ls --nonsense' 'ls -x' 'ls -p' 'ls -p x' 'ls -p 0' 'ls -p -1' 'ls -p 1x' \
		'ls -p 99999999999999999999' 'ls --socket' 'ls -p 1 --socket x' 'top -n 0' 'top -n x' 'top -d 0' 'top -d x' 'top -d -1' \
		'top -d 1e9' 'events -n' 'top --json' 'set --json / memory.max 1' 'ls --batch'; do
		fails_with 2 $memcg $args
	done
}

@test "wrong groups, files and values: what, where, and what was expected" {
	start
	$memcg mkdir a a/b
	fails_with 2 $memcg get none memory.max
	says "no group 'none' in process $pid (sleep)"
	for command in 'ls none' 'tree none' 'tree --json none' 'set none memory.max 1' 'rmdir none' 'events none'; do
		fails_with 2 $memcg $command
		says none
	done
	fails_with 2 $memcg get a "$(printf 'x\ny')"
	fails_with 2 $memcg get "$(printf 'x\ny')" memory.max
	fails_with 2 $memcg get a memory.none
	says "no file 'memory.none' in group 'a'"
	fails_with 2 $memcg get a 'memory max'
	fails_with 2 $memcg get a ''
	fails_with 2 $memcg set a memory.none 1
	fails_with 2 $memcg set a memory.max 10MB
	says "'10MB'; expected bytes"
	fails_with 2 $memcg set a memory.max ''
	fails_with 2 $memcg set a memory.current 1
	says 'can only be read'
	fails_with 2 $memcg set a memory.oom.group 2
	says 'expected 0 or 1'
	fails_with 2 $memcg set a cgroup.max.depth x
	says 'a number or max'
	fails_with 2 $memcg set a cgroup.threads 0
	fails_with 2 $memcg set a memory.max "$(printf '%05000d' 1)"
	fails_with 2 $memcg mkdir a
	says 'there already'
	fails_with 2 $memcg mkdir x/y
	says --parents
	fails_with 2 $memcg mkdir a/..
	fails_with 2 $memcg mkdir /
	fails_with 2 $memcg mkdir "$(printf '%0256d' 1)"
	says '255 bytes'
	fails_with 2 $memcg rmdir a
	says 'groups below'
	fails_with 2 $memcg rmdir /
	says root
	$memcg set / cgroup.max.descendants 2
	fails_with 2 $memcg mkdir c
	says 'no more groups'
}

@test "no process, several, and one by its number" {
	fails_with 2 $memcg ls
	says 'no process of yours'
	start --set first/memory.max=1M
	first=$server first_pid=$pid
	start --set second/memory.max=1M
	fails_with 2 $memcg ls
	says "$first_pid (sleep)"
	says "$pid (sleep)"
	says '-p'
	[ "$($memcg ls -p $first_pid)" = first ]
	[ "$($memcg ls -p $pid)" = second ]
	[ "$($memcg ls --socket run/memcg/$pid)" = second ]
	kill $first
	wait $first || true
	# Killed, it has left its socket: that is removed on the way.
	[ "$($memcg ls)" = second ]
	[ ! -e run/memcg/$first_pid ]
}

@test "processes that are not there, have no socket, are dead, stopped, or somebody else's" {
	fails_with 2 $memcg ls -p 4194305
	says 'there is no process'
	fails_with 2 $memcg ls -p $$
	says 'has no control socket'
	fails_with 2 $memcg ls --socket none
	fails_with 2 $memcg ls --socket "$(printf '%0200d' 1)"
	says '107 bytes'
	start
	kill -KILL $pid
	wait $server || true
	server=
	cp -a run/memcg/$pid dead 2>/dev/null || true
	fails_with 2 $memcg ls -p $pid
	says 'there is no process'
	[ ! -e run/memcg/$pid ]
	if [ -S dead ]; then
		fails_with 2 $memcg ls --socket dead
		says 'does not listen'
	fi
	touch file
	fails_with 2 $memcg ls --socket file
	start
	kill -STOP $pid
	fails_with 2 $memcg ls
	says 'did not'
	kill -CONT $pid
	$memcg ls
}

@test "another user's process" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root to be another'
	command -v setpriv || skip 'no setpriv'
	start
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$PWD"
	cp $memcg ./memcg-copy
	mkdir lib
	cp "$BUILD_LIB"/libmemcg.so.0 lib
	export LD_LIBRARY_PATH=$PWD/lib
	fails_with 2 setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR ./memcg-copy ls -p $pid
	says "process $pid is root's"
	fails_with 2 setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR ./memcg-copy ls
	says 'no process of yours'
}

# Asks for 64 MiB for each byte that it reads.
greedy() {
	cat >greedy.c <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			char byte;
			while (read(0, &byte, 1) == 1) {
				void *volatile block = malloc(64 << 20);
				free(block);
			}
			return 0;
		}
	END
	cc -fno-builtin -o greedy greedy.c
	mkfifo orders
	$memcg run --max 16M --set quiet/memory.max=1M -- ./greedy <orders &
	server=$!
	exec 9>orders
	find_pid $server
}

@test "events: each change is a line, -n ends" {
	greedy
	$memcg events -n 2 >out &
	watcher=$!
	$memcg events -n 1 --json / >json &
	other=$!
	$memcg events -n 1 --local / >local &
	local=$!
	$memcg events quiet >quiet 9>&- &
	quiet=$!
	sleep 0.5
	[ ! -s out ]
	echo -n x >&9
	wait $other $local
	[ "$(cat local)" = '/ max 1 +1' ]
	jq -e '. == { group: "/", event: "max", count: 1, more: 1 }' json
	sleep 0.1
	echo -n yz >&9
	wait $watcher
	cat out
	[ "$(head -1 out)" = '/ max 1 +1' ]
	grep -qE '^/ max [23] \+[12]$' out
	[ "$(wc -l <out)" -eq 2 ]
	until $memcg tree | grep -qE '^/ .*  max 3$'; do
		sleep 0.05
	done
	[ "$($memcg top -b -n 1 | sed -n 4p | grep -oE 'max 3$')" = 'max 3' ]
	# The group goes, the process goes: so do they.
	$memcg rmdir quiet
	wait $quiet
	[ ! -s quiet ]
	$memcg events >rest 9>&- &
	watcher=$!
	sleep 0.3
	exec 9>&-
	wait $server
	wait $watcher
	[ ! -s rest ]
	server=
}

@test "top: batches are tables, a terminal is drawn in place" {
	start --set a/memory.max=1M --set b/memory.max=1M
	$memcg top -n 3 -d 0.05 >out
	[ "$(grep -c '^GROUP' out)" -eq 3 ]
	not grep -q "$(printf '\033')" out
	[ "$(sed -n 4p out | awk '{ print $1 }')" = / ]
	command -v script || skip 'no script(1)'
	[ -c /dev/ptmx ] || skip 'no terminals'
	TERM=xterm script -qec "stty rows 24 cols 60; $memcg top -n 2 -d 0.05" screen </dev/null || skip 'no terminal'
	grep -q "$(printf '\033\\[H')" screen
	grep -q "$(printf '\033\\[1mGROUP')" screen
	NO_COLOR=1 TERM=xterm script -qec "$memcg top -n 1" plain </dev/null
	not grep -q "$(printf '\033\\[1m')" plain
	NO_COLOR=1 TERM=xterm script -qec "$memcg tree" plain </dev/null
	not grep -q "$(printf '\033')" plain
}

@test "the process is not charged for who looks at it" {
	start
	before=$($memcg get / memory.peak)
	for ((i = 0; i < 20; i++)); do
		$memcg tree >/dev/null
		$memcg get / memory.stat >/dev/null
	done
	[ "$($memcg get / memory.peak)" -le $((before + 65536)) ]
}

@test "without a control socket, by option" {
	$memcg run --no-control -- sleep 1000 &
	server=$!
	for ((i = 0; i < 100; i++)); do
		pgrep -P $server && break
		sleep 0.05
	done
	fails_with 2 $memcg ls
	[ ! -e run/memcg ] || [ -z "$(ls run/memcg)" ]
}

@test "a forked child has a socket of its own" {
	cat >forks.py <<-'END'
		import os, time
		if os.fork() == 0:
		    open("ready", "w").close()
		    time.sleep(1000)
		time.sleep(1000)
	END
	$memcg run -- env PYTHONMALLOC=malloc $python forks.py &
	server=$!
	find_pid $server
	for ((i = 0; i < 200; i++)); do
		[ ! -e ready ] || break
		sleep 0.05
	done
	child=$(pgrep -P $pid)
	for ((i = 0; i < 100; i++)); do
		[ ! -S run/memcg/$child ] || break
		sleep 0.05
	done
	[ -S run/memcg/$child ]
	$memcg mkdir -p $child of-the-child
	[ "$($memcg ls -p $child)" = of-the-child ]
	[ -z "$($memcg ls -p $pid)" ]
	kill $child
}

@test "a program that enters a user namespace has one thread, and then its socket again" {
	command -v unshare && unshare --user true || skip 'no user namespaces'
	$memcg run -- unshare --user --map-root-user sh -c 'id -u; exec sleep 1000' >id &
	server=$!
	find_pid $server
	for ((i = 0; i < 100; i++)); do
		[ "$($memcg tree --json | jq -r .program)" != sleep ] || break
		sleep 0.05
	done
	[ "$(cat id)" = 0 ]
	$memcg mkdir a
	[ "$($memcg ls)" = a ]
}

@test "one that executes another program, and one that closes all descriptors" {
	cat >daemon.py <<-'END'
		import os, time
		os.closerange(3, 1024)
		files = [open("/dev/null") for i in range(700)]
		time.sleep(1000)
	END
	$memcg run -- sh -c "exec $python daemon.py" &
	server=$!
	find_pid $server
	for ((i = 0; i < 200; i++)); do
		[ "$($memcg tree --json | jq -r .program)" != python3 ] || break
		sleep 0.05
	done
	sleep 0.3
	$memcg mkdir a
	[ "$($memcg ls)" = a ]
}
