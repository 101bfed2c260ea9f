/* SPDX-License-Identifier: MIT */
/*
 * Sleeping: locks, spin loops, the clock, and grace periods.
 *
 * The clock moves by SIM_STEP_NS a step, and jumps when nobody can go on otherwise. A
 * fibre in a spin loop sleeps until its word changes; when time passes and all spin in
 * vain, again and again, with no store that changed anything, that is a live-lock.
 *
 * A grace period ends when every fibre that was in a read section at its begin has left
 * it. It begins and ends with a full barrier on every CPU, as with membarrier.
 */
#include "runtime.h"

enum {
	MAX_MUTEXES = 256,
	MAX_IDLE_TURNS = 2000,
	QUIET_TURNS = 100000
};

static struct mutex {
	void *name;              /* address that stands for it */
	struct sim_fibre *owner; /* NULL: free */
} mutexes[MAX_MUTEXES];
static unsigned int nr_mutexes;
static unsigned int quiet_turns; /* sim_relax() calls outside a run */

void sim_sleep_reset(void)
{
	nr_mutexes = 0;
	quiet_turns = 0;
}

static struct mutex *find_mutex(void *name, uintptr_t pc)
{
	for (unsigned int i = 0; i < nr_mutexes; i++)
		if (mutexes[i].name == name)
			return &mutexes[i];
	if (nr_mutexes == MAX_MUTEXES)
		sim_fail(SIM_FAIL_MISUSE, pc, 0, "more than %d locks", MAX_MUTEXES);
	mutexes[nr_mutexes] = (struct mutex){ .name = name };
	return &mutexes[nr_mutexes++];
}

static void may_sleep(const char *what, uintptr_t pc)
{
	if (sim.current->irq)
		sim_fail(SIM_FAIL_MISUSE, pc, 0, "%s in an interrupt", what);
	if (sim.current->in_section)
		sim_fail(SIM_FAIL_MISUSE, pc, 0, "%s inside a section", what);
}

/* Off the CPU until somebody wakes it. */
static void block(struct sim_fibre *f, enum sim_state state, uintptr_t pc)
{
	f->sleep_pc = pc;
	f->state = state;
	sim_deschedule(f);
	sim_run_next(f);
}

static void full_barrier(void)
{
	if (sim.live)
		sim_buffer_drain(sim.current->cpu);
}

void sim_mutex_lock(void *name)
{
	struct sim_fibre *f = sim.current;
	struct mutex *mutex;

	sim_memory_check((uintptr_t)name, 1, false, SIM_PC);
	sim_point(SIM_MUTEX_LOCK, (uintptr_t)name, SIM_PC);
	sim_memory_check((uintptr_t)name, 1, false, SIM_PC);
	may_sleep("a sleeping lock", SIM_PC);
	full_barrier();
	mutex = find_mutex(name, SIM_PC);
	while (mutex->owner) {
		if (mutex->owner == f)
			sim_fail(SIM_FAIL_DEADLOCK, SIM_PC, (uintptr_t)name, "the owner locks its lock again");
		if (!sim.live)
			sim_fail(SIM_FAIL_DEADLOCK, SIM_PC, (uintptr_t)name, "a lock that thread %u still holds",
				 mutex->owner->id);
		f->mutex = name;
		block(f, SIM_BLOCKED, SIM_PC);
	}
	f->mutex = NULL;
	mutex->owner = f;
}

bool sim_mutex_trylock(void *name)
{
	struct mutex *mutex;

	sim_point(SIM_MUTEX_TRYLOCK, (uintptr_t)name, SIM_PC);
	sim_memory_check((uintptr_t)name, 1, false, SIM_PC);
	full_barrier();
	mutex = find_mutex(name, SIM_PC);
	if (mutex->owner)
		return false;
	mutex->owner = sim.current;
	return true;
}

void sim_mutex_unlock(void *name)
{
	struct mutex *mutex;

	sim_point(SIM_MUTEX_UNLOCK, (uintptr_t)name, SIM_PC);
	sim_memory_check((uintptr_t)name, 1, false, SIM_PC);
	full_barrier();
	mutex = find_mutex(name, SIM_PC);
	if (mutex->owner != sim.current)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, (uintptr_t)name, "unlock by another than the owner");
	mutex->owner = NULL;
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		if (sim.fibres[i].state == SIM_BLOCKED && sim.fibres[i].mutex == name)
			sim_wake(&sim.fibres[i]);
}

uint64_t sim_clock_ns(void)
{
	return 1000000000 + sim.steps * SIM_STEP_NS + sim.skipped_ns;
}

