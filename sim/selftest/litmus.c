/* SPDX-License-Identifier: MIT */
/*
 * Litmus tests of memory order, sections and fences: instrumented, as the library is.
 *
 * Each comes in a form that must never fail and one that must be caught. What is
 * expected of each, under which memory, is the table in selftest.c.
 */
#include "selftest/litmus.h"

#include <stdatomic.h>

static _Atomic int x, y;
static int r1, r2;

/* Store buffering: both may read 0 on x86, and only there. */

static void sb_one(void)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	r1 = atomic_load_explicit(&y, memory_order_relaxed);
}

static void sb_two(void)
{
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	r2 = atomic_load_explicit(&x, memory_order_relaxed);
}

static void sb_check(void)
{
	sim_check(r1 || r2);
}

const struct sim_test litmus_sb = {
	.name = "litmus-sb",
	.about = "store buffering: both read 0 under tso",
	.cpus = 2,
	.threads = { sb_one, sb_two },
	.check = sb_check,
	.exhaustive_bound = 3,
};

static volatile int px, py;

static void sb_plain_one(void)
{
	px = 1;
	r1 = py;
}

static void sb_plain_two(void)
{
	py = 1;
	r2 = px;
}

const struct sim_test litmus_sb_plain = {
	.name = "litmus-sb-plain",
	.about = "store buffering with plain accesses",
	.cpus = 2,
	.threads = { sb_plain_one, sb_plain_two },
	.check = sb_check,
	.exhaustive_bound = 3,
};

static void sb_fence_one(void)
{
	atomic_store_explicit(&x, 1, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	r1 = atomic_load_explicit(&y, memory_order_acquire);
}

static void sb_fence_two(void)
{
	atomic_store(&y, 1);
	r2 = atomic_load(&x);
}

const struct sim_test litmus_sb_fence = {
	.name = "litmus-sb-fence",
	.about = "store buffering with a fence and a seq_cst store: never",
	.cpus = 2,
	.threads = { sb_fence_one, sb_fence_two },
	.check = sb_check,
	.exhaustive_bound = 4,
};

/* Message passing, and the own store seen by a later load. */

static int data[3];

static void mp_writer(void)
{
	data[0] = 1;
	data[1] = 2;
	sim_check(data[0] == 1); /* forwarded from the buffer */
	data[2] = 3;
	atomic_store_explicit(&x, 1, memory_order_release);
}

static void mp_reader(void)
{
	if (atomic_load_explicit(&x, memory_order_acquire))
		sim_check(data[0] == 1 && data[1] == 2 && data[2] == 3);
}

const struct sim_test litmus_mp = {
	.name = "litmus-mp",
	.about = "message passing: never broken",
	.cpus = 2,
	.threads = { mp_writer, mp_reader },
	.exhaustive_bound = 4,
};

/* Stores of two CPUs to the same two words, in opposite order. */

static void ww_one(void)
{
	px = 1;
	py = 2;
}

static void ww_two(void)
{
	py = 1;
	px = 2;
}

static void ww_check(void)
{
	sim_check(!(px == 1 && py == 1));
}

const struct sim_test litmus_2plus2w = {
	.name = "litmus-2+2w",
	.about = "stores become visible in order: never both first",
	.cpus = 2,
	.threads = { ww_one, ww_two },
	.check = ww_check,
	.exhaustive_bound = 6,
};

/* A count per CPU, more threads than CPUs. */

enum {
	ROUNDS = 3
};

static uint64_t counts[8];

static void count_plain(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t *count = &counts[sim_cpu()];

		*(volatile uint64_t *)count = *(volatile uint64_t *)count + 1;
	}
}

static void count_in_section(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t *count;

		do {
			sim_section_begin();
			count = &counts[sim_cpu()];
		} while (!sim_section_commit(count, *(volatile uint64_t *)count + 1));
	}
}

static uint64_t counted(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 8; i++)
		sum += counts[i];
	return sum;
}

static void count_check(void)
{
	sim_check(counted() == 3UL * ROUNDS);
}

const struct sim_test litmus_count_plain = {
	.name = "litmus-count-plain",
	.about = "a count per CPU without sections loses updates",
	.cpus = 2,
	.threads = { count_plain, count_plain, count_plain },
	.check = count_check,
};

const struct sim_test litmus_count_section = {
	.name = "litmus-count-section",
	.about = "a count per CPU in sections is exact",
	.cpus = 2,
	.threads = { count_in_section, count_in_section, count_in_section },
	.check = count_check,
};

