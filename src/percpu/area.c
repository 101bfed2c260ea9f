/* SPDX-License-Identifier: MIT */
/*
 * The address range of the per-CPU areas, and the choice of index and form.
 *
 * The range is PROT_NONE; blocks become usable in steps, when the first
 * owner number in them is given out. So nothing counts as committed memory before, which
 * matters where overcommit_memory is 2, and no huge page is ever made of a few counters.
 */
#include "percpu/area.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/small_file.h"
#include "base/variant.h"
#include "base/sim.h"
#include "percpu/fence.h"
#include "percpu/range.h"
#include "percpu/thread.h"

#define OWNER_STEP \
	(OWNER_NUMBERS < 4096U ? OWNER_NUMBERS : 4096U) /* owner numbers whose blocks become usable at once */
#define BUDGET_MAX (1U << 20)
#define NR_CPUS_MAX 8192U   /* what Linux can be built for */
#define RSEQ_MM_CID_END 28U /* size of struct rseq that has mm_cid */

struct memcg_percpu memcg_percpu;
struct memcg_percpu *const memcg_percpu_at = &memcg_percpu;
unsigned int percpu_nr;
uint8_t *percpu_touched_flags;
enum memcg_index percpu_index_kind;
unsigned int percpu_budget;

static uint32_t usable_owners; /* blocks below this number are usable; under the caller's id lock */
static uint32_t next_thread;   /* next thread's index; atomic */

#if defined(MEMCG_SIM)

#define RSEQ_OFFSET_CPU_ID 0
#define RSEQ_OFFSET_MM_CID 0

static bool rseq_registered(void)
{
	return true;
}

static bool rseq_has_mm_cid(void)
{
	return true;
}

static ptrdiff_t rseq_offset(void)
{
	return 0;
}

#elif defined(MEMCG_HAVE_RSEQ) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>

#define RSEQ_OFFSET_CPU_ID 4
#define RSEQ_OFFSET_MM_CID 24
#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif

/* Does the C library register each thread? Not under valgrind, and not with its tunable off. */
static bool rseq_registered(void)
{
	const char *tp = __builtin_thread_pointer();

	return __rseq_size > 0 && *(const volatile int32_t *)(tp + __rseq_offset + RSEQ_OFFSET_CPU_ID) >= 0;
}

/* The kernel says what it fills in; the C library's own size may say less than that. */
static bool rseq_has_mm_cid(void)
{
	return getauxval(AT_RSEQ_FEATURE_SIZE) >= RSEQ_MM_CID_END;
}

static ptrdiff_t rseq_offset(void)
{
	return __rseq_offset;
}
#else
#define RSEQ_OFFSET_CPU_ID 0
#define RSEQ_OFFSET_MM_CID 0

static bool rseq_registered(void)
{
	return false;
}

static bool rseq_has_mm_cid(void)
{
	return false;
}

static ptrdiff_t rseq_offset(void)
{
	return 0;
}
#endif

static int choose_index(const struct memcg_options *options)
{
	bool registered = rseq_registered();
	enum memcg_index want = (enum memcg_index)options->index;

	if (want == MEMCG_INDEX_AUTO) {
		want = MEMCG_INDEX_THREAD;
		if (registered)
			want = rseq_has_mm_cid() ? MEMCG_INDEX_MM_CID : MEMCG_INDEX_CPU_ID;
	}
	memcg_percpu.rseq = registered && want != MEMCG_INDEX_THREAD && !(options->flags & MEMCG_INIT_PORTABLE) &&
			    fence_start() == 0;
	memcg_percpu.thread_off = thread_head_offset();
	memcg_percpu.rseq_off = memcg_percpu.rseq ? rseq_offset() : thread_scratch_offset();
	switch (want) {
	case MEMCG_INDEX_MM_CID:
		memcg_percpu.index_off = rseq_offset() + RSEQ_OFFSET_MM_CID;
		if (!registered || !rseq_has_mm_cid())
			return -EOPNOTSUPP;
		break;
	case MEMCG_INDEX_CPU_ID:
		memcg_percpu.index_off = rseq_offset() + RSEQ_OFFSET_CPU_ID;
		if (!registered)
			return -EOPNOTSUPP;
		break;
	default:
		memcg_percpu.index_off = thread_index_offset();
		break;
	}
	percpu_index_kind = want;
	return 0;
}

static size_t block_end(uint32_t owners)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end = offsetof(struct percpu_area, owner_pages) + (size_t)owners * sizeof(int64_t);

	return (end + page - 1) & ~(page - 1);
}

#ifdef MEMCG_SIM

static unsigned int possible_cpus(void)
{
	return sim_nr_cpus();
}

#else

/* Without /sys: the kernel's own mask has a bit for each possible CPU, and few more. */
static unsigned int mask_cpus(void)
{
	unsigned long mask[NR_CPUS_MAX / 8 / sizeof(long)];
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	return bytes > 0 ? (unsigned int)bytes * 8 : NR_CPUS_MAX;
}

