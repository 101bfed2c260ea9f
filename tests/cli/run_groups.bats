# SPDX-License-Identifier: MIT
# memcg run --set, --map, --mmap: groups at start, by rules, and mappings that are charged.
load helpers

# A program whose thread "worker" allocates, then one named "idle"; both end before it does.
threads_program() {
	cat >threads.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdlib.h>
		#include <string.h>
		static void *body(void *name)
		{
			pthread_setname_np(pthread_self(), name);
			void *block = malloc(8 << 20);
			if (block) memset(block, 1, 8 << 20);
			if (!strcmp(name, "turncoat")) {
				pthread_setname_np(pthread_self(), "other");
				memset(malloc(4 << 20), 1, 4 << 20);
			}
			return NULL;
		}
		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++) {
				pthread_t thread;
				pthread_create(&thread, NULL, body, argv[i]);
				pthread_join(thread, NULL);
			}
			return 0;
		}
	END
	cc -pthread -fno-builtin -o threads threads.c
}

@test "--set: groups are made, values written in order" {
	ends_with 0 $memcg run --set a/b/memory.max=64M --set /memory.high=1G --set a/memory.max=32M --set a/memory.max=16M \
		--set 'c=d e/memory.max=1M' --report json -- true
	report '[.groups[].path] | sort == ["/", "a", "a/b", "c=d e"]'
	report '.groups[] | select(.path == "a/b") | .max == 67108864'
	report '.groups[] | select(.path == "a") | .max == 16777216'
	report '.groups[] | select(.path == "c=d e") | .max == 1048576'
	report '.groups[0].high == 1073741824'
}

@test "--set: what is wrong is one line, 125" {
	for setting in '' = a a=1 memory.max a/memory.max a/memory.max= ../memory.max=1 a/../memory.max=1 a/memory.max=1X \
		a/memory.high=-1 memory.max= "$(printf 'a/memory.max=1\n2')"; do
		fails_with 125 $memcg run --set "$setting" true
	done
	ends_with 125 $memcg run --set a/memory.none=1 -- true
	grep -q '^libmemcg-malloc: MEMCG_RUN_SET: a/memory.none=1: ' err
	ends_with 125 $memcg run --set a/cgroup.max.depth=x -- true
	[ "$(wc -l <err)" -eq 1 ]
}

@test "--map: the first that matches, the others are the root's" {
	threads_program
	ends_with 0 $memcg run --map 'worker*=pool/work' --map 'w*=never' --map '[abc]?=letters' --report json -- \
		./threads worker1 worker2 b1 idle
	report '[.groups[].path] | sort == ["/", "letters", "pool", "pool/work"]'
	report '.groups[] | select(.path == "pool/work") | .current >= 16777216'
	report '.groups[] | select(.path == "letters") | .current >= 8388608 and .current < 16777216'
	report '.groups[0].current >= 33554432'
}

@test "--map: one that gets a name which matches nothing is the root's again" {
	threads_program
	ends_with 0 $memcg run --map 'turn*=mapped' --report json -- ./threads turncoat
	report '.groups[1].path == "mapped"'
	report '.groups[1].current >= 8388608 and .groups[1].current < 10485760'
	report '.groups[0].current >= 12582912'
}

@test "--map with --by-thread-name: the others have groups of their own" {
	threads_program
	ends_with 0 $memcg run --by-thread-name --map 'worker*=work' --set work/memory.max=1M --report json -- ./threads worker1 idle
	report '[.groups[].path] | sort == ["/", "idle", "threads", "work"]'
	report '.groups[] | select(.path == "work") | .events.max > 0 and .peak <= 1048576'
	report '.groups[] | select(.path == "idle") | .current >= 8388608'
}

@test "--map: what is wrong is one line, 125" {
	for rule in '' = a a= =a a=.. a=b/../c "$(printf 'a\nb=c')"; do
		fails_with 125 $memcg run --map "$rule" true
	done
}

@test "--mmap: python's small objects are charged, and refused" {
	script='
	import mmap
	blocks = [mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for i in range(20)]
	del blocks[10:]
	objects = [(i,) for i in range(100000)]
	try:
	    mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
	    print("granted")
	except OSError as error:
	    print(error.errno)
	'
	script=$(sed 's/^\t//' <<<"$script")
	ends_with 0 $memcg run --max 256M --report json -- $python -c "$script"
	[ "$(cat out)" = granted ]
	without=$(tail -1 err | jq '.groups[0].peak')
	ends_with 0 $memcg run --max 256M --mmap --report json -- $python -c "$script"
	[ "$(cat out)" = 12 ]
	report ".groups[0].peak > $without + 20000000 and .groups[0].events.max > 0"
}

@test "--mmap: programs run as without, with other allocators too" {
	for below in '' libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
		LD_PRELOAD=$below ends_with 0 $memcg run --max 1G --mmap -- $python -c 'print(sum(len(str(i)) for i in range(200000)))'
		[ "$(cat out)" = 1088890 ]
	done
	seq 200000 | ends_with 0 $memcg run --max 1G --mmap -- sort -rn
	[ "$(head -1 out)" = 200000 ]
}

@test "a run within a run keeps groups, rules and mappings" {
	ends_with 0 $memcg run --set a/memory.max=1M --map 'x=y' --mmap -- $memcg run --report json -- env
	report '.groups[] | select(.path == "a") | .max == 1048576'
	grep -qx 'MEMCG_RUN_MAP=x=y' out
	grep -qx 'MEMCG_RUN_MMAP=1' out
}
