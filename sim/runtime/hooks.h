/* SPDX-License-Identifier: MIT */
/*
 * What the simulated machine gives to the code that runs on it.
 *
 * The library's lower floors include this header when MEMCG_SIM is set, and map
 * their CPU number, restartable sections, fences, grace periods, sleeping locks,
 * clock and memory to it. Plain memory accesses and C11 atomics need no call: the
 * compiler reports them (sim/runtime/tsan.c). Every function here may be called
 * outside a run too (setup, check, invariant): it then acts at once, alone.
 *
 * S1  Between two scheduling points a fibre runs alone. Every access to memory that
 *     is not on the fibre's own stack has such a point before it, and so has every
 *     function here that says "point".
 * S2  The CPU number and the concurrency id may change at any point; inside a
 *     section such a change aborts it.
 * S3  sim_section_commit() checks and stores with no point between.
 * S4  An access to freed memory is a failure, except inside a section that is
 *     already aborted (the real one would have left for its abort handler).
 */
#ifndef SIM_HOOKS_H
#define SIM_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPUs. */

unsigned int sim_cpu(void);     /* number of the CPU that runs this fibre: below sim_nr_cpus() + SIM_CPU_BASES */
unsigned int sim_mm_cid(void);  /* compact id, below sim_nr_cpus(); given out anew at each context switch */
unsigned int sim_nr_cpus(void); /* how many there are */

/* CPU numbers begin at 0 .. SIM_CPU_BASES - 1, as the seed has it: what takes one for the other goes wrong. */
enum {
	SIM_CPU_BASES = 3
};

/* This thread's block of library state: zeroed at its start, the same for its interrupts. @size up to 256. */
void *sim_thread_state(size_t size);

/* Restartable sections: begin, plain loads, and one committing store. They do not nest. */

void sim_section_begin(void);

/*
 * Point, then: false when a context switch, a migration, an interrupt or a fence hit
 * the section since its begin; else stores @value as a plain store. The section is
 * over in both cases.
 */
bool sim_section_commit(uint64_t *slot, uint64_t value);

void sim_section_end(void); /* leaves without a store */

/*
 * Aborts the sections that are running and acts as a full barrier: on every CPU that
 * runs a fibre (@cpu < 0; one CPU after another, each its own point), or on the CPU
 * with that *number* alone. Returns 0, also for a CPU that does not exist.
 */
int sim_membarrier_rseq(int cpu);

/* Grace periods. Read sections nest; waiting inside one, or in an interrupt, is a failure. */

void sim_rcu_read_lock(void);   /* point */
void sim_rcu_read_unlock(void); /* point */
bool sim_rcu_read_ongoing(void);
void sim_synchronize_rcu(void); /* point; sleeps */

/*
 * Sleeping locks, named by the address of the lock (its memory is not touched). A
 * blocking lock call in an interrupt, by the owner, or when all fibres are blocked is
 * a failure, as is an unlock by another than the owner.
 */

void sim_mutex_lock(void *mutex);
bool sim_mutex_trylock(void *mutex);
void sim_mutex_unlock(void *mutex);

/* In each turn of a spin loop: sleeps until *@polled is written, or time passes. NULL: sim_yield(). */
void sim_relax(const volatile void *polled);
void sim_yield(void); /* point at which others come first */

/* The modelled clock: 10 ns a step; it jumps when every fibre sleeps. */

uint64_t sim_clock_ns(void);
void sim_sleep_ns(uint64_t ns);

/*
 * Memory: zeroed; @align 0 or a power of two. Freed memory is filled with 0x6b and
 * watched: an access before its address is given out again is a failure that names
 * both places. In most schedules addresses are never reused, in the rest at once
 * (for bugs of the ABA kind). An access past the end of an object is a failure too.
 */

void *sim_alloc(size_t size, size_t align);
void sim_free(void *memory); /* NULL is ignored */

/* The 64-byte lines of such memory that are stored to from begin to end, each counted once. */

void sim_lines_begin(void);
unsigned long sim_lines_end(void);

/* fork: handlers run as pthread_atfork() has them; pthread_atfork() in instrumented code arrives here too. */

void sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
void sim_fork_child(void);  /* prepare handlers; every other fibre vanishes where it stands; child handlers */
void sim_fork_parent(void); /* prepare and parent handlers: the other side of the same fork */
bool sim_in_child(void);    /* has sim_fork_child() been called in this run? */

/* Failures and names. */

void sim_assert_fail(const char *expr, const char *file, int line) __attribute__((noreturn));
#define sim_check(expr) ((expr) ? (void)0 : sim_assert_fail(#expr, __FILE__, __LINE__))

/*
 * A test's own ledger, of SIM_LEDGER accounts that begin at 0: neither memory nor a
 * point, so that keeping it does not change what is tested.
 */
enum {
	SIM_LEDGER = 32
};
void sim_note(unsigned int account, long change);
long sim_noted(unsigned int account);

/* Names a range in reports: "page_counter.usage". Strings must be literals. */
void sim_name(const volatile void *range, size_t size, const char *type, const char *field);
#define sim_name_field(object, type, field) \
	sim_name(&(object)->field, (size_t)((char *)(&(object)->field + 1) - (char *)&(object)->field), #type, #field)

/* Faults that a test plants with --fault NAME; at most one at a time. */

#define SIM_FAULTS(X)                                   \
	X(LOST_STORE_IN_REFILL, "lost-store-in-refill") \
	X(EARLY_REOPEN, "early-reopen")                 \
	X(NO_FENCE_IN_DRAIN, "no-fence-in-drain")       \
	X(FENCE_BY_CID, "fence-by-cid")                 \
	X(NO_DYING_CHECK, "no-dying-check")             \
	X(NO_GRACE_PERIOD, "no-grace-period")           \
	X(ADD_THEN_BACK_OFF, "add-then-back-off")       \
	X(DROP_REMAINDER, "drop-remainder")             \
	X(VICTIM_REREAD, "victim-reread")               \
	X(CHILD_AFTER_PARENT, "child-after-parent")     \
	X(NO_FENCE_IN_FLUSH, "no-fence-in-flush")       \
	X(MARK_BEFORE_BITS, "mark-before-bits")         \
	X(EPOCH_FIRST, "epoch-first")

enum sim_fault {
	FAULT_NONE,
#define X(id, name) FAULT_##id,
	SIM_FAULTS(X)
#undef X
};

bool sim_fault(enum sim_fault fault);

#endif
