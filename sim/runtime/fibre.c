/* SPDX-License-Identifier: MIT */
/*
 * Fibres: simulated threads in one real thread.
 *
 * A fibre has a stack at a fixed address and a thread pointer of its own, so that the
 * thread-local variables of the code under test, and libc's, belong to the fibre. The
 * thread pointers are those of real threads that do nothing but sleep: libc laid out
 * and initialised their static TLS, and we run on it while they never do. A switch
 * saves the callee-saved registers, changes the stack, and loads the thread pointer
 * (wrfsbase where the kernel allows it, else arch_prctl).
 *
 * A fibre that is left for good is simply not resumed; its stack is laid anew by the
 * next sim_fibre_prepare().
 */
#include "runtime.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the simulator runs on x86-64 hosts only"
#endif

enum {
	ARCH_SET_FS_CODE = 0x1002,
	HWCAP2_FSGSBASE_BIT = 2
};

static void *engine_sp;     /* the engine's stack while a fibre runs */
static uintptr_t engine_tp; /* and its thread pointer */
static bool have_wrfsbase;  /* the kernel lets us load it without a system call */

void sim_stack_switch(void **save, void *load);
__asm__(".text\n"
	".globl sim_stack_switch\n"
	".type sim_stack_switch, @function\n"
	"sim_stack_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size sim_stack_switch, .-sim_stack_switch\n");

static void load_tp(uintptr_t tp)
{
	if (have_wrfsbase)
		__asm__ volatile("wrfsbase %0" : : "r"(tp) : "memory");
	else
		syscall(SYS_arch_prctl, ARCH_SET_FS_CODE, tp);
}

static uintptr_t own_tp(void)
{
	uintptr_t tp;

	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

struct parked {
	uintptr_t tp; /* out: its thread pointer */
	sem_t ready;  /* posted when tp is set */
};

static void *park(void *arg)
{
	struct parked *parked = arg;

	parked->tp = own_tp();
	sem_post(&parked->ready);
	for (;;)
		pause();
	return NULL;
}

static uintptr_t borrow_tp(unsigned int i)
{
	struct parked parked;
	pthread_attr_t attr;
	pthread_t thread;
	void *stack = sim_memory_region((size_t)i * SIM_PARK_SIZE, SIM_PARK_SIZE);

	sem_init(&parked.ready, 0, 0);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, SIM_PARK_SIZE) || pthread_create(&thread, &attr, park, &parked)) {
		fprintf(stderr, "memcg-sim: cannot start a thread\n");
		exit(2);
	}
	while (sem_wait(&parked.ready))
		;
	pthread_attr_destroy(&attr);
	return parked.tp;
}

void sim_fibre_init(void)
{
	size_t stacks = (size_t)SIM_MAX_FIBRES * SIM_PARK_SIZE;
	size_t locals = stacks + (size_t)SIM_MAX_FIBRES * SIM_STACK_SIZE;

	have_wrfsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
	engine_tp = own_tp();
	for (unsigned int i = 0; i < SIM_MAX_FIBRES; i++) {
		struct sim_fibre *f = &sim.fibres[i];

		f->id = i;
		f->tp = borrow_tp(i);
		f->stack = (uintptr_t)sim_memory_region(stacks + (size_t)i * SIM_STACK_SIZE, SIM_STACK_SIZE);
		f->locals = (uintptr_t)sim_memory_region(locals + (size_t)i * SIM_THREAD_STATE, SIM_THREAD_STATE);
		mprotect((void *)f->stack, 4096, PROT_NONE);
	}
}

/* Lays the stack so that the first switch to @f enters @start. */
void sim_fibre_prepare(struct sim_fibre *f, void (*start)(void))
{
	uintptr_t *sp = (uintptr_t *)(f->stack + SIM_STACK_SIZE);

	*--sp = 0; /* return address of start: none */
	*--sp = (uintptr_t)start;
	for (int i = 0; i < 6; i++)
		*--sp = 0;
	f->sp = sp;
}

void sim_fibre_resume(struct sim_fibre *f)
{
	sim.current = f;
	load_tp(f->tp);
	sim_stack_switch(&engine_sp, f->sp);
	load_tp(engine_tp);
	sim.current = NULL;
}

void sim_fibre_switch(struct sim_fibre *from, struct sim_fibre *to)
{
	load_tp(to->tp);
	sim_stack_switch(&from->sp, to->sp);
}

void sim_fibre_leave(void)
{
	void *dead;

	sim_stack_switch(&dead, engine_sp);
	__builtin_unreachable();
}
