/* SPDX-License-Identifier: MIT */
/*
 * Starting the library below malloc: at the first call of malloc(), or when our constructor
 * runs. Constructors of other objects run before ours and allocate, so the first call decides.
 *
 * What is below us is found by RTLD_NEXT: the program's jemalloc, tcmalloc or mimalloc, or
 * the C library. All of it must come from one object. A library that limits nothing although it was asked to is worse than none:
 * if the start fails, the process ends with status 125 and one line that says why.
 */
#include "control.h"
#include "groups.h"
#include "maps.h"
#include "preload.h"
#include "run_env.h"
#include <dlfcn.h>
#include <memcg/files.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum start_state {
	START_NOT = 0,
	START_RUNNING = 1,
	START_DONE = 2
};

static unsigned int start_state; /* enum start_state; atomic */
struct memcg_backing next_malloc;

/* Points to the byte once the loader has relocated us. */
static const char relocated_byte;
static const char *volatile relocated = &relocated_byte;

static bool interposed; /* the program's malloc() is ours */

bool start_interposed(void)
{
	return interposed;
}

bool start_done(void)
{
	return __atomic_load_n(&start_state, __ATOMIC_ACQUIRE) == START_DONE;
}

/* Without a relocation; then without the C library, whose environ is NULL until it runs. */
bool start_possible(void)
{
	if (relocated != &relocated_byte)
		return false;
	return start_done() || environ;
}

_Noreturn void start_fail(const char *what, int error)
{
	char line[512];
	int len = snprintf(line, sizeof(line), "libmemcg-malloc: %s: %s\n", what, strerrordesc_np(error));

	if (len > (int)sizeof(line) - 1)
		len = sizeof(line) - 1;
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		errno = error; /* nobody hears us: the status remains */
	for (;;)
		syscall(SYS_exit_group, 125);
}

void *start_next(const char *name)
{
	unsigned int phase = thread_busy();
	void *function = dlsym(RTLD_NEXT, name);

	thread_self.phase = phase;
	return function;
}

static const void *object_of(const void *function)
{
	Dl_info info;

	return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

static void *(*next_aligned_alloc)(size_t align, size_t size);

/* mimalloc 2.0 takes blocks of 256 to 1024 bytes for aligned to their size, and they are not. */
static void *checked_aligned_alloc(size_t align, size_t size)
{
	void *block = NULL;

	for (size_t more = 0; more <= MALLOC_ALIGN; more += MALLOC_ALIGN) {
		block = next_aligned_alloc(align, size + more);
		if (!block || !((uintptr_t)block & (align - 1)))
			return block;
		next_malloc.free(block);
	}
	return NULL;
}

/* memalign() before aligned_alloc(), which may insist on a multiple as size. */
static bool take_aligned_alloc(void *where, const void *home)
{
	static const char names[][16] = { "memalign", "aligned_alloc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *function = dlsym(where, names[i]);

		if (function && object_of(function) == home) {
			*(void **)&next_aligned_alloc = function;
			return true;
		}
	}
	return false;
}

/* An allocator may define some of the family only: what others return is not its own to free. */
static bool take_malloc(void *where)
{
	void *functions[] = {
		dlsym(where, "free"),
		dlsym(where, "malloc"),
		dlsym(where, "calloc"),
		dlsym(where, "realloc"),
	};
	const void *home = object_of(functions[0]);

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!functions[i] || object_of(functions[i]) != home)
			return false;
	}
	*(void **)&next_malloc.free = functions[0];
	*(void **)&next_malloc.malloc = functions[1];
	*(void **)&next_malloc.calloc = functions[2];
	*(void **)&next_malloc.realloc = functions[3];
	next_malloc.aligned_alloc = checked_aligned_alloc;
	return take_aligned_alloc(where, home);
}

/* The next one, or else, passing over an allocator that is not whole, the C library's. */
static void find_next_malloc(void)
{
	void *libc;

	if (take_malloc(RTLD_NEXT))
		return;
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (!libc || !take_malloc(libc))
		start_fail("no malloc found below", ENOSYS);
}

static void set_limit(const char *file, const char *variable, const char *value)
{
	ssize_t ret;

	if (!value)
		return;
	ret = memcg_write(NULL, file, value, strlen(value));
	if (ret < 0)
		start_fail(variable, (int)-ret);
}

static void start_library(void)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &next_malloc };
	int ret;

	run_env_read();
	find_next_malloc();
	if (run_env.max)
		options.flags |= MEMCG_INIT_NO_HOST_MAX;
	ret = memcg_init(&options);
	if (ret)
		start_fail("cannot start", -ret);
	threads_start();
	exit_start();
	maps_start();
	set_limit("memory.high", "MEMCG_RUN_HIGH", run_env.high);
	set_limit("memory.max", "MEMCG_RUN_MAX", run_env.max);
	groups_set();
}

/* The thread is busy: what is called from here allocates in the boot arena. */
void start(void)
{
	unsigned int state = START_NOT;

	if (start_done())
		return;
	if (!__atomic_compare_exchange_n(&start_state, &state, START_RUNNING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE)) {
		while (!start_done())
			sched_yield();
		return;
	}
	int saved = errno;

	start_library();
	errno = saved;
	__atomic_store_n(&start_state, START_DONE, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void start_constructor(void)
{
	if (!start_done())
		call_mode();
	interposed = interpose_is_reached();
	run_env_close_inherited();
	control_start();
}
