/* SPDX-License-Identifier: MIT */
/* CPU numbers, restartable sections and fences, as the code under test calls them. */
#include "runtime.h"

unsigned int sim_cpu(void)
{
	return sim.cpu_base + (sim.live ? (unsigned int)sim.current->cpu : 0);
}

unsigned int sim_mm_cid(void)
{
	return sim.live ? sim.current->cid : sim.cids[0];
}

unsigned int sim_nr_cpus(void)
{
	return sim.run->nr_cpus;
}

void *sim_thread_state(size_t size)
{
	if (size > SIM_THREAD_STATE)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "a thread's state is too large");
	return (void *)sim.current->locals;
}

void sim_section_begin(void)
{
	struct sim_fibre *f = sim.current;

	sim_settle();
	if (f->in_section)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "sections do not nest");
	f->in_section = true;
	f->aborted = false;
	sim_trace(SIM_SECTION_BEGIN, 0, 0, 0, SIM_PC);
}

void sim_section_end(void)
{
	struct sim_fibre *f = sim.current;

	sim_settle();
	if (!f->in_section)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "end of a section that never began");
	f->in_section = false;
}

bool sim_section_commit(uint64_t *slot, uint64_t value)
{
	struct sim_fibre *f = sim.current;
	uintptr_t addr = (uintptr_t)slot;
	bool shared = sim_touch(addr, sizeof(*slot), SIM_COMMIT, SIM_PC);
	uint64_t old;

	if (!f->in_section)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "commit of a section that never began");
	f->in_section = false;
	if (f->aborted) {
		sim_trace(SIM_COMMIT_ABORTED, addr, sizeof(*slot), value, SIM_PC);
		return false;
	}
	old = *slot;
	*slot = value;
	sim_trace(SIM_COMMIT, addr, sizeof(*slot), value, SIM_PC);
	if (shared && sim.tso)
		sim_buffer_push(addr, sizeof(*slot), old, value, SIM_PC);
	else if (shared)
		sim_written(addr, sizeof(*slot), old != value);
	return true;
}

static void fence(int cpu)
{
	sim_trace(SIM_FENCED, (uintptr_t)cpu, 0, 0, 0);
	if (sim.cpus[cpu].current)
		sim_hit_section(sim.cpus[cpu].current);
	sim_buffer_drain(cpu);
}

/*
 * The kernel interrupts one CPU after another, and each is free again before the next
 * is reached: so every CPU has a point of its own.
 */
int sim_membarrier_rseq(int cpu)
{
	int nr = (int)sim.run->nr_cpus;
	int only = cpu - (int)sim.cpu_base; /* its index */
	int first = cpu < 0 ? 0 : only;
	int end = cpu < 0 ? nr : only + 1;

	if (!sim.live)
		return 0;
	if (sim.current->in_section)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "a system call inside a section");
	sim_point(SIM_MEMBARRIER, 0, SIM_PC);
	sim_buffer_drain(sim.current->cpu);
	for (int i = first; i >= 0 && i < end && i < nr; i++) {
		sim_point(SIM_MEMBARRIER, 0, SIM_PC);
		fence(i);
	}
	sim_point(SIM_MEMBARRIER, 0, SIM_PC);
	sim_buffer_drain(sim.current->cpu);
	return 0;
}
