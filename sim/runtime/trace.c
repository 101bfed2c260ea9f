/* SPDX-License-Identifier: MIT */
/* The steps of a run, recorded for a report: a ring that keeps the latest. */
#include "runtime.h"

void sim_trace_on(bool on)
{
	static struct sim_step *ring;

	if (!ring)
		ring = sim_reserve(NULL, SIM_TRACE_MAX * sizeof(*ring));
	sim.trace = on ? ring : NULL;
	sim.nr_trace = 0;
}

/*
 * The callers of @pc: the chain of frames is followed from the runtime's own frame up to
 * the one that returns to @pc, and then further. Everything has frame pointers.
 */
static void callers(struct sim_step *step, uintptr_t pc, const uintptr_t *frame)
{
	unsigned int nr = 0;

	step->pc[nr++] = pc;
	while (nr < SIM_NR_FRAMES && sim_on_stack(sim.current, (uintptr_t)frame)) {
		const uintptr_t *up = (const uintptr_t *)frame[0];

		if (nr > 1 || frame[1] == pc) {
			if (nr > 1 || up != frame)
				step->pc[nr - 1] = frame[1];
			nr++;
		}
		if (up <= frame)
			break;
		frame = up;
	}
	if (nr > 1)
		nr--;
	while (nr < SIM_NR_FRAMES)
		step->pc[nr++] = 0;
}

struct sim_step *sim_trace_slow(enum sim_kind kind, uintptr_t addr, size_t size, uint64_t value, uintptr_t pc,
				void *frame)
{
	struct sim_step *step = &sim.trace[sim.nr_trace % SIM_TRACE_MAX];
	struct sim_fibre *f = sim.current;

	if (!f)
		return NULL;
	sim.nr_trace++;
	step->kind = (uint8_t)kind;
	step->addr = addr;
	step->size = (uint32_t)size;
	step->value = value;
	step->fibre = (uint8_t)f->id;
	step->irq = f->irq;
	step->cpu = (int8_t)f->cpu;
	step->n = f->ctx[f->irq].n;
	if (pc)
		callers(step, pc, frame);
	else
		memset(step->pc, 0, sizeof(step->pc));
	return step;
}
