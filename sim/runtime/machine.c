/* SPDX-License-Identifier: MIT */
/*
 * CPUs, context switches, interrupts, sections and fences.
 *
 * Every fibre that sits on a CPU runs, at the same time as the others: which of them
 * makes the next step is the policy's choice and no event in the modelled machine. A
 * *context switch* is one: the CPU's buffer drains, the fibre's section is aborted and
 * its concurrency id is given back (lowest free id in an order that the seed chose, so
 * that ids and CPU numbers differ). It happens when a fibre sleeps, and when an action
 * places another fibre on its CPU, moves it, or preempts it.
 *
 * A fibre whose function has returned stays on its CPU, with its id and its buffered
 * stores, until another is placed there: a thread's end is not a barrier.
 */
#include "runtime.h"

void sim_hit_section(struct sim_fibre *f)
{
	if (f->in_section)
		f->aborted = true;
}

static void take_cid(struct sim_fibre *f)
{
	unsigned int nr = sim.run->nr_cpus;
	unsigned int choice = nr;

	for (unsigned int i = nr; i-- > 0;)
		if (!(sim.cids_used & (1U << sim.cids[i])) && (sim.cids[i] != f->cid || choice == nr))
			choice = i;
	f->cid = sim.cids[choice];
	sim.cids_used |= 1U << f->cid;
}

/* A context switch away from @f. */
void sim_deschedule(struct sim_fibre *f)
{
	sim_hit_section(f);
	if (f->state == SIM_RELAXING)
		sim_wake(f);
	if (f->cpu < 0)
		return;
	sim_buffer_drain(f->cpu);
	sim.cpus[f->cpu].current = NULL;
	sim.cids_used &= ~(1U << f->cid);
	f->last_cpu = f->cpu;
	f->cpu = -1;
	f->queued_at = ++sim.sequence;
}

/* @cpu is idle. */
void sim_place(struct sim_fibre *f, int cpu)
{
	if (sim.cpus[cpu].current)
		sim_deschedule(sim.cpus[cpu].current);
	sim_buffer_drain(cpu);
	sim.cpus[cpu].current = f;
	f->cpu = cpu;
	take_cid(f);
}

static bool is_idle(int cpu)
{
	const struct sim_fibre *f = sim.cpus[cpu].current;

	return !f || f->state == SIM_DONE;
}

int sim_idle_cpu(void)
{
	for (unsigned int i = 0; i < sim.run->nr_cpus; i++)
		if (is_idle((int)i))
			return (int)i;
	return -1;
}

static struct sim_fibre *first_queued(void)
{
	struct sim_fibre *first = NULL;

	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		struct sim_fibre *f = &sim.fibres[i];

		if (f->state == SIM_RUNNABLE && f->cpu < 0 && (!first || f->queued_at < first->queued_at))
			first = f;
	}
	return first;
}

/* Idle CPUs take who is queued. */
void sim_fill_cpus(void)
{
	struct sim_fibre *f;
	int cpu;

	while ((cpu = sim_idle_cpu()) >= 0 && (f = first_queued())) {
		if (f->last_cpu >= 0 && is_idle(f->last_cpu))
			cpu = f->last_cpu;
		sim_place(f, cpu);
	}
}

void sim_wake(struct sim_fibre *f)
{
	if (f->state == SIM_RELAXING)
		sim.nr_relaxing--;
	f->state = SIM_RUNNABLE;
	if (f->cpu < 0) {
		f->queued_at = ++sim.sequence;
		sim_fill_cpus();
	}
	if (sim.run->policy->woken)
		sim.run->policy->woken(f);
}

/* Could it make the next step, if the policy says so? */
bool sim_can_run(const struct sim_fibre *f)
{
	if (f->state == SIM_BLOCKED || f->state == SIM_DONE)
		return false;
	return f->cpu >= 0 || sim_idle_cpu() >= 0;
}

static void switch_to(struct sim_fibre *f, struct sim_fibre *next)
{
	next->resumed = true;
	sim.slice_end = sim.steps + SIM_SLICE;
	sim.steps_check = sim.slice_end < sim.run->max_steps ? sim.slice_end : sim.run->max_steps;
	sim_view_show(next->cpu);
	if (next == f)
		return;
	sim.current = next;
	sim_fibre_switch(f, next);
}

static void run_fibre(struct sim_fibre *f, struct sim_fibre *next)
{
	if (next->state == SIM_SLEEPING) {
		uint64_t now = sim_clock_ns();

		if (next->wake_ns > now)
			sim.skipped_ns += next->wake_ns - now;
	}
	if (next->state != SIM_RUNNABLE)
		sim_wake(next);
	if (next->cpu >= 0) /* else an older one took the idle CPU */
		switch_to(f, next);
}

/*
 * The fibres that can go on instead of @f, beginning after it: the first is the default.
 */
static unsigned int others(const struct sim_fibre *f, uint8_t *ids)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < sim.nr_fibres; i++) {
		unsigned int id = (f->id + 1 + i) % sim.nr_fibres;
		const struct sim_fibre *other = &sim.fibres[id];

		if (id && other != f && other->state == SIM_RUNNABLE && other->cpu >= 0)
			ids[nr++] = (uint8_t)id;
	}
	return nr;
}

