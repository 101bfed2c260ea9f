/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine, as its own files see it. Not included by the code under test.
 *
 * Glossary:
 *   fibre      a simulated thread: a stack and a thread pointer of its own
 *   context    what a fibre executes: its thread function, or the interrupt handler on top of it
 *   point      the instant before an access or a hook's act, at which others may go first
 *   view       memory as one CPU sees it: what all see, with the CPU's own buffered stores on top
 *   action     one decision that departs from "the running fibre goes on"
 *   policy     who decides: a scheduler of explore, or a replay
 *   quiet      outside a run (setup, check, invariant): no points, no store buffers
 */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "hooks.h"

#include <string.h>

#define SIM_PC ((uintptr_t)__builtin_return_address(0))
#define sim_unlikely(x) __builtin_expect(!!(x), 0)

enum {
	SIM_MAX_CPUS = 16,
	SIM_MAX_FIBRES = 17,    /* fibre 0 runs setup and check; the threads of a test follow */
	SIM_NR_STORES = 32,     /* entries of a store buffer */
	SIM_NR_FRAMES = 6,      /* callers kept of a traced step */
	SIM_RANGE_MAX = 256,    /* longest aggregate store that is buffered */
	SIM_SLICE = 20000,      /* points after which a fibre lets the others run */
	SIM_POISON = 0x6b,      /* what freed memory is filled with */
	SIM_STEP_NS = 10,       /* modelled time of one point */
	SIM_THREAD_STATE = 256, /* bytes of a fibre's library state */
	SIM_NR_KEYS = 4,        /* thread-specific keys */
};

enum sim_state {
	SIM_RUNNABLE, /* on a CPU, or queued for one (cpu < 0) */
	SIM_RELAXING, /* on a CPU in a spin loop; goes on when the polled word changes or time passes */
	SIM_SLEEPING, /* off CPU until wake_ns */
	SIM_BLOCKED,  /* off CPU until a lock or a grace period comes */
	SIM_DONE,
};

enum sim_kind { /* of a step */
	SIM_READ,
	SIM_WRITE,
	SIM_LOAD,
	SIM_STORE,
	SIM_RMW,
	SIM_CAS_FAILED,
	SIM_FENCE,
	SIM_ALLOC,
	SIM_FREE,
	SIM_SECTION_BEGIN,
	SIM_COMMIT,
	SIM_COMMIT_ABORTED,
	SIM_MEMBARRIER,
	SIM_FENCED, /* a CPU was reached by a membarrier: addr is its number */
	SIM_RCU_LOCK,
	SIM_RCU_UNLOCK,
	SIM_RCU_WAIT,
	SIM_RCU_DONE,
	SIM_MUTEX_LOCK,
	SIM_MUTEX_TRYLOCK,
	SIM_MUTEX_UNLOCK,
	SIM_RELAX,
	SIM_SLEEP,
	SIM_FORK,
	SIM_DRAINED, /* a buffered store became visible to all */
	SIM_ACTION,  /* a decision: value is the packed action */
	SIM_IRQ_BEGIN,
	SIM_IRQ_END,
	SIM_EXIT,
	SIM_PLANTED, /* a planted fault takes effect */
	SIM_FAILED,  /* the failure itself */
};

enum sim_failure_kind {
	SIM_OK,
	SIM_FAIL_ASSERT,
	SIM_FAIL_INVARIANT,
	SIM_FAIL_USE_AFTER_FREE,
	SIM_FAIL_OUT_OF_BOUNDS,
	SIM_FAIL_BAD_FREE,
	SIM_FAIL_BAD_ADDRESS,
	SIM_FAIL_DEADLOCK,
	SIM_FAIL_LIVELOCK,
	SIM_FAIL_MISUSE,
};

enum sim_action_kind {
	SIM_ACT_RUN,     /* fibre a goes on now; an idle CPU is given to it when it has none */
	SIM_ACT_PLACE,   /* fibre a is put on CPU b; who was there is queued, or swaps places */
	SIM_ACT_PREEMPT, /* the running fibre is switched away and back */
	SIM_ACT_DRAIN,   /* the oldest store of CPU a becomes visible */
	SIM_ACT_IRQ,     /* the handler runs on top of the running fibre */
	SIM_ACT_NEXT,    /* where a fibre cannot go on: fibre a is next */
};

struct sim_action {
	uint8_t kind; /* enum sim_action_kind */
	uint8_t a;    /* fibre or CPU */
	uint8_t b;    /* CPU */
};

struct sim_context {
	uint32_t n;    /* points so far in this run */
	uint32_t next; /* the policy is asked at this point and at all later ones (replay) */
};

