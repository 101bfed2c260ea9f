# SPDX-License-Identifier: MIT
# memcg run --report: when, where, what.
load helpers

@test "no report unless asked" {
	ends_with 0 $memcg run --max 64M true
	[ ! -s err ]
}

@test "text: a header, a line for each group, the process" {
	ends_with 0 $memcg run --max 64M --by-thread-name --report text -- $python -c 'pass'
	[ "$(wc -l <err)" -eq 5 ]
	grep -qE '^memcg report of python3[0-9.]*, process [0-9]+$' err
	grep -qE '^GROUP +CURRENT +PEAK +HIGH +MAX +low +high +max +oom +oom_kill$' err
	grep -qE '^/ +[0-9.]+[KM] +[0-9.]+[KM] +max +64\.0M( +0){5}$' err
	grep -qE '^  python3 +[0-9.]+[KM] +[0-9.]+[KM] +max +max( +0){5}$' err
	grep -qE '^resident [0-9.]+M, tracked [0-9.]+[KM], untracked -?[0-9.]+[KM]; peak resident [0-9.]+M$' err
}

@test "JSON: exact bytes that agree with each other" {
	ends_with 0 $memcg run --max 256M --report json -- $python -c 'x = bytearray(100 << 20)'
	report '.program | startswith("python3")'
	report '.groups | length == 1'
	report '.groups[0] | .path == "/" and .name == "/" and .depth == 0 and .max == 268435456 and .high == "max"'
	report '.groups[0].peak >= 104857600 and .groups[0].current < 50000000'
	report '.groups[0].events == {"low": 0, "high": 0, "max": 0, "oom": 0, "oom_kill": 0}'
	report '.tracked == .groups[0].current and .untracked == .resident - .tracked'
	report '.peak_resident >= 104857600 and .interposed'
}

@test "a refused allocation is an event" {
	ends_with 1 $memcg run --max 32M --report json -- $python -c 'x = bytearray(100 << 20)'
	grep -q '^MemoryError' err
	report '.groups[0].events.max > 0 and .groups[0].peak <= 33554432'
}

@test "only the program reports, not its children" {
	ends_with 0 $memcg run --report json -- sh -c 'true; env true; (exit 0); sh -c "env true"; :'
	[ "$(grep -c '"pid"' err)" -eq 1 ]
	report '.program == "sh"'
}

@test "children are confined, and do not report, however they are started" {
	cat >start.py <<-'END'
		import ctypes, os, subprocess, sys
		child = [sys.executable, "-c", "try: bytearray(200 << 20)\nexcept MemoryError: print('refused')"]
		def wait(pid):
		    status = os.waitpid(pid, 0)[1]
		    if status: sys.exit(9)
		wait(os.posix_spawn(child[0], child, os.environ))
		wait(os.spawnve(os.P_NOWAIT, child[0], child, os.environ))
		subprocess.run(child, check=True)
		os.system("exec '%s' -c \"%s\"" % (child[0], child[2].replace('"', '')))
		pid = ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) if os.uname().machine == "x86_64" else os.fork() # clone()
		if pid == 0: os.execve(child[0], child, os.environ)
		wait(pid)
	END
	ends_with 0 $memcg run --max 100M --report json -- $python start.py
	[ "$(grep -c refused out)" -eq 5 ]
	[ "$(grep -c '"pid"' err)" -eq 1 ]
	report '.program | startswith("python3")'
}

@test "what the program becomes by exec reports" {
	ends_with 0 $memcg run --report json -- sh -c 'exec env true'
	[ "$(grep -c '"pid"' err)" -eq 1 ]
	report '.program == "true"'
}

@test "every way to end is reported once" {
	cat >ways.py <<-END
		import ctypes, os, sys
		libc = ctypes.CDLL(None)
		way = sys.argv[1]
		if way == "_exit": os._exit(3)
		if way == "quick_exit": libc.quick_exit(3)
		if way == "_Exit": libc._Exit(3)
		if way == "exit": libc.exit(3)
		if way == "abort": libc.abort()
		sys.exit(3)
	END
	for way in return exit _exit _Exit quick_exit; do
		ends_with 3 $memcg run --report json -- $python ways.py $way
		[ "$(grep -c '"pid"' err)" -eq 1 ]
	done
	ends_with 134 $memcg run --report json -- $python ways.py abort
	[ "$(grep -c '"pid"' err)" -eq 1 ]
}

# Ways to end while the report is written: stderr is a pipe, which the program has filled before it ends.
ending_program() {
	cat >ends.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		static void fill(void)
		{
			static char bytes[1 << 20];
			int size = fcntl(2, F_GETPIPE_SZ);
			memset(bytes, '.', sizeof(bytes));
			bytes[size - 1] = '\n';
			if (write(2, bytes, size) != size)
				_exit(99);
		}
		static void end(const char *way, int status)
		{
			if (!strcmp(way, "_exit")) _exit(status);
			if (!strcmp(way, "_Exit")) _Exit(status);
			if (!strcmp(way, "quick_exit")) quick_exit(status);
			if (!strcmp(way, "exit")) exit(status);
			if (!strcmp(way, "abort")) abort();
		}
		static volatile int filled;
		static void *first(void *way)
		{
			fill();
			filled = 1;
			end(way, 3);
			return NULL;
		}
		static void on_alarm(int sig) { _exit(5); }
		static void *cancelled(void *arg)
		{
			pthread_cancel(pthread_self());
			_exit(3);
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			if (!strcmp(argv[1], "alarm")) {
				signal(SIGALRM, on_alarm);
				fill();
				ualarm(200000, 0);
				end(argv[2], 3);
			}
			if (!strcmp(argv[1], "nonblocking")) {
				fill();
				fcntl(2, F_SETFL, O_NONBLOCK);
				end(argv[2], 3);
			}
			if (!strcmp(argv[1], "cancelled")) {
				pthread_create(&thread, NULL, cancelled, NULL);
				pthread_join(thread, NULL);
				return 1;
			}
			if (!strcmp(argv[1], "status"))
				end(argv[2], 3);
			pthread_create(&thread, NULL, first, argv[1]);
			while (!filled) usleep(1000);
			usleep(300000);
			end(argv[2], 4);
		}
	END
	cc -w -D_GNU_SOURCE -pthread -o ends ends.c
	mkfifo pipe
}

