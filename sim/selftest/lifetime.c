/* SPDX-License-Identifier: MIT */
/* Litmus tests of memory, grace periods, locks, time and fork: instrumented. */
#include "base/eventfd.h"
#include "selftest/litmus.h"

#include <stdatomic.h>
#include <string.h>

struct node {
	uint64_t value;  /* 42 while alive */
	uint64_t second; /* the next word */
};

static struct node *_Atomic head;
static _Atomic int flag;
static int a, b; /* their addresses name locks */
static int shared_count;

static void publish_node(void)
{
	struct node *node = sim_alloc(sizeof(*node), 0);

	node->value = 42;
	atomic_store(&head, node);
}

static void reader(void)
{
	struct node *node;

	sim_rcu_read_lock();
	node = atomic_load_explicit(&head, memory_order_acquire);
	if (node)
		sim_check(node->value == 42);
	sim_rcu_read_unlock();
}

static void free_at_once(void)
{
	sim_free(atomic_exchange(&head, NULL));
}

static void free_after_grace_period(void)
{
	struct node *node = atomic_exchange(&head, NULL);

	sim_synchronize_rcu();
	sim_free(node);
}

const struct sim_test litmus_rcu_early = {
	.name = "litmus-rcu-early",
	.about = "freed before the grace period",
	.cpus = 2,
	.threads = { reader, free_at_once },
	.setup = publish_node,
	.exhaustive_bound = 2,
};

const struct sim_test litmus_rcu = {
	.name = "litmus-rcu",
	.about = "freed after a grace period: never early",
	.cpus = 2,
	.threads = { reader, free_after_grace_period, reader },
	.setup = publish_node,
	.exhaustive_bound = 3,
};

static void use(void)
{
	struct node *node = atomic_load(&head);

	if (node)
		node->value++;
}

const struct sim_test litmus_uaf = {
	.name = "litmus-use-after-free",
	.about = "no read section at all",
	.cpus = 2,
	.threads = { use, free_at_once },
	.setup = publish_node,
};

static void free_loaded(void)
{
	struct node *node = atomic_load(&head);

	if (node)
		sim_free(node);
	atomic_store(&head, NULL);
}

const struct sim_test litmus_double_free = {
	.name = "litmus-double-free",
	.about = "two free what both loaded",
	.cpus = 2,
	.threads = { free_loaded, free_loaded },
	.setup = publish_node,
};

static void overrun(void)
{
	struct node *node = atomic_load(&head);

	(&node->second)[1] = 1;
}

const struct sim_test litmus_bounds = {
	.name = "litmus-bounds",
	.about = "a store behind the object",
	.cpus = 1,
	.threads = { overrun },
	.setup = publish_node,
};

/* A compare-exchange that holds only while addresses are not reused. */

static void aba_slow(void)
{
	struct node *seen = atomic_load(&head);
	uint64_t value = seen->value;

	if (atomic_compare_exchange_strong(&head, &seen, NULL))
		sim_check(value == seen->value);
}

static void aba_fast(void)
{
	struct node *old = atomic_exchange(&head, NULL), *fresh;

	if (!old)
		return;
	sim_free(old);
	fresh = sim_alloc(sizeof(*fresh), 0);
	fresh->value = 43;
	atomic_store(&head, fresh);
}

const struct sim_test litmus_aba = {
	.name = "litmus-aba",
	.about = "an address that is reused is taken for the same object",
	.cpus = 2,
	.threads = { aba_slow, aba_fast },
	.setup = publish_node,
};

static void lock_ab(void)
{
	sim_mutex_lock(&a);
	sim_mutex_lock(&b);
	shared_count++;
	sim_mutex_unlock(&b);
	sim_mutex_unlock(&a);
}

static void lock_ba(void)
{
	sim_mutex_lock(&b);
	sim_mutex_lock(&a);
	shared_count++;
	sim_mutex_unlock(&a);
	sim_mutex_unlock(&b);
}

static void count_is_two(void)
{
	sim_check(shared_count == 2);
}

const struct sim_test litmus_deadlock = {
	.name = "litmus-deadlock",
	.about = "two locks in opposite order",
	.cpus = 2,
	.threads = { lock_ab, lock_ba },
	.exhaustive_bound = 2,
};

const struct sim_test litmus_mutex = {
	.name = "litmus-mutex",
	.about = "a lock excludes, with more threads than CPUs too",
	.cpus = 1,
	.threads = { lock_ab, lock_ab },
	.check = count_is_two,
	.exhaustive_bound = 2,
};

