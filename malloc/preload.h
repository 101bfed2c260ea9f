/* SPDX-License-Identifier: MIT */
/*
 * libmemcg-malloc.so: the process' malloc, with every block charged to the group of the
 * thread that asks for it. Loaded by LD_PRELOAD in front of whatever malloc the program has.
 *
 * One rule carries it all: a block has the library's header, or it lies in the boot arena.
 *   charged   the thread is in none of our calls: the thread's group pays
 *   nested    the library, what it calls or the allocator below calls malloc while we are in
 *             the library for the same thread: nobody pays, the header says so
 *   boot      the library does not run yet: the block comes from the boot arena
 * The memory itself comes from the next malloc in the search order (start.c), by struct
 * memcg_backing, so that nothing is charged twice.
 */
#ifndef MEMCG_PRELOAD_H
#define MEMCG_PRELOAD_H

#include <memcg/heap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __SIZEOF_POINTER__ != 8 && !defined(__cppcheck__)
#error "the names of operator new and the header of a block are those of 64-bit machines"
#endif

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#define COLD __attribute__((noinline, cold))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Alignment of plain malloc(). */
#define MALLOC_ALIGN 16UL

enum thread_phase {
	THREAD_NEW = 0,  /* has not allocated yet, or the loader has not set thread-local storage up */
	THREAD_IDLE = 1, /* in none of our calls */
	THREAD_BUSY = 2, /* in one of our calls: what allocates now is nested */
};

/* What we keep of a thread, read at once by the fast path: THREAD_IDLE, if it is idle and not renamed. */
struct thread {
	union {
		struct {
			unsigned int phase;   /* enum thread_phase; written by the thread only */
			unsigned int renamed; /* set by whoever names the thread, which looks for its name then */
		};
		uint64_t both; /* the two of them */
	};
	bool placed; /* its home was given to it for its name; written by the thread only */
};

extern HIDDEN __thread struct thread thread_self __attribute__((tls_model("initial-exec")));

enum call_mode {
	CALL_CHARGED,
	CALL_NESTED,
	CALL_BOOT
};

/* interpose.c: what the fast path does not decide. CALL_CHARGED leaves the thread idle. */
HIDDEN enum call_mode call_mode(void);
HIDDEN void *charged_alloc(size_t align, size_t size);
HIDDEN void *charged_realloc(void *ptr, size_t size); /* neither NULL nor 0 */
HIDDEN void charged_free(void *ptr);
HIDDEN size_t charged_size(const void *ptr);
HIDDEN bool interpose_is_reached(void); /* false: the program has a malloc of its own, and we see nothing of it */

/* start.c: the library, once. */
extern HIDDEN struct memcg_backing next_malloc; /* what is below us; written at start */
HIDDEN bool start_possible(void);               /* the loader has relocated us and the C library runs */
HIDDEN bool start_done(void);
HIDDEN bool start_interposed(void);        /* known once our constructor ran */
HIDDEN void start(void);                   /* returns when the library runs; ends the process if it cannot */
HIDDEN void *start_next(const char *name); /* the next definition of a function, NULL: none */
HIDDEN _Noreturn void start_fail(const char *what, int error);

/* bootstrap.c: what is allocated before. Never given back: it is little. */
#define BOOT_SIZE (256UL << 10)
extern HIDDEN char boot_arena[BOOT_SIZE];
HIDDEN void *boot_alloc(size_t align, size_t size); /* zeroed; NULL when the arena is full */
HIDDEN size_t boot_size(const void *ptr);
HIDDEN void *boot_move(const void *ptr, size_t size); /* to the heap */

static inline bool boot_owns(const void *ptr)
{
	return (uintptr_t)ptr - (uintptr_t)boot_arena < BOOT_SIZE;
}

/* threads.c: groups by thread name. */
HIDDEN void threads_start(void);
HIDDEN void threads_arrive(struct thread *thread); /* first allocation, or renamed; the thread is busy */

/* process.c: the child of vfork(). */
HIDDEN void process_start(void);
HIDDEN bool process_is_guest(void); /* the memory, and thread_self, are of another process */

/* exit.c */
HIDDEN void exit_start(void);

/* What marks the thread busy, and gives back the phase it had. */
static inline unsigned int thread_busy(void)
{
	unsigned int phase = thread_self.phase;

	thread_self.phase = THREAD_BUSY;
	return phase;
}

#endif
