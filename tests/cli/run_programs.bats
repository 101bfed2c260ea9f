# SPDX-License-Identifier: MIT
# Unmodified programs: the same output under a limit that is enough, and their own way to run
# out of memory under one that is not.
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	awk 'BEGIN { srand(1); for (i = 0; i < 150000; i++) printf "%d line %0*d\n", rand() * 1e9, rand() * 60, i }' >lines
	sort lines >sorted
}

setup() {
	cd "$BATS_FILE_TMPDIR"
}

# Ended by itself, or by abort(): not by a crash.
no_crash() {
	echo "status $status"
	[ "$status" -lt 128 ] || [ "$status" -eq 134 ]
}

@test "sort" {
	ends_with 0 $memcg run --max 64M --report json -- sort -S 32M --parallel=2 lines
	cmp out sorted
	report '.groups[0].peak <= 67108864 and .groups[0].peak > 33554432'
	ends_with 2 $memcg run --max 1M -- sort -S 32M --parallel=2 lines
	grep -q 'sort: memory exhausted' err
}

@test "xz" {
	ends_with 0 $memcg run --max 512M -- xz -0 -T2 --block-size=1MiB -c lines
	xz -0 -T2 --block-size=1MiB -c lines | cmp - out
	mv out lines.xz
	ends_with 0 $memcg run --max 64M -- xz -T2 -dc lines.xz
	cmp out lines
	ends_with 1 $memcg run --max 1M -- xz -0 -T2 --block-size=1MiB -c lines
	grep -q 'xz: lines: Cannot allocate memory' err
}

@test "python3" {
	cat >words.py <<-END
		words = {str(i): [i] * 3 for i in range(50000)}
		print(len(words), sum(sum(v) for v in words.values()))
	END
	$python words.py >want
	PYTHONMALLOC=malloc ends_with 0 $memcg run --max 64M -- $python words.py
	cmp out want
	PYTHONMALLOC=malloc ends_with 1 $memcg run --max 6M -- $python words.py
	grep -q '^MemoryError' err
	ends_with 0 $memcg run --max 32M -- $python -c '
try:
    x = bytearray(100 << 20)
except MemoryError:
    print("refused")
x = bytearray(10 << 20)
print("goes on", len(x))'
	grep -q refused out && grep -q 'goes on' out
}

@test "sqlite3" {
	cat >rows.sql <<-END
		create table t(a, b);
		with recursive c(x) as (select 1 union all select x + 1 from c where x < 30000)
			insert into t select x, hex(x) || 'abcdefgh' from c;
		create index i on t(b);
		select count(*), sum(a), min(b), max(b) from t;
	END
	sqlite3 :memory: <rows.sql >want
	ends_with 0 $memcg run --max 64M -- sqlite3 :memory: <rows.sql
	cmp out want
	status=0
	$memcg run --max 1M -- sqlite3 :memory: <rows.sql >out 2>err || status=$?
	cat err
	no_crash
	grep -qi 'out of memory' err
}

@test "lua" {
	command -v lua5.4 || skip
	echo 't = {} for i = 1, 100000 do t[i] = "k" .. i end print(#t)' >keys.lua
	ends_with 0 $memcg run --max 64M -- lua5.4 keys.lua
	[ "$(cat out)" = 100000 ]
	ends_with 1 $memcg run --max 1M -- lua5.4 keys.lua
	grep -q 'not enough memory' err
}

@test "a C++ program" {
	command -v g++ || skip
	cat >list.cc <<-END
		#include <cstdio>
		#include <cstdlib>
		#include <list>
		#include <new>
		#include <string>
		int main(int argc, char **argv) {
			std::list<std::string> list;
			try {
				for (int i = 0; i < 100000; i++) list.push_back(std::string(100, 'x'));
			} catch (const std::bad_alloc &) {
				if (argc > 1) throw;
				list.clear();
				std::puts("bad_alloc");
				return 3;
			}
			std::printf("%zu\n", list.size());
		}
	END
	g++ -O2 -o list list.cc
	ends_with 0 $memcg run --max 64M -- ./list
	[ "$(cat out)" = 100000 ]
	ends_with 3 $memcg run --max 4M -- ./list
	[ "$(cat out)" = bad_alloc ]
	ends_with 134 $memcg run --max 4M --report json -- ./list throw
	grep -q std::bad_alloc err
	report '.groups[0].events.max > 0'
}

@test "programs of every kind under every limit: none crashes in ours" {
	export LC_ALL=C
	for size in 0 4K 64K 256K 1M; do
		for program in 'date' 'cat lines' 'ls /' 'bash -c :' 'sed -n 1p lines' 'xz -T1 -c sorted' \
			'sqlite3 :memory: .help' 'sort lines' 'find . -name x' 'tar cf - lines'; do
			command -v ${program%% *} >/dev/null || continue
			status=0
			$memcg run --max $size -- $program >/dev/null 2>&1 || status=$?
			echo "$size $program: $status"
			no_crash
		done
	done
}
