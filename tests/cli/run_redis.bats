# SPDX-License-Identifier: MIT
# redis-server with jemalloc, under load, by thread name: its background threads are groups.
load helpers

setup_file() {
	command -v redis-server && command -v redis-benchmark || skip
}

start() {
	rm -f socket
	"$@" --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --dir "$PWD" --lazyfree-lazy-user-del yes \
		>redis.log 2>err &
	server=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(redis-cli -s socket ping 2>/dev/null)" != PONG ] || return 0
		sleep 0.1
	done
	cat redis.log err
	return 1
}

stop() {
	redis-cli -s socket shutdown nosave || true
	status=0
	wait $server || status=$?
}

@test "under load: answers as without, background threads are groups" {
	start $memcg run --max 128M --by-thread-name --report json -- redis-server
	redis-benchmark -s socket -q -n 20000 -c 8 -d 100 -r 5000 -t set,get,incr,lpush,lpop,sadd,hset,mset >bench
	cat bench
	! grep -qi error bench
	redis-cli -s socket set key value | grep -q OK
	[ "$(redis-cli -s socket get key)" = value ]
	redis-cli -s socket eval 'for i = 1, 20000 do redis.call("sadd", "set", i) end return redis.call("scard", "set")' 0 | grep -q 20000
	redis-cli -s socket unlink set | grep -q 1
	redis-cli -s socket memory doctor >/dev/null
	redis-cli -s socket memory purge >/dev/null
	redis-cli -s socket flushall async | grep -q OK
	stop
	[ $status -eq 0 ]
	report '[.groups[].name] | index("redis-server") and index("bio_close_file") and index("bio_lazy_free") and any(startswith("bio_aof"))'
	report '.groups[0].peak > 1000000 and .groups[0].events.max == 0 and .interposed'
	report '([.groups[1:][].current] | add) <= .groups[0].current'
}

@test "too small a limit: redis reports out of memory and aborts by itself" {
	# its crash log allocates, and so ends in itself
	start $memcg run --max 16M --report json -- redis-server --crash-log-enabled no
	redis-cli -s socket eval 'for i = 1, 1000000 do redis.call("set", i, string.rep("x", 1000)) end' 0 || true
	status=0
	wait $server || status=$?
	echo "status $status"
	grep -q 'Out Of Memory allocating' redis.log
	[ $status -eq 134 ]
	report '.groups[0].events.max > 0 and .groups[0].peak <= 16777216'
}