struct sim_fibre {
	void *sp;                    /* saved stack pointer while not running */
	uintptr_t tp;                /* thread pointer, borrowed from a parked thread */
	uintptr_t stack;             /* lowest address of the stack */
	uintptr_t locals;            /* its library state, SIM_THREAD_STATE bytes */
	void *specific[SIM_NR_KEYS]; /* values of its thread-specific keys */
	void (*entry)(void);         /* what it runs */
	struct sim_context ctx[2];   /* thread, interrupt */
	unsigned int id;             /* index in sim.fibres */
	enum sim_state state;        /* where it stands */
	int cpu;                     /* CPU it is on; -1 none */
	int last_cpu;                /* CPU it was on before */
	unsigned int cid;            /* concurrency id while on a CPU */
	bool irq;                    /* the handler runs on top */
	bool resumed;                /* got its turn and has made no visible access since */
	bool in_section;             /* inside a restartable section */
	bool aborted;                /* which was hit */
	unsigned int rcu_nesting;    /* read sections entered */
	uint64_t rcu_since;          /* sim.sequence when the outermost began */
	uint64_t rcu_wait;           /* sim.sequence when the grace period began that it waits for; 0 none */
	uint64_t wake_ns;            /* end of its sleep */
	uint64_t queued_at;          /* sim.sequence when it was queued */
	const volatile void *polled; /* word whose change ends its relaxing */
	void *mutex;                 /* lock that it waits for */
	uintptr_t sleep_pc;          /* call that it sleeps in */
};

struct sim_store {
	uintptr_t addr; /* where */
	uint64_t value; /* what was stored */
	uint64_t under; /* what memory holds without it; valid while the CPU's view is shown */
	uintptr_t pc;   /* who stored */
	uint8_t size;   /* 1 .. 8 bytes */
	uint8_t ctx;    /* context that stored */
};

struct sim_cpu {
	struct sim_fibre *current;              /* NULL: idle */
	struct sim_store stores[SIM_NR_STORES]; /* ring, oldest at head */
	unsigned int head;                      /* index of the oldest */
	unsigned int nr;                        /* buffered stores */
};

struct sim_pending {                  /* a plain store whose hook was called; the store itself follows */
	uintptr_t addr;               /* where */
	uintptr_t pc;                 /* who */
	unsigned int size;            /* bytes; 0: none pending */
	bool buffered;                /* goes to the store buffer */
	struct sim_step *step;        /* traced step that still lacks the value */
	uint8_t under[SIM_RANGE_MAX]; /* memory before it */
};

struct sim_step {
	uintptr_t addr;              /* what was touched */
	uint64_t value;              /* read or written */
	uintptr_t pc[SIM_NR_FRAMES]; /* where, and its callers */
	uint32_t n;                  /* point of the context */
	uint32_t size;               /* bytes */
	uint8_t kind;                /* enum sim_kind */
	uint8_t fibre;               /* who */
	uint8_t irq;                 /* in the handler */
	int8_t cpu;                  /* on which CPU */
};

struct sim_failure {
	enum sim_failure_kind kind; /* SIM_OK while none */
	uintptr_t pc;               /* where it was noticed */
	uintptr_t addr;             /* memory concerned; 0 none */
	unsigned int fibre;         /* who ran */
	bool irq;                   /* in the handler */
	char text[256];             /* what, without addresses */
};

/*
 * Who decides. next() is asked at a point when sim.countdown counted points have passed,
 * when the context's own next is reached, or when sim.resched is set; it is asked again
 * after each action until it returns false. pick() chooses among the fibres that can
 * go on where the running one cannot; it is told of a single one too.
 */
struct sim_policy {
	void (*begin)(void);
	bool (*next)(struct sim_fibre *f, bool visible, struct sim_action *action);
	unsigned int (*pick)(struct sim_fibre *f, const uint8_t *ids, unsigned int nr);
	void (*woken)(struct sim_fibre *f); /* may be NULL */
};

struct sim_run {                         /* what a run is given */
	const struct sim_policy *policy; /* who decides */
	void (*const *threads)(void);    /* the fibres' functions */
	unsigned int nr_threads;         /* 1 .. SIM_MAX_FIBRES - 1 */
	unsigned int nr_cpus;            /* 1 .. SIM_MAX_CPUS */
	void (*setup)(void);             /* before, alone; may be NULL */
	void (*check)(void);             /* after, alone; may be NULL */
	void (*invariant)(void);         /* at points after a change, alone; may be NULL */
	void (*handler)(void);           /* the interrupt handler; may be NULL */
	unsigned int invariant_every;    /* changes between two invariant calls; 0 is 1 */
	unsigned int max_irqs;           /* interrupts in one run; 0 is 1 */
	uint64_t seed;                   /* concurrency ids, reuse of addresses */
	uint64_t max_steps;              /* more is a live-lock */
	bool tso;                        /* store buffers */
	bool trace;                      /* record steps */
	bool count_shared;               /* sim.countdown counts points at conflicting accesses alone */
};

