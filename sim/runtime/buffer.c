/* SPDX-License-Identifier: MIT */
/*
 * Store buffers: total store order, as x86-64 has it.
 *
 * The compiler tells us of a plain store but makes it itself, in memory. So a store
 * buffer cannot simply hold stores back: a plain load of the same CPU has to find them
 * in memory. Instead memory shows one CPU's *view*: what all see, with that CPU's
 * buffered stores on top. When a fibre of another CPU gets its turn, the old view is
 * hidden (what the stores covered comes back, youngest first) and the new one shown.
 * Only one fibre runs between two points, so nobody can tell the difference.
 *
 * V1  While CPU c's view is shown, store i of c holds in "under" what memory has
 *     without the stores i and later.
 * V2  Dropping the oldest store of the shown view makes it visible to all: "under" of
 *     the next ones already counts it in.
 * V3  Stores become visible in the order in which their CPU made them, at times that
 *     the policy chooses; locked operations, fences, and a context switch drain.
 *
 * Stores to the fibre's own stack are made at once: frames are reused by code that is
 * not instrumented. Such a store may be seen by others before older ones are, which no
 * x86 does; it matters only to a protocol whose flag lives on the stack of its writer.
 */
#include "runtime.h"

uint64_t sim_peek(uintptr_t addr, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)addr, size);
	return value;
}

void sim_poke(uintptr_t addr, unsigned int size, uint64_t value)
{
	memcpy((void *)addr, &value, size);
}

static struct sim_store *store_at(struct sim_cpu *cpu, unsigned int i)
{
	return &cpu->stores[(cpu->head + i) % SIM_NR_STORES];
}

void sim_view_hide(void)
{
	struct sim_cpu *cpu;

	if (sim.view < 0)
		return;
	cpu = &sim.cpus[sim.view];
	for (unsigned int i = cpu->nr; i-- > 0;) {
		struct sim_store *store = store_at(cpu, i);

		sim_poke(store->addr, store->size, store->under);
	}
	sim.view = -1;
}

void sim_view_show(int number)
{
	struct sim_cpu *cpu = &sim.cpus[number];

	if (sim.view == number)
		return;
	sim_view_hide();
	for (unsigned int i = 0; i < cpu->nr; i++) {
		struct sim_store *store = store_at(cpu, i);

		store->under = sim_peek(store->addr, store->size);
		sim_poke(store->addr, store->size, store->value);
	}
	sim.view = number;
}

/* Memory that all see has been written. */
void sim_written(uintptr_t addr, unsigned int size, bool changed)
{
	sim.changed = true;
	sim.nr_changes += changed;
	if (!sim.nr_relaxing)
		return;
	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		struct sim_fibre *f = &sim.fibres[i];
		uintptr_t polled = (uintptr_t)f->polled;

		if (f->state == SIM_RELAXING && polled + 8 > addr && addr + size > polled)
			sim_wake(f);
	}
}

static void trace_drain(const struct sim_store *store, int number)
{
	struct sim_step *step = sim_trace(SIM_DRAINED, store->addr, store->size, store->value, 0);

	if (!step)
		return;
	step->pc[0] = store->pc;
	step->fibre = store->ctx / 2;
	step->irq = store->ctx % 2;
	step->cpu = (int8_t)number;
}

void sim_buffer_drain_one(int number)
{
	struct sim_cpu *cpu = &sim.cpus[number];
	struct sim_store store = *store_at(cpu, 0);
	int view = sim.view;
	bool changed;

	if (view == number) {
		changed = store.under != store.value;
		cpu->head++;
		cpu->nr--;
	} else {
		if (view >= 0 && sim.cpus[view].nr)
			sim_view_hide();
		cpu->head++;
		cpu->nr--;
		changed = sim_peek(store.addr, store.size) != store.value;
		sim_poke(store.addr, store.size, store.value);
		if (view >= 0)
			sim_view_show(view);
	}
	trace_drain(&store, number);
	sim_memory_check(store.addr, store.size, true, store.pc);
	sim_written(store.addr, store.size, changed);
}

void sim_buffer_drain(int number)
{
	while (sim.cpus[number].nr)
		sim_buffer_drain_one(number);
}

bool sim_buffer_drain_all(void)
{
	bool any = false;

	for (unsigned int i = 0; i < sim.run->nr_cpus; i++) {
		any |= sim.cpus[i].nr > 0;
		sim_buffer_drain((int)i);
	}
	return any;
}

/* The running fibre stored @value, which memory shows already; before it was @under. */
void sim_buffer_push(uintptr_t addr, unsigned int size, uint64_t under, uint64_t value, uintptr_t pc)
{
	int number = sim.current->cpu;
	struct sim_cpu *cpu = &sim.cpus[number];

	if (cpu->nr == SIM_NR_STORES)
		sim_buffer_drain_one(number);
	*store_at(cpu, cpu->nr++) = (struct sim_store){
		.addr = addr,
		.size = (uint8_t)size,
		.under = under,
		.value = value,
		.pc = pc,
		.ctx = (uint8_t)sim_ctx(sim.current),
	};
	sim.resched |= sim.eager >> number & 1;
}

/*
 * A plain store of a range is made of pieces that become visible one by one, lowest
 * first. The value is what memory holds by now.
 */
void sim_settle_slow(void)
{
	struct sim_pending *p = &sim.pending;
	unsigned int size = p->size;

	p->size = 0;
	if (p->step)
		p->step->value = sim_peek(p->addr, size < 8 ? size : 8);
	p->step = NULL;
	for (unsigned int at = 0, piece; at < size; at += piece) {
		uint64_t under = 0, value;

		piece = 8 - ((p->addr + at) & 7);
		if (size <= 8 || piece > size - at)
			piece = size - at;
		memcpy(&under, p->under + at, piece);
		value = sim_peek(p->addr + at, piece);
		if (p->buffered)
			sim_buffer_push(p->addr + at, piece, under, value, p->pc);
		else
			sim_written(p->addr + at, piece, under != value);
	}
}
