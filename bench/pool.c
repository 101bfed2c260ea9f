/* SPDX-License-Identifier: MIT */
/*
 * A pool of threads that work in timed slices.
 *
 * Time rules, not counts: the threads share one deadline, so none of them runs its
 * last operations without the rivals that the case is about. Each looks at the clock
 * once per chunk and divides its own time by its own operations.
 *
 * On a shared machine a thread's own CPU time says what its operations cost, and wall
 * time how much of the CPU others left; the two agree when nobody else runs. CPU time
 * cannot tell two things: that a thread slept, so what sleeps is compared by wall time;
 * and that a rival was preempted, so that there was no contest. ru_nivcsw tells the
 * latter, and the slice is repeated.
 */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define RETAKES 4
#define TOLERATED 20 /* preemptions per second: the kernel's own threads run too */
#define SPINS 20000  /* before a start yields: a rival may not be on a CPU at all */

struct worker {
	struct pool *pool;       /* the one it belongs to */
	unsigned int index;      /* 0 .. workers - 1 */
	pthread_t thread;        /* its own */
	uint64_t start;          /* ns; of this slice */
	uint64_t end;            /* ns */
	uint64_t cpu;            /* ns of CPU time */
	unsigned long ops;       /* done in this slice */
	unsigned long preempted; /* involuntary switches in this slice */
	int err;                 /* of this slice */
} __attribute__((aligned(128)));

struct pool {
	unsigned int workers;       /* threads; fixed */
	bool pin;                   /* one per CPU */
	bool fits;                  /* no more threads than CPUs */
	bool quit;                  /* written before the last begin */
	const struct work *work;    /* of this slice; written before begin */
	uint64_t duration;          /* ns; written before begin */
	pthread_barrier_t begin;    /* the controller and all threads */
	pthread_barrier_t ready;    /* all threads: prepared */
	pthread_barrier_t end;      /* the controller and all threads */
	_Atomic unsigned int lined; /* threads at the start; spun on */
	_Atomic uint64_t deadline;  /* set by the first that starts */
	struct worker worker[];
};

static unsigned long slices;    /* all below: the controller's */
static unsigned long retaken;   /* no more than slices: a busy machine at most doubles the time */
static unsigned long disturbed; /* slices that stayed so */

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

uint64_t pool_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

unsigned int pool_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

unsigned long pool_disturbed(void)
{
	return disturbed;
}

static unsigned long preemptions(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_THREAD, &ru) ? 0 : (unsigned long)ru.ru_nivcsw;
}

/* The @n-th CPU of those allowed. */
static void pin_to(unsigned int n)
{
	cpu_set_t all, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || n--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* Threads that each have a CPU leave within a fraction of a microsecond of each other. */
static void line_up(struct pool *pool)
{
	unsigned int spins = 0;

	pthread_barrier_wait(&pool->ready);
	if (!pool->fits)
		return;
	atomic_fetch_add(&pool->lined, 1);
	while (atomic_load_explicit(&pool->lined, memory_order_relaxed) < pool->workers)
		if (++spins % SPINS == 0)
			sched_yield();
}

static int slice(struct worker *w, const struct work *work)
{
	struct pool *pool = w->pool;
	uint64_t now, cpu, unset = 0;
	unsigned long preempted;
	int err = work->prepare ? work->prepare(work, w->index) : 0;

	w->ops = 0;
	line_up(pool);
	preempted = preemptions();
	cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	w->start = now = pool_clock_ns();
	atomic_compare_exchange_strong(&pool->deadline, &unset, now + pool->duration);
	while (!err && (!w->ops || now < atomic_load_explicit(&pool->deadline, memory_order_relaxed))) {
		err = work->run(work, w->index, work->chunk);
		w->ops += work->chunk;
		now = pool_clock_ns();
	}
	w->end = now;
	w->cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->preempted = preemptions() - preempted;
	return err;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *pool = w->pool;

	if (pool->pin && pool->fits)
		pin_to(w->index);
	for (;;) {
		pthread_barrier_wait(&pool->begin);
		if (pool->quit)
			return NULL;
		w->err = slice(w, pool->work);
		pthread_barrier_wait(&pool->end);
	}
}

int pool_open(unsigned int workers, bool pin, struct pool **out)
{
	size_t size = (sizeof(struct pool) + workers * sizeof(struct worker) + 127) & ~(size_t)127;
	struct pool *pool = aligned_alloc(128, size);
	unsigned int i;
	int err;

	if (!pool)
		return -ENOMEM;
	*pool = (struct pool){ .workers = workers, .pin = pin, .fits = workers <= pool_cpus() };
	pthread_barrier_init(&pool->begin, NULL, workers + 1);
	pthread_barrier_init(&pool->ready, NULL, workers);
	pthread_barrier_init(&pool->end, NULL, workers + 1);
	for (i = 0; i < workers; i++) {
		pool->worker[i] = (struct worker){ .pool = pool, .index = i };
		err = pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]);
		if (err)
			return -err; /* those that run wait for ever: the bench ends here */
	}
	*out = pool;
	return 0;
}

void pool_close(struct pool *pool)
{
	unsigned int i;

	if (!pool)
		return;
	pool->quit = true;
	pthread_barrier_wait(&pool->begin);
	for (i = 0; i < pool->workers; i++)
		pthread_join(pool->worker[i].thread, NULL);
	pthread_barrier_destroy(&pool->begin);
	pthread_barrier_destroy(&pool->ready);
	pthread_barrier_destroy(&pool->end);
	free(pool);
}

static int take(struct pool *pool, const struct work *work, double seconds, struct sample *out,
		unsigned long *preempted)
{
	double cpu_ns = 0, wall_ns = 0, cpu = 0, ops = 0;
	uint64_t start = UINT64_MAX, end = 0;
	unsigned int i, width = pool->fits ? pool->workers : pool_cpus();
	int err = 0;

	pool->work = work;
	pool->duration = (uint64_t)(seconds * 1e9);
	atomic_store(&pool->lined, 0);
	atomic_store(&pool->deadline, 0);
	pthread_barrier_wait(&pool->begin);
	pthread_barrier_wait(&pool->end);
	*preempted = 0;
	for (i = 0; i < pool->workers; i++) {
		const struct worker *w = &pool->worker[i];

		cpu_ns += (double)w->cpu / (double)w->ops;
		wall_ns += (double)(w->end - w->start) / (double)w->ops;
		cpu += (double)w->cpu;
		ops += (double)w->ops;
		start = w->start < start ? w->start : start;
		end = w->end > end ? w->end : end;
		*preempted += w->preempted;
		err = err ? err : w->err;
	}
	out->v[CPU_NS] = cpu_ns / pool->workers;
	out->v[WALL_NS] = wall_ns / pool->workers;
	out->v[CPU_RATE] = ops / cpu * 1e9;
	out->v[WALL_RATE] = ops / (double)(end - start) * 1e9;
	out->v[CPU_SHARE] = cpu / ((double)(end - start) * width);
	return err;
}

int pool_slice(struct pool *pool, const struct work *work, double seconds, struct sample *out)
{
	unsigned long least, preempted, tolerated = (unsigned long)(TOLERATED * seconds);
	struct sample again;
	int i, err = take(pool, work, seconds, out, &least);

	slices++;
	if (!pool->fits || pool->workers == 1 || seconds <= 0)
		return err;
	for (i = 0; !err && least > tolerated && i < RETAKES && retaken < slices; i++, retaken++) {
		err = take(pool, work, seconds, &again, &preempted);
		if (preempted < least) {
			least = preempted;
			*out = again;
		}
	}
	disturbed += least > tolerated;
	return err;
}