struct sim_machine {
	/* read on each access */
	bool live;                  /* in a run, not quiet */
	bool tso;                   /* store buffers are on */
	bool resched;               /* ask the policy at the next point */
	bool changed;               /* memory that all see changed since the last invariant call */
	int view;                   /* CPU whose view memory shows; -1 none */
	struct sim_fibre *current;  /* who runs; NULL: the engine */
	int64_t countdown;          /* counted points until the policy is asked */
	uint64_t steps;             /* points of all contexts */
	uint64_t steps_check;       /* end of the time slice, or of patience */
	struct sim_pending pending; /* plain store not yet settled */

	const struct sim_run *run; /* what is run */
	struct sim_cpu cpus[SIM_MAX_CPUS];
	struct sim_fibre fibres[SIM_MAX_FIBRES];
	unsigned int nr_fibres;      /* with fibre 0 */
	unsigned int nr_relaxing;    /* fibres that poll */
	unsigned int nr_irqs;        /* handler calls so far */
	uint8_t cids[SIM_MAX_CPUS];  /* order in which concurrency ids are given out */
	uint32_t cids_used;          /* bit set */
	unsigned int cpu_base;       /* number of the first CPU */
	uint64_t sequence;           /* counts events that are compared by age */
	uint32_t eager;              /* CPUs whose stores make the policy be asked (bit set) */
	uint64_t skipped_ns;         /* time that passed while all slept */
	uint64_t nr_changes;         /* stores that changed a value */
	uint64_t idle_changes;       /* nr_changes when all last polled in vain */
	unsigned int idle_turns;     /* how often in a row */
	unsigned int invariant_left; /* changes until the next invariant call */
	uint64_t slice_end;          /* step at which the time slice ends */
	bool reuse;                  /* freed addresses are given out again at once */
	long ledger[SIM_LEDGER];     /* accounts of the test */
	bool in_child;               /* sim_fork_child() was called */
	enum sim_fault fault;        /* planted fault */

	struct sim_failure failure;
	struct sim_step *trace; /* ring of steps */
	uint64_t nr_trace;      /* steps recorded in all */
	struct sim_logged {
		struct sim_action action; /* what was decided */
		uint8_t ctx;              /* fibre * 2 + irq: at whose point */
		uint32_t n;               /* and which */
	} * log;                          /* decisions of this run */
	unsigned int nr_log;
};

enum {
	SIM_TRACE_MAX = 1 << 16,
	SIM_LOG_MAX = 1 << 17
};

extern struct sim_machine sim;

/* fibre.c: stacks, switches, thread pointers */
void sim_fibre_init(void);
void sim_fibre_prepare(struct sim_fibre *f, void (*start)(void));
void sim_fibre_resume(struct sim_fibre *f); /* engine -> fibre */
void sim_fibre_switch(struct sim_fibre *from, struct sim_fibre *to);
void sim_fibre_leave(void) __attribute__((noreturn)); /* fibre -> engine, for good */
enum {
	SIM_STACK_SIZE = 256 << 10,
	SIM_PARK_SIZE = 128 << 10
};

/* globals.c: static data and thread-locals of the code under test */
void sim_globals_init(void);
void sim_globals_reset(void);
void sim_globals_range(unsigned int i, uintptr_t *start, uintptr_t *end);

/* memory.c: the arena */
struct sim_object {
	uintptr_t base;              /* first byte */
	size_t size;                 /* bytes asked for */
	uint32_t serial;             /* number of the allocation in this run; the name in reports */
	uint32_t next_free;          /* free list of its size */
	uint8_t state;               /* enum sim_object_state */
	uint8_t alloc_ctx, free_ctx; /* who */
	uintptr_t alloc_pc, free_pc; /* where */
	uint64_t free_step;          /* when */
};
enum sim_object_state {
	SIM_OBJ_NONE,
	SIM_OBJ_LIVE,
	SIM_OBJ_FREED
};
void *sim_reserve(void *at, size_t size);
void sim_memory_init(void);
void sim_memory_reset(void);
void sim_memory_check(uintptr_t addr, size_t size, bool write, uintptr_t pc);
struct sim_object *sim_memory_object(uintptr_t addr); /* NULL: not in the arena, or never allocated */
void *sim_memory_region(size_t offset, size_t size);

/* conflict.c: which words more than one context touches */
void sim_conflict_init(void);
bool sim_conflict_touch(uintptr_t addr, size_t size, bool write, unsigned int ctx); /* is it a point that counts? */
bool sim_conflict_at(uintptr_t addr, size_t size);                                  /* as known now */
unsigned int sim_conflict_freeze(void); /* what is known now counts from now on; how many words are new */
void sim_conflict_forget(void);

