/* SPDX-License-Identifier: MIT */
/*
 * One run: a clean state, setup, the fibres until all are done or one fails, check.
 *
 * The engine's own stack is left for the fibres' and returned to at the end, so a
 * failure anywhere in the code under test ends the run by not going back to it. The next
 * run starts from the state that the program started with (globals.c, memory.c).
 */
#include "runtime.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

struct sim_machine sim;

uint64_t sim_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void sim_fail(enum sim_failure_kind kind, uintptr_t pc, uintptr_t addr, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!sim.current) {
		vfprintf(stderr, fmt, args);
		fprintf(stderr, " (outside any thread)\n");
		abort();
	}
	if (!sim.failure.kind) {
		sim.failure.kind = kind;
		sim.failure.pc = pc;
		sim.failure.addr = addr;
		sim.failure.fibre = sim.current->id;
		sim.failure.irq = sim.current->irq;
		vsnprintf(sim.failure.text, sizeof(sim.failure.text), fmt, args);
	}
	va_end(args);
	sim_trace(SIM_FAILED, addr, 0, 0, pc);
	sim.live = false;
	sim_fibre_leave();
}

void sim_assert_fail(const char *expr, const char *file, int line)
{
	(void)file;
	(void)line;
	sim_fail(SIM_FAIL_ASSERT, SIM_PC, 0, "%s", expr);
}

bool sim_fault(enum sim_fault fault)
{
	if (sim.fault != fault)
		return false;
	sim_trace(SIM_PLANTED, 0, 0, 0, SIM_PC);
	return true;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];

	(void)info;
	if (!sim.current) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	sim_fail(SIM_FAIL_BAD_ADDRESS, pc + 1, 0, "%s",
		 number == SIGFPE ? "division by zero" : "access to an address that is not mapped");
}

void sim_note(unsigned int account, long change)
{
	sim.ledger[account] += change;
}

long sim_noted(unsigned int account)
{
	return sim.ledger[account];
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	stack_t stack = { .ss_size = 64 << 10 };

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		abort();
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

void sim_init(void)
{
	sim.log = sim_reserve(NULL, SIM_LOG_MAX * sizeof(*sim.log));
	sim.view = -1;
	sim_memory_init();
	sim_globals_init();
	sim_fibre_init();
	sim_conflict_init();
	catch_signals();
}

static void thread_main(void)
{
	sim.current->entry();
	sim_keys_run(sim.current);
	sim_fibre_exit(sim.current);
}

static void alone_main(void)
{
	sim.current->entry();
	sim_settle();
	sim_fibre_leave();
}

/* Runs @fn in fibre 0, with nobody else. */
static void run_alone(void (*fn)(void))
{
	struct sim_fibre *f = &sim.fibres[0];

	if (!fn || sim.failure.kind)
		return;
	f->entry = fn;
	f->in_section = false;
	sim_fibre_prepare(f, alone_main);
	sim_fibre_resume(f);
}

static void reset_fibre(struct sim_fibre *f, void (*entry)(void))
{
	struct sim_fibre kept = *f;

	*f = (struct sim_fibre){ .tp = kept.tp, .stack = kept.stack, .locals = kept.locals, .id = kept.id };
	memset((void *)f->locals, 0, SIM_THREAD_STATE);
	f->cpu = -1;
	f->last_cpu = -1;
	f->entry = entry;
	f->ctx[0].next = UINT32_MAX;
	f->ctx[1].next = UINT32_MAX;
	if (entry)
		sim_fibre_prepare(f, thread_main);
}

static void shuffle_cids(uint64_t *random)
{
	unsigned int nr = sim.run->nr_cpus;

	for (unsigned int i = 0; i < nr; i++)
		sim.cids[i] = (uint8_t)i;
	for (unsigned int i = nr; i > 1; i--) {
		unsigned int k = (unsigned int)(sim_random(random) % i);
		uint8_t cid = sim.cids[i - 1];

		sim.cids[i - 1] = sim.cids[k];
		sim.cids[k] = cid;
	}
}

static void reset(const struct sim_run *run)
{
	uint64_t random = run->seed;

	sim.run = run;
	sim.tso = run->tso;
	sim.view = -1;
	sim.resched = sim.changed = sim.in_child = false;
	sim.countdown = INT64_MAX;
	sim.steps = sim.sequence = sim.skipped_ns = sim.nr_changes = sim.idle_changes = 0;
	sim.pending.size = 0;
	sim.pending.step = NULL;
	sim.nr_fibres = run->nr_threads + 1;
	sim.nr_relaxing = sim.nr_irqs = sim.idle_turns = sim.nr_log = 0;
	sim.cids_used = sim.eager = 0;
	sim.invariant_left = run->invariant_every;
	sim.steps_check = SIM_SLICE < run->max_steps ? SIM_SLICE : run->max_steps;
	sim.failure.kind = SIM_OK;
	memset(sim.ledger, 0, sizeof(sim.ledger));
	sim.nr_trace = 0;
	for (unsigned int i = 0; i < SIM_MAX_CPUS; i++) {
		sim.cpus[i].current = NULL;
		sim.cpus[i].nr = sim.cpus[i].head = 0;
	}
	for (unsigned int i = 0; i < sim.nr_fibres; i++)
		reset_fibre(&sim.fibres[i], i ? run->threads[i - 1] : NULL);
	shuffle_cids(&random);
	sim.reuse = sim_random(&random) % 4 == 0;
	sim.cpu_base = (unsigned int)(sim_random(&random) % SIM_CPU_BASES);
	sim_memory_reset();
	sim_globals_reset();
	sim_sleep_reset();
	sim_keys_reset();
	sim_fds_reset();
	sim_atfork_reset();
	sim_names_reset();
}

/* The engine's own first choice: who begins. It is logged as a decision of fibre 0. */
static struct sim_fibre *first_fibre(void)
{
	uint8_t ids[SIM_MAX_FIBRES] = { 0 };
	unsigned int nr = 0, choice = 0;

	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		if (sim.fibres[i].cpu >= 0)
			ids[nr++] = (uint8_t)i;
	if (nr > 1)
		choice = sim.run->policy->pick(&sim.fibres[0], ids, nr);
	if (choice)
		sim.log[sim.nr_log++] = (struct sim_logged){ .action = { .kind = SIM_ACT_NEXT, .a = ids[choice] } };
	return &sim.fibres[ids[choice]];
}

static void run_together(void)
{
	struct sim_fibre *first;

	for (unsigned int i = 1; i < sim.nr_fibres && i <= sim.run->nr_cpus; i++)
		sim_place(&sim.fibres[i], (int)i - 1);
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		if (sim.fibres[i].cpu < 0)
			sim.fibres[i].queued_at = ++sim.sequence;
	sim.run->policy->begin();
	first = first_fibre();
	first->resumed = true;
	sim_view_show(first->cpu);
	sim.live = true;
	sim_fibre_resume(first);
	sim.live = false;
	sim.view = -1;
}

bool sim_execute(const struct sim_run *run)
{
	reset(run);
	run_alone(run->setup);
	if (!sim.failure.kind)
		run_together();
	run_alone(run->check);
	return !sim.failure.kind;
}
