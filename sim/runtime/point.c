/* SPDX-License-Identifier: MIT */
/*
 * Scheduling points: what happens before each access.
 *
 * sim_touch() is the whole of it. It settles the plain store that came before, lets the
 * invariant look if shared memory changed, counts the point, asks the policy when it is
 * due, and checks the address; then the caller makes the access, and nobody can come
 * between. The common case is a few compares: the policies say in advance how many
 * points they do not care about (sim.countdown).
 */
#include "runtime.h"

/* Everyone looks at memory as all see it. */
void sim_invariant(void)
{
	int view = sim.view;

	sim.changed = false;
	if (sim.invariant_left > 1) {
		sim.invariant_left--;
		return;
	}
	sim.invariant_left = sim.run->invariant_every;
	sim_view_hide();
	sim.live = false;
	sim.run->invariant();
	sim.live = true;
	if (view >= 0)
		sim_view_show(view);
}

static void end_of_slice(struct sim_fibre *f)
{
	if (sim.steps >= sim.run->max_steps)
		sim_fail(SIM_FAIL_LIVELOCK, SIM_PC, 0, "no end after %llu steps",
			 (unsigned long long)sim.run->max_steps);
	sim_run_next(f); /* resets the slice when another one can run */
	sim.slice_end = sim.steps + SIM_SLICE;
	sim.steps_check = sim.slice_end < sim.run->max_steps ? sim.slice_end : sim.run->max_steps;
}

static void ask_policy(struct sim_fibre *f, bool visible)
{
	struct sim_action action;

	do {
		sim.resched = false;
		while (sim.run->policy->next(f, visible, &action))
			sim_act(f, action);
	} while (sim.resched);
}

static void at_point(struct sim_fibre *f, bool visible)
{
	struct sim_context *ctx = &f->ctx[f->irq];

	if (sim_unlikely(sim.changed) && sim.run->invariant)
		sim_invariant();
	ctx->n++;
	if (sim_unlikely(++sim.steps >= sim.steps_check))
		end_of_slice(f);
	if (visible || !sim.run->count_shared)
		sim.countdown--;
	if (sim_unlikely(sim.countdown < 0 || ctx->n >= ctx->next || sim.resched))
		ask_policy(f, visible);
	if (visible)
		f->resumed = false;
}

bool sim_touch(uintptr_t addr, size_t size, enum sim_kind kind, uintptr_t pc)
{
	struct sim_fibre *f = sim.current;
	bool write = sim_is_write(kind);

	if (!sim.live) {
		sim_memory_check(addr, size, write, pc);
		return false;
	}
	sim_settle();
	if (sim_on_stack(f, addr))
		return false;
	at_point(f, sim_conflict_touch(addr, size, write, sim_ctx(f)));
	sim_memory_check(addr, size, write, pc);
	return true;
}

/* The code under test makes a plain store right after this. */
void sim_announce(uintptr_t addr, size_t size, bool buffered, uintptr_t pc)
{
	struct sim_step *step = sim_trace(SIM_WRITE, addr, size, 0, pc);

	if (size > SIM_RANGE_MAX) {
		if (buffered)
			sim_buffer_drain(sim.current->cpu);
		sim_written(addr, (unsigned int)size, true);
		return;
	}
	sim.pending.addr = addr;
	sim.pending.pc = pc;
	sim.pending.size = (unsigned int)size;
	sim.pending.buffered = buffered;
	sim.pending.step = step;
	memcpy(sim.pending.under, (const void *)addr, size);
}

/* The point of a hook. It always counts. @addr: memory whose order it decides, or 0. */
void sim_point(enum sim_kind kind, uintptr_t addr, uintptr_t pc)
{
	if (!sim.live)
		return;
	sim_settle();
	if (addr)
		sim_conflict_touch(addr, 1, sim_is_write(kind), sim_ctx(sim.current));
	at_point(sim.current, true);
	sim_trace(kind, addr, 0, 0, pc);
}
