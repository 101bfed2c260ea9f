/* SPDX-License-Identifier: MIT */
/*
 * The system that the code under test sees (sim/redirect.syms renames the calls): its
 * memory is the arena's, its locks, clock and CPUs are the machine's, and there is
 * nothing else: no files but event descriptors, no signals to block, no threads to start.
 */
#include "runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	FIRST_TID = 1000
};

void *sim_malloc(size_t size);
void *sim_calloc(size_t nr, size_t size);
void *sim_aligned_alloc(size_t align, size_t size);
void *sim_realloc(void *old, size_t size);
void *sim_mmap(void *addr, size_t size, int prot, int flags, int fd, long offset);
int sim_munmap(void *addr, size_t size);
int sim_mprotect(void *addr, size_t size, int prot);
int sim_madvise(void *addr, size_t size, int advice);
long sim_sysconf(int name);
long sim_syscall(long number, ...);
int sim_open(const char *path, int flags, ...);
int sim_open64(const char *path, int flags, ...);
int sim_clock_gettime(clockid_t clock, struct timespec *ts);
int sim_nanosleep(const struct timespec *time, struct timespec *left);
int sim_sched_getcpu(void);
int sim_sched_yield(void);
int sim_pthread_mutex_lock(void *mutex);
int sim_pthread_mutex_trylock(void *mutex);
int sim_pthread_mutex_unlock(void *mutex);
int sim_pthread_sigmask(int how, const void *set, void *old);
int sim_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int sim_pthread_key_create(unsigned int *key, void (*destructor)(void *value));
int sim_pthread_setspecific(unsigned int key, const void *value);
void *sim_pthread_getspecific(unsigned int key);
int sim_sem_init(void *sem, int shared, unsigned int value);
int sim_sem_post(void *sem);
void *sim_rcu_set_pointer(void **p, void *value);
void sim_abort(void) __attribute__((noreturn));
void sim_libc_assert(const char *expr, const char *file, unsigned int line, const char *function)
	__attribute__((noreturn));

static void (*destructors[SIM_NR_KEYS])(void *value);
static unsigned int nr_keys;

void *sim_malloc(size_t size)
{
	return sim_alloc(size, 16);
}

void *sim_calloc(size_t nr, size_t size)
{
	size_t all;

	return __builtin_mul_overflow(nr, size, &all) ? NULL : sim_alloc(all, 16);
}

void *sim_aligned_alloc(size_t align, size_t size)
{
	return sim_alloc(size, align);
}

void *sim_realloc(void *old, size_t size)
{
	const struct sim_object *object = sim_memory_object((uintptr_t)old);
	void *fresh = sim_alloc(size, 16);

	if (object && fresh)
		memcpy(fresh, old, object->size < size ? object->size : size);
	if (fresh)
		sim_free(old);
	return fresh;
}

/* Reserved ranges: what is touched of them is all that they cost. */
void *sim_mmap(void *addr, size_t size, int prot, int flags, int fd, long offset)
{
	void *range = NULL;

	(void)prot;
	(void)fd;
	(void)offset;
	if (!addr && (flags & MAP_ANONYMOUS))
		range = sim_alloc(size < 4096 ? 4096 : size, 0);
	return range ? range : MAP_FAILED;
}

int sim_munmap(void *addr, size_t size)
{
	(void)size;
	sim_free(addr);
	return 0;
}

int sim_mprotect(void *addr, size_t size, int prot)
{
	(void)addr;
	(void)size;
	(void)prot;
	return 0;
}

int sim_madvise(void *addr, size_t size, int advice)
{
	if (advice == MADV_DONTNEED)
		memset(addr, 0, size);
	return 0;
}

long sim_sysconf(int name)
{
	if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
		return sim.run->nr_cpus;
	return name == _SC_PAGESIZE ? 4096 : -1;
}

static bool is_thread(int tid)
{
	return tid >= FIRST_TID && tid < FIRST_TID + (int)sim.nr_fibres &&
	       sim.fibres[tid - FIRST_TID].state != SIM_DONE;
}

/* Of the calls by number those that the library makes; a write and a close are of event descriptors. */
long sim_syscall(long number, ...)
{
	int first, second;
	va_list args;

	va_start(args, number);
	first = va_arg(args, int);
	second = va_arg(args, int);
	va_end(args);
	switch (number) {
	case SYS_gettid:
		return FIRST_TID + sim.current->id;
	case SYS_tgkill:
		if (is_thread(second))
			return 0;
		errno = ESRCH;
		return -1;
	case SYS_write:
		sim_fd_write(first);
		return sizeof(uint64_t);
	case SYS_close:
		sim_fd_close(first);
		return 0;
	default:
		errno = ENOSYS;
		return -1;
	}
}

int sim_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	errno = ENOENT;
	return -1;
}

int sim_open64(const char *path, int flags, ...)
{
	return sim_open(path, flags);
}

int sim_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	sim_sleep_ns((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
	return 0;
}

int sim_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t now = sim_clock_ns();

	(void)clock;
	sim_before_libc(ts, sizeof(*ts), SIM_PC);
	ts->tv_sec = (time_t)(now / 1000000000);
	ts->tv_nsec = (long)(now % 1000000000);
	return 0;
}

int sim_sched_getcpu(void)
{
	return (int)sim_cpu();
}

int sim_sched_yield(void)
{
	sim_yield();
	return 0;
}

int sim_pthread_mutex_lock(void *mutex)
{
	sim_mutex_lock(mutex);
	return 0;
}

int sim_pthread_mutex_trylock(void *mutex)
{
	return sim_mutex_trylock(mutex) ? 0 : EBUSY;
}

int sim_pthread_mutex_unlock(void *mutex)
{
	sim_mutex_unlock(mutex);
	return 0;
}

int sim_pthread_sigmask(int how, const void *set, void *old)
{
	(void)how;
	(void)set;
	(void)old;
	return 0;
}

int sim_sem_init(void *sem, int shared, unsigned int value)
{
	(void)sem;
	(void)shared;
	(void)value;
	return 0;
}

int sim_sem_post(void *sem)
{
	(void)sem;
	return 0;
}

void sim_keys_reset(void)
{
	nr_keys = 0;
}

int sim_pthread_key_create(unsigned int *key, void (*destructor)(void *value))
{
	if (nr_keys == SIM_NR_KEYS)
		return EAGAIN;
	destructors[nr_keys] = destructor;
	*key = nr_keys++;
	return 0;
}

int sim_pthread_setspecific(unsigned int key, const void *value)
{
	sim.current->specific[key] = (void *)(uintptr_t)value;
	return 0;
}

void *sim_pthread_getspecific(unsigned int key)
{
	return sim.current->specific[key];
}

void sim_keys_run(struct sim_fibre *f)
{
	for (unsigned int i = 0; i < nr_keys; i++) {
		void *value = f->specific[i];

		f->specific[i] = NULL;
		if (value && destructors[i])
			destructors[i](value);
	}
}

int sim_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	sim_atfork(prepare, parent, child);
	return 0;
}

/* liburcu's lists publish with it. */
void *sim_rcu_set_pointer(void **p, void *value)
{
	__tsan_atomic64_store((volatile uint64_t *)p, (uint64_t)value, __ATOMIC_RELEASE);
	return value;
}

void sim_abort(void)
{
	sim_fail(SIM_FAIL_ASSERT, SIM_PC, 0, "abort() was called");
}

void sim_libc_assert(const char *expr, const char *file, unsigned int line, const char *function)
{
	(void)file;
	(void)line;
	(void)function;
	sim_fail(SIM_FAIL_ASSERT, SIM_PC, 0, "%s", expr);
}