static void log_action(const struct sim_fibre *f, struct sim_action action)
{
	if (sim.nr_log == SIM_LOG_MAX)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "more than %d decisions in one run", SIM_LOG_MAX);
	sim.log[sim.nr_log].action = action;
	sim.log[sim.nr_log].ctx = (uint8_t)sim_ctx(f);
	sim.log[sim.nr_log].n = f->ctx[f->irq].n;
	sim.nr_log++;
	sim_trace(SIM_ACTION, 0, 0, action.kind | action.a << 8 | action.b << 16, 0);
}

/* Nobody is runnable on a CPU: let the machine drain and time pass, until somebody is. */
static void let_time_pass(void)
{
	struct sim_fibre *queued;

	if (sim_buffer_drain_all())
		return;
	queued = first_queued();
	if (queued) { /* the CPUs spin: their time slices end */
		for (unsigned int i = 0; i < sim.run->nr_cpus; i++)
			if (sim.cpus[i].current && sim.cpus[i].current->state == SIM_RELAXING) {
				sim_deschedule(sim.cpus[i].current);
				sim_place(queued, (int)i);
				return;
			}
	}
	if (!sim_time_passes())
		sim_fail(SIM_FAIL_DEADLOCK, SIM_PC, 0, "every thread is blocked");
}

void sim_run_next(struct sim_fibre *f)
{
	uint8_t ids[SIM_MAX_FIBRES];
	unsigned int nr, choice;

	if (first_queued() && f->cpu >= 0 && f->state != SIM_DONE)
		sim_deschedule(f);
	sim_fill_cpus();
	while (!(nr = others(f, ids))) {
		if (f->state == SIM_RUNNABLE && f->cpu >= 0) {
			switch_to(f, f);
			return;
		}
		let_time_pass();
	}
	choice = sim.run->policy->pick(f, ids, nr);
	if (choice)
		log_action(f, (struct sim_action){ .kind = SIM_ACT_NEXT, .a = ids[choice] });
	switch_to(f, &sim.fibres[ids[choice]]);
}

static void place_action(struct sim_fibre *f, struct sim_fibre *g, int cpu)
{
	struct sim_fibre *h = sim.cpus[cpu].current;
	int old = g->cpu;

	if (h)
		sim_deschedule(h);
	if (old >= 0)
		sim_deschedule(g);
	sim_place(g, cpu);
	if (h && old >= 0 && h->state != SIM_DONE)
		sim_place(h, old);
	sim_fill_cpus();
	if (f->cpu >= 0)
		sim_view_show(f->cpu);
	else
		switch_to(f, g);
}

static void interrupt(struct sim_fibre *f)
{
	bool in_section = f->in_section;
	unsigned int nesting = f->rcu_nesting;

	sim.nr_irqs++;
	f->in_section = false;
	f->irq = true;
	sim_trace(SIM_IRQ_BEGIN, 0, 0, 0, 0);
	sim.run->handler();
	sim_settle();
	if (f->in_section || f->rcu_nesting != nesting)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "the interrupt handler left a section open");
	sim_trace(SIM_IRQ_END, 0, 0, 0, 0);
	f->irq = false;
	f->in_section = in_section;
	f->aborted = in_section;
}

static bool valid(const struct sim_fibre *f, struct sim_action action)
{
	const struct sim_fibre *g = &sim.fibres[action.a];

	switch ((enum sim_action_kind)action.kind) {
	case SIM_ACT_RUN:
		return g != f && action.a && action.a < sim.nr_fibres && sim_can_run(g);
	case SIM_ACT_PLACE:
		return action.a && action.a < sim.nr_fibres && action.b < sim.run->nr_cpus &&
		       (g->state == SIM_RUNNABLE || g->state == SIM_RELAXING) && g->cpu != action.b;
	case SIM_ACT_PREEMPT:
		return true;
	case SIM_ACT_DRAIN:
		return action.a < sim.run->nr_cpus && sim.cpus[action.a].nr;
	case SIM_ACT_IRQ:
		return sim.run->handler && !f->irq && sim.nr_irqs < (sim.run->max_irqs ? sim.run->max_irqs : 1);
	case SIM_ACT_NEXT:
		return false;
	}
	return false;
}

/* Carries a decision out, at a point of @f. One that does not fit is left out. */
void sim_act(struct sim_fibre *f, struct sim_action action)
{
	int cpu = f->cpu;

	if (!valid(f, action))
		return;
	log_action(f, action);
	switch ((enum sim_action_kind)action.kind) {
	case SIM_ACT_RUN:
		run_fibre(f, &sim.fibres[action.a]);
		break;
	case SIM_ACT_PLACE:
		place_action(f, &sim.fibres[action.a], action.b);
		break;
	case SIM_ACT_PREEMPT:
		sim_deschedule(f);
		sim_place(f, cpu);
		break;
	case SIM_ACT_DRAIN:
		sim_buffer_drain_one(action.a);
		break;
	case SIM_ACT_IRQ:
		interrupt(f);
		break;
	case SIM_ACT_NEXT:
		break;
	}
	if (sim.changed && sim.run->invariant)
		sim_invariant();
}

void sim_fibre_exit(struct sim_fibre *f)
{
	bool all = true;

	sim_settle();
	sim_trace(SIM_EXIT, 0, 0, 0, 0);
	if (f->in_section || f->rcu_nesting)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "the thread ended inside a section");
	f->state = SIM_DONE;
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		all &= sim.fibres[i].state == SIM_DONE;
	if (!all)
		sim_run_next(f);
	sim_buffer_drain_all();
	if (sim.changed && sim.run->invariant)
		sim_invariant();
	sim_fibre_leave();
}