/* buffer.c: store buffers and views */
void sim_view_show(int cpu);
void sim_view_hide(void);
void sim_buffer_push(uintptr_t addr, unsigned int size, uint64_t under, uint64_t value, uintptr_t pc);
void sim_buffer_drain_one(int cpu);
void sim_buffer_drain(int cpu);
bool sim_buffer_drain_all(void); /* were there any? */
void sim_written(uintptr_t addr, unsigned int size, bool changed);
void sim_settle_slow(void);
uint64_t sim_peek(uintptr_t addr, unsigned int size);
void sim_poke(uintptr_t addr, unsigned int size, uint64_t value);

/* A plain store that was announced has been made by now. */
static inline void sim_settle(void)
{
	if (sim.pending.size)
		sim_settle_slow();
}

/* point.c */
bool sim_touch(uintptr_t addr, size_t size, enum sim_kind kind, uintptr_t pc); /* true: off the own stack, in a run */
void sim_announce(uintptr_t addr, size_t size, bool buffered, uintptr_t pc);
void sim_point(enum sim_kind kind, uintptr_t addr, uintptr_t pc); /* of a hook */
void sim_invariant(void);

/* machine.c: CPUs and context switches */
void sim_place(struct sim_fibre *f, int cpu);
void sim_deschedule(struct sim_fibre *f);
void sim_hit_section(struct sim_fibre *f);
void sim_act(struct sim_fibre *f, struct sim_action action);
void sim_run_next(struct sim_fibre *f); /* f cannot go on: another does; returns when f does again */
void sim_fill_cpus(void);
void sim_wake(struct sim_fibre *f);
int sim_idle_cpu(void);
bool sim_can_run(const struct sim_fibre *f);
void sim_fibre_exit(struct sim_fibre *f) __attribute__((noreturn));

/* sleep.c */
void sim_sleep_reset(void);
void sim_keys_reset(void);
void sim_keys_run(struct sim_fibre *f); /* destructors, at a fibre's end */
void sim_atfork_reset(void);
bool sim_time_passes(void); /* nobody can go on: does anything wake when time passes? */

/* eventfd.c */
void sim_fds_reset(void);
void sim_fd_write(int fd);
void sim_fd_close(int fd);

/* tsan.c */
void __tsan_atomic64_store(volatile uint64_t *p, uint64_t value, int order);

/* libc.c */
void sim_before_libc(void *to, size_t size, uintptr_t pc);

/* run.c */
void sim_init(void);
bool sim_execute(const struct sim_run *run); /* true: no failure */
uint64_t sim_random(uint64_t *state);        /* splitmix64 */
void sim_fail(enum sim_failure_kind kind, uintptr_t pc, uintptr_t addr, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* trace.c */
struct sim_step *sim_trace_slow(enum sim_kind kind, uintptr_t addr, size_t size, uint64_t value, uintptr_t pc,
				void *frame);
#define sim_trace(kind, addr, size, value, pc)                                                                       \
	(sim_unlikely(sim.trace != NULL) ? sim_trace_slow(kind, addr, size, value, pc, __builtin_frame_address(0)) : \
					   NULL)
void sim_trace_on(bool on);

/* name.c, where.c: for reports */
void sim_names_reset(void);
void sim_name_of(uintptr_t addr, char *buf, size_t len);
void sim_value_of(uint64_t value, char *buf, size_t len);
void sim_fibre_name(unsigned int fibre, bool irq, char *buf, size_t len);
struct sim_where {
	const char *function; /* innermost, inlined ones too */
	const char *file;     /* below the source root */
	unsigned int line;    /* 0 unknown */
	const char *outer[2]; /* what it is inlined into; NULL: none */
};
void sim_where_add(uintptr_t pc); /* to be resolved */
void sim_where_resolve(void);     /* all of them, by one addr2line */
struct sim_where sim_where(uintptr_t pc);

static inline unsigned int sim_ctx(const struct sim_fibre *f)
{
	return f->id * 2 + f->irq;
}

static inline bool sim_on_stack(const struct sim_fibre *f, uintptr_t addr)
{
	return addr - f->stack < SIM_STACK_SIZE;
}

static inline bool sim_is_write(enum sim_kind kind)
{
	return kind == SIM_WRITE || kind == SIM_STORE || kind == SIM_RMW || kind == SIM_COMMIT || kind == SIM_FREE ||
	       kind == SIM_MUTEX_LOCK || kind == SIM_MUTEX_TRYLOCK || kind == SIM_MUTEX_UNLOCK;
}

#endif
