/* SPDX-License-Identifier: MIT */
/*
 * The entry points that gcc -fsanitize=thread calls.
 *
 * A plain access is announced and then made by the compiled code; an atomic is made
 * here. Stores weaker than seq_cst are plain buffered stores, as on x86; a seq_cst
 * store is an exchange; every read-modify-write, failed compare-exchanges too, is a
 * locked operation: it drains the CPU's buffer and acts on what all see.
 */
#include "runtime.h"

#include <stdatomic.h>

#define ADDR(p) ((uintptr_t)(p))

static void on_read(uintptr_t addr, size_t size, uintptr_t pc)
{
	if (sim_touch(addr, size, SIM_READ, pc))
		sim_trace(SIM_READ, addr, size, sim_peek(addr, size < 8 ? (unsigned int)size : 8), pc);
}

static void on_write(uintptr_t addr, size_t size, uintptr_t pc)
{
	if (sim_touch(addr, size, SIM_WRITE, pc))
		sim_announce(addr, size, sim.tso, pc);
}

#define HOOK(name, on, size)               \
	void name(void *p);                \
	void name(void *p)                 \
	{                                  \
		on(ADDR(p), size, SIM_PC); \
	}

#define PLAIN(size)                                               \
	HOOK(__tsan_read##size, on_read, size)                    \
	HOOK(__tsan_write##size, on_write, size)                  \
	HOOK(__tsan_unaligned_read##size, on_read, size)          \
	HOOK(__tsan_unaligned_write##size, on_write, size)        \
	HOOK(__tsan_volatile_read##size, on_read, size)           \
	HOOK(__tsan_volatile_write##size, on_write, size)         \
	HOOK(__tsan_unaligned_volatile_read##size, on_read, size) \
	HOOK(__tsan_unaligned_volatile_write##size, on_write, size)

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(const void *p, size_t size);
void __tsan_write_range(void *p, size_t size);

void __tsan_read_range(const void *p, size_t size)
{
	if (size)
		on_read(ADDR(p), size, SIM_PC);
}

void __tsan_write_range(void *p, size_t size)
{
	if (size)
		on_write(ADDR(p), size, SIM_PC);
}

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_vptr_update(void **vptr, void *value);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void)
{
}

/* A locked operation acts on what all see. */
static void lock_bus(void)
{
	if (sim.live && sim.tso)
		sim_buffer_drain(sim.current->cpu);
}

static void after_store(uintptr_t addr, unsigned int size, uint64_t old, uint64_t value, int order, uintptr_t pc)
{
	sim_trace(SIM_STORE, addr, size, value, pc);
	if (sim.tso && order != memory_order_seq_cst)
		sim_buffer_push(addr, size, old, value, pc);
	else
		sim_written(addr, size, old != value);
}

static void after_rmw(uintptr_t addr, unsigned int size, uint64_t old, uint64_t value, uintptr_t pc)
{
	sim_trace(SIM_RMW, addr, size, value, pc);
	sim_written(addr, size, old != value);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): they make functions of types and expressions */

#define RMW(bits, type, name, result)                                             \
	type __tsan_atomic##bits##_##name(volatile type *p, type arg, int order); \
	type __tsan_atomic##bits##_##name(volatile type *p, type arg, int order)  \
	{                                                                         \
		bool shared = sim_touch(ADDR(p), sizeof(type), SIM_RMW, SIM_PC);  \
		type old;                                                         \
                                                                                  \
		(void)order;                                                      \
		lock_bus();                                                       \
		old = *p;                                                         \
		*p = (type)(result);                                              \
		if (shared)                                                       \
			after_rmw(ADDR(p), sizeof(type), old, *p, SIM_PC);        \
		return old;                                                       \
	}

#define CAS_BODY(type, expected_value, on_failure)                                     \
	bool shared = sim_touch(ADDR(p), sizeof(type), SIM_RMW, SIM_PC);               \
	type old;                                                                      \
                                                                                       \
	(void)order;                                                                   \
	(void)failure;                                                                 \
	lock_bus();                                                                    \
	old = *p;                                                                      \
	if (old == (expected_value)) {                                                 \
		*p = value;                                                            \
		if (shared)                                                            \
			after_rmw(ADDR(p), sizeof(type), old, value, SIM_PC);          \
	} else {                                                                       \
		on_failure;                                                            \
		if (shared)                                                            \
			sim_trace(SIM_CAS_FAILED, ADDR(p), sizeof(type), old, SIM_PC); \
	}

#define CAS(bits, type, name)                                                                                       \
	bool __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type value, int order, \
							   int failure);                                            \
	bool __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type value, int order, \
							   int failure)                                             \
	{                                                                                                           \
		type want = *expected;                                                                              \
		CAS_BODY(type, want, *expected = old)                                                               \
		return old == want;                                                                                 \
	}

#define ATOMIC(bits, type)                                                                                      \
	type __tsan_atomic##bits##_load(const volatile type *p, int order);                                     \
	void __tsan_atomic##bits##_store(volatile type *p, type value, int order);                              \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value, int order, \
							int failure);                                           \
	type __tsan_atomic##bits##_load(const volatile type *p, int order)                                      \
	{                                                                                                       \
		(void)order;                                                                                    \
		if (sim_touch(ADDR(p), sizeof(type), SIM_LOAD, SIM_PC))                                         \
			sim_trace(SIM_LOAD, ADDR(p), sizeof(type), *p, SIM_PC);                                 \
		return *p;                                                                                      \
	}                                                                                                       \
	void __tsan_atomic##bits##_store(volatile type *p, type value, int order)                               \
	{                                                                                                       \
		bool shared = sim_touch(ADDR(p), sizeof(type), SIM_STORE, SIM_PC);                              \
		type old;                                                                                       \
                                                                                                                \
		if (order == memory_order_seq_cst)                                                              \
			lock_bus();                                                                             \
		old = *p;                                                                                       \
		*p = value;                                                                                     \
		if (shared)                                                                                     \
			after_store(ADDR(p), sizeof(type), old, value, order, SIM_PC);                          \
	}                                                                                                       \
	RMW(bits, type, exchange, arg)                                                                          \
	RMW(bits, type, fetch_add, old + arg)                                                                   \
	RMW(bits, type, fetch_sub, old - arg)                                                                   \
	RMW(bits, type, fetch_and, old &arg)                                                                    \
	RMW(bits, type, fetch_or, old | arg)                                                                    \
	RMW(bits, type, fetch_xor, old ^ arg)                                                                   \
	RMW(bits, type, fetch_nand, ~(old & arg))                                                               \
	CAS(bits, type, strong)                                                                                 \
	CAS(bits, type, weak)                                                                                   \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value, int order, \
							int failure)                                            \
	{                                                                                                       \
		CAS_BODY(type, expected, (void)0)                                                               \
		return old;                                                                                     \
	}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* NOLINTEND(bugprone-macro-parentheses) */

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
	if (!sim.live || order != memory_order_seq_cst)
		return;
	sim_point(SIM_FENCE, 0, SIM_PC);
	lock_bus();
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