void sim_yield(void)
{
	if (!sim.live)
		return;
	sim_point(SIM_RELAX, 0, SIM_PC);
	sim_run_next(sim.current);
}

void sim_relax(const volatile void *polled)
{
	struct sim_fibre *f = sim.current;

	if (!sim.live) {
		if (++quiet_turns > QUIET_TURNS)
			sim_fail(SIM_FAIL_LIVELOCK, SIM_PC, (uintptr_t)polled, "spins although it is alone");
		return;
	}
	sim_settle();
	sim_trace(SIM_RELAX, (uintptr_t)polled, 0, 0, SIM_PC);
	f->polled = polled;
	f->sleep_pc = SIM_PC;
	f->state = SIM_RELAXING;
	sim.nr_relaxing++;
	sim_run_next(f);
}

void sim_sleep_ns(uint64_t ns)
{
	struct sim_fibre *f = sim.current;

	if (!sim.live) {
		sim.skipped_ns += ns;
		return;
	}
	sim_point(SIM_SLEEP, 0, SIM_PC);
	may_sleep("sleeping", SIM_PC);
	f->wake_ns = sim_clock_ns() + ns;
	block(f, SIM_SLEEPING, SIM_PC);
}

bool sim_time_passes(void)
{
	struct sim_fibre *sleeper = NULL;
	uint64_t now = sim_clock_ns(), step;

	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		struct sim_fibre *f = &sim.fibres[i];

		if (f->state == SIM_SLEEPING && (!sleeper || f->wake_ns < sleeper->wake_ns))
			sleeper = f;
	}
	if (!sim.nr_relaxing && !sleeper)
		return false;
	sim.idle_turns = sim.nr_changes == sim.idle_changes ? sim.idle_turns + 1 : 0;
	sim.idle_changes = sim.nr_changes;
	step = 1000ULL << (sim.idle_turns < 20 ? sim.idle_turns : 20);
	if (sleeper && (!sim.nr_relaxing || sleeper->wake_ns <= now + step)) {
		if (sleeper->wake_ns > now)
			sim.skipped_ns += sleeper->wake_ns - now;
		sim_wake(sleeper);
		return true;
	}
	if (sim.idle_turns > MAX_IDLE_TURNS)
		sim_fail(SIM_FAIL_LIVELOCK, SIM_PC, 0, "threads spin on what nobody changes");
	sim.skipped_ns += step;
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		if (sim.fibres[i].state == SIM_RELAXING)
			sim_wake(&sim.fibres[i]);
	return true;
}

void sim_rcu_read_lock(void)
{
	struct sim_fibre *f = sim.current;

	sim_point(SIM_RCU_LOCK, 0, SIM_PC);
	if (!f->rcu_nesting++)
		f->rcu_since = ++sim.sequence;
}

bool sim_rcu_read_ongoing(void)
{
	return sim.current->rcu_nesting > 0;
}

static bool grace_period_over(uint64_t began)
{
	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		const struct sim_fibre *f = &sim.fibres[i];

		if (f->state != SIM_DONE && f->rcu_nesting && f->rcu_since < began)
			return false;
	}
	return true;
}

void sim_rcu_read_unlock(void)
{
	struct sim_fibre *f = sim.current;

	sim_point(SIM_RCU_UNLOCK, 0, SIM_PC);
	if (!f->rcu_nesting)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "end of a read section that never began");
	if (--f->rcu_nesting || !sim.live)
		return;
	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		struct sim_fibre *waiter = &sim.fibres[i];

		if (waiter->rcu_wait && grace_period_over(waiter->rcu_wait)) {
			waiter->rcu_wait = 0;
			sim_wake(waiter);
		}
	}
}

void sim_synchronize_rcu(void)
{
	struct sim_fibre *f = sim.current;
	uint64_t began;

	if (f->rcu_nesting)
		sim_fail(SIM_FAIL_DEADLOCK, SIM_PC, 0, "waits for a grace period inside a read section");
	if (!sim.live)
		return;
	sim_point(SIM_RCU_WAIT, 0, SIM_PC);
	may_sleep("waiting for a grace period", SIM_PC);
	sim_buffer_drain_all();
	began = ++sim.sequence;
	if (!grace_period_over(began)) {
		f->rcu_wait = began;
		block(f, SIM_BLOCKED, SIM_PC);
	}
	sim_buffer_drain_all();
	sim_trace(SIM_RCU_DONE, 0, 0, 0, SIM_PC);
}
