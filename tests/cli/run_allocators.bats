# SPDX-License-Identifier: MIT
# Programs that bring an allocator of their own, as Debian has them: preloaded here, and linked.
load helpers

allocators=(libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0)

found() {
	ldconfig -p | grep -q "$1 " || [ -e "/usr/lib/$(cc -print-multiarch)/$1" ]
}

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	awk 'BEGIN { srand(2); for (i = 0; i < 100000; i++) print rand() }' >lines
	sort lines >sorted
	cat >forms.cc <<-END
		#include <cstdio>
		#include <cstdlib>
		#include <memory>
		#include <new>
		#include <string>
		#include <thread>
		#include <vector>
		struct alignas(128) wide { char bytes[128]; };
		static std::size_t work(unsigned seed) {
			std::vector<std::unique_ptr<std::string>> strings;
			std::vector<std::unique_ptr<wide[]>> wides;
			std::size_t sum = 0;
			for (unsigned i = 0; i < 20000; i++) {
				strings.push_back(std::make_unique<std::string>(rand_r(&seed) % 200, 'x'));
				if (i % 10 == 0) wides.emplace_back(new wide[3]);
				if (i % 3 == 0) { sum += strings[i / 2] ? strings[i / 2]->size() : 0; strings[i / 2].reset(); }
				std::free(std::malloc(rand_r(&seed) % 3000));
				delete new (std::nothrow) int(1);
			}
			return sum;
		}
		int main() {
			std::size_t sums[4];
			std::vector<std::thread> threads;
			for (unsigned i = 0; i < 4; i++) threads.emplace_back([&sums, i] { sums[i] = work(i); });
			for (auto &thread : threads) thread.join();
			for (std::size_t sum : sums) std::printf("%zu\n", sum);
			bool thrown = false;
			std::vector<std::unique_ptr<char[]>> blocks;
			try { for (;;) blocks.emplace_back(new char[4 << 20]); } catch (const std::bad_alloc &) { thrown = true; }
			blocks.clear();
			std::puts(thrown ? "bad_alloc" : "?");
		}
	END
	g++ -O2 -pthread -o forms forms.cc
}

setup() {
	cd "$BATS_FILE_TMPDIR"
}

@test "preloaded allocators: same output, same limits" {
	for allocator in "${allocators[@]}"; do
		found $allocator || continue
		LD_PRELOAD=$allocator ends_with 0 $memcg run --max 64M --report json -- sort -S 8M --parallel=2 lines
		cmp out sorted
		report '.groups[0].peak > 8000000 and .interposed'
		LD_PRELOAD=$allocator ends_with 2 $memcg run --max 1M -- sort -S 32M --parallel=2 lines
		grep -q 'memory exhausted' err
		LD_PRELOAD=$allocator ends_with 0 $memcg run --max 64M -- xz -0 -T1 -c lines
		xz -dc out | cmp - lines
		PYTHONMALLOC=malloc LD_PRELOAD=$allocator ends_with 0 $memcg run --max 64M -- \
			$python -c 'print(len({i: str(i) for i in range(50000)}))'
		[ "$(cat out)" = 50000 ]
	done
}

@test "C++, all forms, threads, every allocator" {
	for allocator in '' "${allocators[@]}"; do
		[ -z "$allocator" ] || found $allocator || continue
		LD_PRELOAD=$allocator ends_with 0 $memcg run --max 128M -- ./forms
		[ "$(tail -1 out)" = bad_alloc ]
		mv out "out.${allocator:-libc}"
		cmp "out.${allocator:-libc}" out.libc
	done
}

@test "linked allocators: same output" {
	for allocator in "${allocators[@]}"; do
		found $allocator || continue
		g++ -O2 -pthread -o linked forms.cc -Wl,--no-as-needed -l:$allocator
		ends_with 0 $memcg run --max 128M --report json -- ./linked
		[ "$(tail -1 out)" = bad_alloc ]
		report '.interposed and .groups[0].events.max > 0'
	done
}

@test "jemalloc's own calls in a program that is linked with it" {
	found libjemalloc.so.2 || skip
	cat >je.c <<-END
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		void *mallocx(size_t, int), *rallocx(void *, size_t, int);
		void dallocx(void *, int), sdallocx(void *, size_t, int);
		size_t sallocx(const void *, int), malloc_usable_size(void *);
		int mallctl(const char *, void *, size_t *, void *, size_t);
		int main(void) {
			const char *version;
			size_t len = sizeof(version);
			if (mallctl("version", &version, &len, NULL, 0)) return 1;
			for (int i = 0; i < 1000; i++) {
				char *a = mallocx(100 + i, 0x40), *b = malloc(200 + i), *c = strdup(version);
				if (sallocx(b, 0) != malloc_usable_size(b)) return 2;
				a = rallocx(a, 5000, 6);
				free(a); sdallocx(b, 200 + i, 0); dallocx(c, 0);
			}
			puts("good");
		}
	END
	cc -O2 -o je je.c -l:libjemalloc.so.2
	ends_with 0 $memcg run --max 64M -- ./je
	[ "$(cat out)" = good ]
}

@test "an allocator that defines only a part is passed over" {
	cat >part.c <<-END
		#define _GNU_SOURCE
		#include <stddef.h>
		void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
		void __libc_free(void *);
		/* blocks that glibc's free() does not take */
		void *malloc(size_t n) { char *p = __libc_malloc(n + 16); return p ? p + 16 : p; }
		void *calloc(size_t n, size_t m) { char *p = __libc_calloc(1, n * m + 16); return p ? p + 16 : p; }
		void *realloc(void *q, size_t n) { char *p = __libc_realloc(q ? (char *)q - 16 : q, n + 16); return p ? p + 16 : p; }
		void free(void *p) { if (p) __libc_free((char *)p - 16); }
	END
	cc -shared -fPIC -o part.so part.c
	LD_PRELOAD=$PWD/part.so ends_with 0 $memcg run --max 64M -- sort -S 8M lines
	cmp out sorted
}

@test "blocks of the C library from objects that bypass us" {
	cat >deep.c <<-END
		#include <stdlib.h>
		#include <string.h>
		char *deep(void) { char *p = malloc(100); return p ? strcpy(p, "deep") : p; }
	END
	cat >bypass.c <<-END
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <malloc.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		void *__libc_malloc(size_t);
		int main(void) {
			void *object = dlopen("./deep.so", RTLD_NOW | RTLD_DEEPBIND);
			char *(*deep)(void) = (char *(*)(void))dlsym(object, "deep");
			for (int i = 0; i < 1000; i++) {
				char *a = deep(), *b = __libc_malloc(i), *c = realloc(deep(), 10000);
				if (strcmp(a, "deep") || strcmp(c, "deep") || malloc_usable_size(a)) return 1;
				free(a); free(b); free(c);
			}
			puts("good");
		}
	END
	cc -shared -fPIC -o deep.so deep.c
	cc -o bypass bypass.c -ldl
	ends_with 0 $memcg run --max 64M -- ./bypass
	[ "$(cat out)" = good ]
}