# One who reads after a second, and what came in err.
with_slow_reader() {
	{ sleep 1; exec cat; } <pipe >err &
	local reader=$!
	status=0
	timeout -s KILL 60 "$@" 2>pipe || status=$?
	wait $reader
	echo "status $status: $*"
	[ "$(grep -c '"pid"' err)" -eq 1 ]
	report .pid
}

@test "who ends the process while another thread writes the report waits for it" {
	ending_program
	for ways in '_exit _exit' '_exit quick_exit' 'quick_exit _Exit' 'exit _exit' '_exit exit'; do
		with_slow_reader $memcg run --report json -- ./ends $ways
		[ $status -eq 3 ] || [ $status -eq 4 ]
	done
	with_slow_reader $memcg run --report json -- ./ends _exit abort
	[ $status -eq 3 ] || [ $status -eq 134 ]
}

@test "but not for ever" {
	ending_program
	sleep 1000 <pipe &
	local reader=$!
	status=0
	timeout -s KILL 60 $memcg run --report json -- ./ends _exit _exit 2>pipe || status=$?
	kill $reader
	[ $status -eq 4 ]
}

@test "a handler that ends the process, and a stderr that does not block, cut no report" {
	ending_program
	with_slow_reader $memcg run --report json -- ./ends alarm exit
	[ $status -eq 3 ] || [ $status -eq 5 ]
	with_slow_reader $memcg run --report json -- ./ends alarm _exit
	[ $status -eq 3 ] || [ $status -eq 5 ]
	with_slow_reader $memcg run --report json -- ./ends nonblocking exit
	[ $status -eq 3 ]
}

@test "a thread that is cancelled ends the process all the same" {
	ending_program
	ends_with 3 timeout -s KILL 60 $memcg run --report json -- ./ends cancelled
	report .pid
}

@test "a report that nobody reads is no death by SIGPIPE" {
	ending_program
	for way in exit _exit quick_exit; do
		status=0
		sleep 1000 <pipe &
		exec {end}>pipe
		kill $!
		wait $! || :
		$memcg run --report json -- ./ends status $way 2>&$end || status=$?
		exec {end}>&-
		[ $status -eq 3 ]
	done
}

@test "a program that closes or redirects stderr still reports" {
	ends_with 0 $memcg run --report json -- sh -c 'exec 2>/dev/null; true; exit 0'
	report '.program == "sh"'
	ends_with 0 $memcg run --report json -- sh -c 'exec 2>&-; true; exit 0'
	report '.program == "sh"'
}

@test "a file opened under the report's descriptor is left alone" {
	cat >reuse.py <<-END
		import os, sys
		fd = int(os.environ["MEMCG_RUN_REPORT_FD"].split(":")[0])
		os.close(fd)
		os.dup2(os.open("precious", os.O_WRONLY | os.O_CREAT), fd)
		if len(sys.argv) > 1: os.close(2)
		sys.stderr = None
	END
	ends_with 0 $memcg run --report json -- $python reuse.py
	[ ! -s precious ]
	report '.pid'
	ends_with 0 $memcg run --report json -- $python reuse.py closed
	[ ! -s precious ] && [ ! -s err ]
}

@test "a child that lives on does not keep the report's file open" {
	for start in 'sleep 20 >/dev/null 2>&1 &' '(exec sleep 20) >/dev/null 2>&1 &'; do
		from=$SECONDS
		text=$($memcg run --report text -- sh -c "$start echo \$! >pid" 2>&1)
		[ $((SECONDS - from)) -lt 15 ]
		kill "$(cat pid)"
		[[ $text == *'report of sh'* ]]
	done
}

@test "stderr that is closed, or cannot be written" {
	status=0
	$memcg run --report text -- true 2>&- || status=$?
	[ $status -eq 125 ]
	[ -c /dev/full ] || skip
	$memcg run --report text -- true 2>/dev/full
}

@test "a program with a malloc of its own is reported as such" {
	cat >own.c <<-END
		#include <stddef.h>
		void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
		void __libc_free(void *);
		void *malloc(size_t n) { return __libc_malloc(n); }
		void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
		void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
		void free(void *p) { __libc_free(p); }
		int main(void) { return 0; }
	END
	cc -o own own.c
	ends_with 0 $memcg run --report json -- ./own
	report '.interposed == false'
	ends_with 0 $memcg run --report text -- ./own
	tail -1 err | grep -q '^note: '
}

@test "names that JSON must escape" {
	cat >name.py <<-'END'
		import ctypes, os
		libc = ctypes.CDLL(None)
		for name in (b'q"\\\x01', b'cut \xc3', b'a/b', b'\xc3\xa4'):
		    libc.prctl(15, name, 0, 0, 0)
	END
	ends_with 0 $memcg run --by-thread-name --report json -- $python name.py
	report '[.groups[].name] | index("q\"\\x5c\\x01") and index("cut \ufffd") and index("a\\x2fb") and index("ä")'
}
