/* SPDX-License-Identifier: MIT */
/*
 * fork, as the code under test sees it.
 *
 * The model follows one side at a time. The prepare handlers run as any code does, among
 * the others. Then, at one instant, either every other fibre vanishes where it stands,
 * with the locks it holds, and the caller goes on as the child; or the caller goes on as
 * the parent. Stores that were still buffered are seen by the child: the kernel stops
 * every CPU of the process to write-protect its memory.
 */
#include "runtime.h"

enum {
	MAX_ATFORK = 16
};

static struct atfork {
	void (*prepare)(void); /* before, latest first */
	void (*parent)(void);  /* after, oldest first */
	void (*child)(void);
} handlers[MAX_ATFORK];
static unsigned int nr_handlers;

void sim_atfork_reset(void)
{
	nr_handlers = 0;
}

void sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	if (nr_handlers == MAX_ATFORK)
		sim_fail(SIM_FAIL_MISUSE, SIM_PC, 0, "more than %d atfork handlers", MAX_ATFORK);
	handlers[nr_handlers++] = (struct atfork){ prepare, parent, child };
}

static void vanish(struct sim_fibre *f)
{
	if (f->state == SIM_RELAXING)
		sim.nr_relaxing--;
	if (f->cpu >= 0) {
		sim.cpus[f->cpu].current = NULL;
		sim.cids_used &= ~(1U << f->cid);
		f->cpu = -1;
	}
	f->state = SIM_DONE;
}

static void run_prepare(uintptr_t pc)
{
	for (unsigned int i = nr_handlers; i-- > 0;)
		if (handlers[i].prepare)
			handlers[i].prepare();
	sim_point(SIM_FORK, 0, pc);
}

void sim_fork_child(void)
{
	run_prepare(SIM_PC);
	if (sim.live) {
		sim_buffer_drain_all();
		for (unsigned int i = 1; i < sim.nr_fibres; i++)
			if (&sim.fibres[i] != sim.current)
				vanish(&sim.fibres[i]);
	}
	sim.in_child = true;
	for (unsigned int i = 0; i < nr_handlers; i++)
		if (handlers[i].child)
			handlers[i].child();
}

void sim_fork_parent(void)
{
	run_prepare(SIM_PC);
	for (unsigned int i = 0; i < nr_handlers; i++)
		if (handlers[i].parent)
			handlers[i].parent();
}

bool sim_in_child(void)
{
	return sim.in_child;
}