/* CPU numbers and concurrency ids are below this, whatever comes online later: "0-3,8-11". */
static unsigned int possible_cpus(void)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long last = configured > 0 ? (unsigned long)configured - 1 : 0;
	char text[256], *pos = text;

	if (small_file_read("/sys/devices/system/cpu/possible", text, sizeof(text)) <= 0)
		return mask_cpus();
	while (*pos) {
		char *end;
		unsigned long n = strtoul(pos, &end, 10);

		if (end != pos)
			last = n > last ? n : last;
		pos = *end ? end + 1 : end;
	}
	return last + 1 < NR_CPUS_MAX ? (unsigned int)last + 1 : NR_CPUS_MAX;
}

#endif

/* A thread's number needs no more areas than asked for; a CPU's number can be any possible one. */
static unsigned int choose_nr(const struct memcg_options *options)
{
	unsigned int possible = possible_cpus();

	if (percpu_index_kind == MEMCG_INDEX_THREAD) {
		long online = sysconf(_SC_NPROCESSORS_ONLN);

		possible = online > 0 ? (unsigned int)online : 1;
		return options->nr_cpus ? options->nr_cpus : possible;
	}
	return options->nr_cpus > possible ? options->nr_cpus : possible;
}

/* For the simulator's reports. */
static void name_areas(void)
{
	unsigned int i;

	sim_name(percpu_touched_flags, percpu_nr, "percpu", "touched_flags");
	for (i = 0; i < percpu_nr; i++) {
		struct percpu_area *area = percpu_area(i);

		sim_name_field(area, percpu_area, head);
		sim_name_field(area, percpu_area, budget);
		sim_name_field(area, percpu_area, busy);
		sim_name_field(area, percpu_area, page_hand);
		sim_name_field(area, percpu_area, counts);
		sim_name_field(area, percpu_area, page_victim);
		sim_name_field(area, percpu_area, byte_victim);
		sim_name_field(area, percpu_area, page_slots);
		sim_name_field(area, percpu_area, byte_slots);
		sim_name(area->owner_pages, OWNER_NUMBERS * sizeof(int64_t), "percpu_area", "owner_pages");
		(void)area;
	}
}

/* Areas whose slots are empty for ever: what the fast path is led to while a drain works. */
static char *closed_areas(void)
{
	return memcg_percpu.base + ((size_t)percpu_nr << MEMCG_AREA_SHIFT);
}

static int closed_areas_make(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < percpu_nr; i++)
		err = range_read(closed_areas() + ((size_t)i << MEMCG_AREA_SHIFT), block_end(0));
	return err;
}

int percpu_start(const struct memcg_options *options)
{
	int err = choose_index(options);
	char *base;

	if (err)
		return err;
	if (options->nr_cpus > NR_CPUS_MAX || options->stock_budget > BUDGET_MAX)
		return -EINVAL;
	percpu_budget = options->stock_budget ? options->stock_budget : MEMCG_STOCK_BUDGET;
	percpu_nr = choose_nr(options);
	percpu_touched_flags = mem_zalloc(percpu_nr);
	if (!percpu_touched_flags)
		return -ENOMEM;
	/* The second half of the range stays what it is: areas without slots. */
	base = range_reserve((size_t)2 * percpu_nr << MEMCG_AREA_SHIFT);
	memcg_percpu.base = base;
	percpu_open();
	err = base ? percpu_extend(0) : -ENOMEM;
	if (!err)
		err = closed_areas_make();
	if (err)
		percpu_stop();
	else
		name_areas();
	return err;
}

void percpu_stop(void)
{
	if (memcg_percpu.base)
		range_release(memcg_percpu.base, (size_t)2 * percpu_nr << MEMCG_AREA_SHIFT);
	mem_free(percpu_touched_flags);
	memcg_percpu.base = NULL;
	percpu_touched_flags = NULL;
	usable_owners = 0;
}

void percpu_close(void)
{
	store_seq(&memcg_percpu.fast, closed_areas());
}

void percpu_open(void)
{
	store_seq(&memcg_percpu.fast, memcg_percpu.rseq ? memcg_percpu.base : closed_areas());
}

int percpu_extend(uint32_t owner)
{
	uint32_t owners = (owner / OWNER_STEP + 1) * OWNER_STEP;
	size_t from = usable_owners ? block_end(usable_owners) : 0;
	unsigned int i;

	if (owner < usable_owners)
		return 0;
	if (owner >= OWNER_NUMBERS)
		return -ENOMEM;
	for (i = 0; i < percpu_nr; i++) {
		char *area = memcg_percpu.base + ((size_t)i << MEMCG_AREA_SHIFT);

		if (range_use(area + from, block_end(owners) - from))
			return -ENOMEM;
	}
	usable_owners = owners;
	return 0;
}

void percpu_thread_start(uint32_t *index)
{
	*index = __atomic_fetch_add(&next_thread, 1, __ATOMIC_RELAXED) % percpu_nr;
}