static void spin_for_flag(void)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		sim_relax(&flag);
	sim_check(shared_count == 1);
}

static void set_flag(void)
{
	shared_count = 1;
	atomic_store_explicit(&flag, 1, memory_order_release);
}

static void no_flag(void)
{
	shared_count = 1;
}

const struct sim_test litmus_livelock = {
	.name = "litmus-livelock",
	.about = "spins on what nobody writes",
	.cpus = 2,
	.threads = { spin_for_flag, no_flag },
};

const struct sim_test litmus_spin = {
	.name = "litmus-spin",
	.about = "spins until a buffered store is seen, on one CPU too",
	.cpus = 1,
	.threads = { spin_for_flag, set_flag },
};

static void sleep_long(void)
{
	uint64_t start = sim_clock_ns();

	sim_sleep_ns(1000000000);
	sim_check(sim_clock_ns() - start >= 1000000000);
}

static void spin_to_deadline(void)
{
	uint64_t end = sim_clock_ns() + 5000000;

	while (sim_clock_ns() < end)
		sim_relax(&flag);
}

const struct sim_test litmus_sleep = {
	.name = "litmus-sleep",
	.about = "time passes while all wait for it",
	.cpus = 2,
	.threads = { sleep_long, spin_to_deadline, sleep_long },
};

static void holds_lock(void)
{
	sim_mutex_lock(&a);
	shared_count++;
	sim_mutex_unlock(&a);
}

static void forks(void)
{
	sim_fork_child();
	sim_mutex_lock(&a);
	shared_count++;
	sim_mutex_unlock(&a);
}

static void lock_for_fork(void)
{
	sim_mutex_lock(&a);
}

static void unlock_after_fork(void)
{
	sim_mutex_unlock(&a);
}

static void handle_fork(void)
{
	sim_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
}

const struct sim_test litmus_fork = {
	.name = "litmus-fork",
	.about = "the child waits for a lock of a thread that it has not",
	.cpus = 2,
	.threads = { holds_lock, forks },
};

const struct sim_test litmus_fork_handled = {
	.name = "litmus-fork-handled",
	.about = "handlers hold the lock over fork",
	.cpus = 2,
	.threads = { holds_lock, forks },
	.setup = handle_fork,
	.exhaustive_bound = 2,
};

static void null_read(void)
{
	struct node *node = atomic_load(&head);

	sim_check(node->value == 42);
}

const struct sim_test litmus_null = {
	.name = "litmus-null",
	.about = "the pointer was taken away",
	.cpus = 2,
	.threads = { null_read, free_after_grace_period },
	.setup = publish_node,
};

/* Redirected memory functions: buffered, in pieces, in order. */

static char buffer[64];

static void copies(void)
{
	char text[64];

	memset(text, 7, sizeof(text));
	memcpy(buffer, text, sizeof(buffer));
	sim_check(!memcmp(buffer, text, sizeof(text)));
	memmove(buffer, buffer + 1, 63);
	atomic_store_explicit(&flag, 1, memory_order_release);
}

static void sees_copy(void)
{
	if (atomic_load_explicit(&flag, memory_order_acquire))
		sim_check(buffer[0] == 7 && buffer[62] == 7 && buffer[63] == 7);
}

const struct sim_test litmus_memcpy = {
	.name = "litmus-memcpy",
	.about = "copies become visible in order",
	.cpus = 2,
	.threads = { copies, sees_copy },
};

static void irq_takes_lock(void)
{
	sim_mutex_lock(&b);
	sim_mutex_unlock(&b);
}

const struct sim_test litmus_irq_sleeps = {
	.name = "litmus-irq-sleeps",
	.about = "a sleeping lock in an interrupt",
	.cpus = 1,
	.threads = { lock_ab },
	.handler = irq_takes_lock,
};

/* Event descriptors: closed while another still writes. */

static int descriptor;

static void opens_descriptor(void)
{
	descriptor = event_open();
	sim_check(descriptor >= 0);
}

static void writes_descriptor(void)
{
	event_fire(descriptor);
}

static void closes_descriptor(void)
{
	event_shut(descriptor);
}

const struct sim_test litmus_closed = {
	.name = "litmus-closed",
	.about = "a descriptor is closed before its last write",
	.cpus = 2,
	.threads = { writes_descriptor, closes_descriptor },
	.setup = opens_descriptor,
	.exhaustive_bound = 1,
};
