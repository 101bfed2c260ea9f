# SPDX-License-Identifier: MIT
# An operator's session: redis-server under load, whose groups are looked at, limited and released while it runs.
load helpers

setup() {
	command -v redis-server && command -v redis-benchmark || skip
	cd "$BATS_TEST_TMPDIR"
	mkdir -m 700 run
	export XDG_RUNTIME_DIR=$PWD/run
}

teardown() {
	[ -z "${load-}" ] || kill $load 2>/dev/null || true
	[ -z "${server-}" ] || kill $server 2>/dev/null || true
	wait
}

cli() {
	redis-cli -s socket "$@"
}

start() {
	"$@" --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --dir "$PWD" >redis.log 2>err &
	server=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(cli ping 2>/dev/null)" != PONG ] || return 0
		sleep 0.1
	done
	cat redis.log err
	return 1
}

# An amount of the group redis-server.
amount() {
	$memcg get redis-server "$1"
}

# A script in the server that wants 256 MiB, by strings that become ever longer: refused, it is an error of the script, and the
# server goes on, for which the limits here leave it 30 MiB at least. What the script leaves behind is collected.
greedy() {
	cli eval 'return #string.rep("x", 268435456)' 0
	cli script flush sync >/dev/null
}

@test "look, limit, be told, look, release" {
	start $memcg run --max 1G --by-thread-name --report json -- redis-server
	(while redis-benchmark -s socket -q -n 5000 -c 4 -d 200 -r 1000 -t set,get,lpush,lpop; do :; done) >bench 2>&1 &
	load=$!

	# What is there: one process, so none need be named.
	until $memcg ls >out && grep -qx bio_lazy_free out; do
		sleep 0.1
	done
	grep -qx redis-server out
	grep -qx bio_lazy_free out
	$memcg tree | tee out
	grep -qE '^/ .* 1\.0G ' out
	grep -qE '^  redis-server +[0-9.]+M ' out
	$memcg tree --json | jq -e '.program == "redis-server" and (.groups | length > 3)'
	[ "$(amount memory.max)" = max ]
	[ "$(greedy)" = 268435456 ]
	before=$(amount memory.current)
	[ "$before" -gt 1000000 ] && [ "$before" -lt 100000000 ]

	# A limit that leaves room for what it does, and not for the greedy. While it works.
	$memcg events -n 1 redis-server >events &
	watcher=$!
	$memcg set redis-server memory.max $((before + (100 << 20)))
	max=$(amount memory.max)
	[ "$max" -le $((before + (100 << 20))) ] && [ "$max" -gt "$before" ]
	sleep 0.5
	[ ! -s events ]
	greedy >answer 2>&1
	wait $watcher
	cat events answer
	grep -q 'not enough memory' answer
	grep -qE '^redis-server max [0-9]+ \+[0-9]+$' events
	[ "$(cli ping)" = PONG ]

	# It is seen where it happened, and above.
	$memcg top --batch -n 2 -d 0.1 >top
	cat top
	[ "$(grep -c '^GROUP' top)" -eq 2 ]
	grep -qE '^redis-server .*  max [0-9]+' top
	[ "$(sed -n 4p top | cut -d' ' -f1)" = / ]
	[ "$($memcg get --json redis-server memory.events | jq '.value.max')" -gt 0 ]
	[ "$(amount memory.current)" -le "$max" ]

	# Released, all is as before.
	$memcg set redis-server memory.max max
	[ "$(greedy)" = 268435456 ]
	kill $load
	wait $load || true
	load=
	not grep -qi error bench
	[ -s bench ]

	# The end of the process is the end of who watches, and of its socket.
	$memcg events redis-server >rest &
	watcher=$!
	sleep 0.2
	cli shutdown nosave || true
	wait $watcher
	status=0
	wait $server || status=$?
	server=
	[ $status -eq 0 ]
	report '.groups[] | select(.name == "redis-server") | .events.max > 0'
	[ -z "$(ls run/memcg)" ]
	fails_with 2 $memcg tree
}

@test "groups that are made, filled by threads, and removed" {
	start $memcg run --by-thread-name --map 'bio_*=background' -- redis-server
	$memcg mkdir --parents tenants/a tenants/b
	$memcg set tenants memory.max 64M
	$memcg set tenants/a memory.max 32M
	[ "$($memcg ls tenants | tr '\n' ' ')" = 'a b ' ]
	grep -q . <<<"$($memcg get background cgroup.threads)"
	fails_with 2 $memcg rmdir background
	tid=$($memcg get background cgroup.threads | head -1)
	$memcg set tenants/a cgroup.threads "$tid"
	[ "$($memcg get tenants/a cgroup.threads)" = "$tid" ]
	fails_with 2 $memcg rmdir tenants/a
	$memcg set / cgroup.threads "$tid"
	$memcg rmdir tenants/a tenants/b tenants
	fails_with 2 $memcg get tenants memory.max
	[ "$(cli ping)" = PONG ]
}