/* The same against an interrupt. */

static void count_one(void)
{
	counts[0] = counts[0] + 1;
}

static void irq_check(void)
{
	sim_check(counted() >= ROUNDS && counted() != ROUNDS + 1 ? counted() == ROUNDS : 1);
}

static unsigned int irqs;

static void irq_plain(void)
{
	irqs++;
	count_one();
}

static void irq_section(void)
{
	irqs++;
	do {
		sim_section_begin();
	} while (!sim_section_commit(&counts[0], counts[0] + 1));
}

static void irq_count_check(void)
{
	irq_check();
	sim_check(counted() == ROUNDS + irqs);
}

static void irq_victim(void)
{
	for (int i = 0; i < ROUNDS; i++)
		count_one();
}

const struct sim_test litmus_irq_plain = {
	.name = "litmus-irq-plain",
	.about = "an interrupt in the middle of an update is lost",
	.cpus = 1,
	.threads = { irq_victim },
	.check = irq_count_check,
	.handler = irq_plain,
	.exhaustive_bound = 2,
};

const struct sim_test litmus_irq_section = {
	.name = "litmus-irq-section",
	.about = "an interrupt aborts the section",
	.cpus = 1,
	.threads = { count_in_section },
	.check = irq_count_check,
	.handler = irq_section,
	.exhaustive_bound = 3,
};

/*
 * A remote drain: the owner adds in sections while the slot is open; the drain closes it,
 * fences, and takes. Without the fence, or with the fence on another CPU, a section that
 * saw the slot open commits after the take.
 */

static uint64_t slots[8];
static _Atomic int closed;
static uint64_t taken, added;
static unsigned int owner_cpu, owner_cid;

static void drain_owner(void)
{
	bool done = false;

	owner_cpu = sim_cpu();
	owner_cid = sim_mm_cid();
	while (!done) {
		sim_section_begin();
		if (atomic_load_explicit(&closed, memory_order_relaxed)) {
			sim_section_end();
			return;
		}
		done = sim_section_commit(&slots[0], slots[0] + 1);
	}
	added = 1;
}

static void drain_with(int cpu, bool fence)
{
	atomic_store(&closed, 1);
	if (fence)
		sim_membarrier_rseq(cpu);
	taken = slots[0];
	slots[0] = 0;
}

static void drain_good(void)
{
	drain_with(-1, true);
}

static void drain_unfenced(void)
{
	drain_with(-1, false);
}

static void drain_by_cid(void)
{
	drain_with((int)owner_cid, true);
}

static void drain_check(void)
{
	sim_check(taken == added && slots[0] == 0);
}

const struct sim_test litmus_drain = {
	.name = "litmus-drain",
	.about = "close, fence, take: exact",
	.cpus = 2,
	.threads = { drain_owner, drain_good },
	.check = drain_check,
	.exhaustive_bound = 4,
};

const struct sim_test litmus_drain_unfenced = {
	.name = "litmus-drain-unfenced",
	.about = "close and take without a fence",
	.cpus = 2,
	.threads = { drain_owner, drain_unfenced },
	.check = drain_check,
	.exhaustive_bound = 3,
};

const struct sim_test litmus_drain_by_cid = {
	.name = "litmus-drain-by-cid",
	.about = "the fence takes a CPU number, not a concurrency id",
	.cpus = 3,
	.threads = { drain_owner, drain_by_cid },
	.check = drain_check,
};

/* For the count of an exhaustive search: two threads with three visible accesses each. */

static void toy(void)
{
	for (int i = 0; i < 3; i++)
		atomic_fetch_add(&x, 1);
}

const struct sim_test litmus_toy = {
	.name = "litmus-toy",
	.about = "two threads, three accesses each",
	.cpus = 2,
	.threads = { toy, toy },
	.exhaustive_bound = SIM_UNBOUNDED,
};

/* Thread-locals belong to the fibre, and start anew in each schedule. */

static __thread int local = 7;
static __thread int zero;

static void tls_thread(void)
{
	sim_check(local == 7 && zero == 0);
	local = 1;
	for (int i = 0; i < 3; i++) {
		atomic_fetch_add(&x, 1);
		zero++;
	}
	sim_check(local == 1 && zero == 3);
}

const struct sim_test litmus_tls = {
	.name = "litmus-tls",
	.about = "thread-locals are the thread's own",
	.cpus = 2,
	.threads = { tls_thread, tls_thread, tls_thread },
};
