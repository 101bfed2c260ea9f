/* SPDX-License-Identifier: MIT */
/*
 * The report of a failure: what, the decisions that lead to it, and each step.
 *
 * A step on memory that one context alone touches says nothing about the order, so such
 * runs of steps are one line ("12 steps"), as are the turns of a spin loop. --full
 * prints them, and the middle of a long report.
 */
#include "explore/explore.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MAX_WORDS = 1 << 16,
	MULTI = 1,
	WRITTEN = 2,
	CALLERS = 3,
	FIRST_SHOWN = 100,
	LAST_SHOWN = 200
};

static const char *const kind_names[] = {
	[SIM_READ] = "read",
	[SIM_WRITE] = "write",
	[SIM_LOAD] = "load",
	[SIM_STORE] = "store",
	[SIM_RMW] = "rmw",
	[SIM_CAS_FAILED] = "cas failed",
	[SIM_FENCE] = "fence",
	[SIM_ALLOC] = "alloc",
	[SIM_FREE] = "free",
	[SIM_SECTION_BEGIN] = "section",
	[SIM_COMMIT] = "commit",
	[SIM_COMMIT_ABORTED] = "aborted",
	[SIM_MEMBARRIER] = "membarrier",
	[SIM_FENCED] = "fenced",
	[SIM_RCU_LOCK] = "rcu lock",
	[SIM_RCU_UNLOCK] = "rcu unlock",
	[SIM_RCU_WAIT] = "rcu wait",
	[SIM_RCU_DONE] = "rcu done",
	[SIM_MUTEX_LOCK] = "lock",
	[SIM_MUTEX_TRYLOCK] = "trylock",
	[SIM_MUTEX_UNLOCK] = "unlock",
	[SIM_RELAX] = "relax",
	[SIM_SLEEP] = "sleep",
	[SIM_FORK] = "fork",
	[SIM_DRAINED] = "visible",
	[SIM_ACTION] = "",
	[SIM_IRQ_BEGIN] = "irq begin",
	[SIM_IRQ_END] = "irq end",
	[SIM_EXIT] = "ends",
	[SIM_PLANTED] = "FAULT",
	[SIM_FAILED] = "FAILS",
};

static const char *const failure_names[] = {
	[SIM_OK] = "no failure",
	[SIM_FAIL_ASSERT] = "assertion",
	[SIM_FAIL_INVARIANT] = "invariant",
	[SIM_FAIL_USE_AFTER_FREE] = "use after free",
	[SIM_FAIL_OUT_OF_BOUNDS] = "out of bounds",
	[SIM_FAIL_BAD_FREE] = "bad free",
	[SIM_FAIL_BAD_ADDRESS] = "bad address",
	[SIM_FAIL_DEADLOCK] = "dead-lock",
	[SIM_FAIL_LIVELOCK] = "live-lock",
	[SIM_FAIL_MISUSE] = "misuse",
};

static struct word {
	uintptr_t word; /* address / 8; 0 empty */
	uint8_t first;  /* context plus 1 */
	uint8_t state;  /* MULTI, WRITTEN */
} words[MAX_WORDS];

static bool is_access(unsigned int kind)
{
	return kind <= SIM_CAS_FAILED || kind == SIM_FREE || kind == SIM_COMMIT || kind == SIM_COMMIT_ABORTED ||
	       kind == SIM_DRAINED || kind == SIM_MUTEX_LOCK || kind == SIM_MUTEX_TRYLOCK || kind == SIM_MUTEX_UNLOCK;
}

static struct word *word_of(uintptr_t word)
{
	unsigned int at = (unsigned int)(word * 0x9e3779b97f4a7c15ULL >> 48);

	while (words[at].word && words[at].word != word)
		at = (at + 1) % MAX_WORDS;
	return &words[at];
}

static const struct sim_step *step_at(uint64_t i)
{
	return &sim.trace[i % SIM_TRACE_MAX];
}

static uint64_t first_step(void)
{
	return sim.nr_trace > SIM_TRACE_MAX ? sim.nr_trace - SIM_TRACE_MAX : 0;
}

static void learn_words(void)
{
	unsigned int nr = 0;

	memset(words, 0, sizeof(words));
	for (uint64_t i = first_step(); i < sim.nr_trace; i++) {
		const struct sim_step *step = step_at(i);
		uintptr_t end = (step->addr + (step->size ? step->size : 1) - 1) / 8;

		if (!step->fibre || !is_access(step->kind) || step->size > 4096)
			continue;
		for (uintptr_t at = step->addr / 8; at <= end && nr < MAX_WORDS / 2; at++) {
			struct word *word = word_of(at);
			uint8_t ctx = (uint8_t)(step->fibre * 2 + step->irq + 1);

			nr += !word->word;
			word->word = at;
			if (!word->first)
				word->first = ctx;
			else if (word->first != ctx)
				word->state |= MULTI;
			if (sim_is_write((enum sim_kind)step->kind))
				word->state |= WRITTEN;
		}
	}
}

static bool is_private(const struct sim_step *step)
{
	uintptr_t end = (step->addr + (step->size ? step->size : 1) - 1) / 8;

	if (step->kind == SIM_ALLOC)
		return true;
	if (!is_access(step->kind) || step->kind == SIM_FREE)
		return false;
	for (uintptr_t at = step->addr / 8; at <= end; at++)
		if (word_of(at)->state == (MULTI | WRITTEN))
			return false;
	return sim.failure.addr < step->addr || sim.failure.addr >= step->addr + step->size;
}

void sim_describe_action(struct sim_action action, char *buf, size_t len)
{
	switch ((enum sim_action_kind)action.kind) {
	case SIM_ACT_RUN:
	case SIM_ACT_NEXT:
		snprintf(buf, len, "T%u goes on", action.a);
		break;
	case SIM_ACT_PLACE:
		snprintf(buf, len, "T%u is put on CPU %u", action.a, action.b);
		break;
	case SIM_ACT_PREEMPT:
		snprintf(buf, len, "is preempted and comes back");
		break;
	case SIM_ACT_DRAIN:
		snprintf(buf, len, "the oldest store of CPU %u becomes visible", action.a);
		break;
	case SIM_ACT_IRQ:
		snprintf(buf, len, "is interrupted");
		break;
	}
}

static void place(uintptr_t pc, char *buf, size_t len)
{
	struct sim_where where = sim_where(pc);

	snprintf(buf, len, "%s() %s:%u", where.function, where.file, where.line);
}

/* The place and up to CALLERS functions around it, inlined or called. */
static void place_of_step(const struct sim_step *step, char *buf, size_t len)
{
	const char *around[CALLERS];
	unsigned int nr = 0;
	size_t at;

	place(step->pc[0], buf, len);
	for (unsigned int i = 0; i < SIM_NR_FRAMES && step->pc[i] && nr < CALLERS; i++) {
		struct sim_where where = sim_where(step->pc[i]);

		if (i)
			around[nr++] = where.function;
		for (unsigned int k = 0; k < 2 && where.outer[k] && nr < CALLERS; k++)
			around[nr++] = where.outer[k];
	}
	at = strlen(buf);
	for (unsigned int i = 0; i < nr && around[i][0] != '?' && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, " < %s", around[i]);
}

static void print_step(const struct sim_step *step)
{
	char who[16], name[128] = "", value[64] = "", at[384] = "", line[640];
	int len;
	struct sim_action action = { (uint8_t)step->value, (uint8_t)(step->value >> 8), (uint8_t)(step->value >> 16) };

	sim_fibre_name(step->fibre, step->irq, who, sizeof(who));
	if (step->kind == SIM_ACTION) {
		sim_describe_action(action, name, sizeof(name));
		printf("  %-6s      -- %s\n", who, name);
		return;
	}
	if (step->kind == SIM_FENCED)
		snprintf(name, sizeof(name), "CPU %u", (unsigned int)step->addr);
	else if (step->addr)
		sim_name_of(step->addr, name, sizeof(name));
	if (is_access(step->kind) && step->size && step->size <= 8 && step->kind != SIM_FREE)
		sim_value_of(step->value, value, sizeof(value));
	if (step->pc[0])
		place_of_step(step, at, sizeof(at));
	len = snprintf(line, sizeof(line), "  %-6s cpu%-2d %-10s %-32s %-14s %s", who, step->cpu,
		       kind_names[step->kind], name, value, at);
	while (len > 0 && len < (int)sizeof(line) && line[len - 1] == ' ')
		line[--len] = '\0';
	printf("%s\n", line);
}

static void add_places(void)
{
	const struct sim_object *object = sim_memory_object(sim.failure.addr);

	sim_where_add(sim.failure.pc);
	for (uint64_t i = first_step(); i < sim.nr_trace; i++)
		for (unsigned int k = 0; k < SIM_NR_FRAMES; k++)
			sim_where_add(step_at(i)->pc[k]);
	for (unsigned int i = 1; i < sim.nr_fibres; i++)
		sim_where_add(sim.fibres[i].sleep_pc);
	if (object) {
		sim_where_add(object->alloc_pc);
		sim_where_add(object->free_pc);
	}
	sim_where_resolve();
}

static void print_object(void)
{
	const struct sim_object *object = sim_memory_object(sim.failure.addr);
	char who[16], at[256];

	if (!sim.failure.addr || !object)
		return;
	place(object->alloc_pc, at, sizeof(at));
	sim_fibre_name(object->alloc_ctx / 2, object->alloc_ctx % 2, who, sizeof(who));
	printf("  object @%u: %zu bytes, allocated by %s in %s\n", object->serial, object->size, who, at);
	if (object->state != SIM_OBJ_FREED)
		return;
	place(object->free_pc, at, sizeof(at));
	sim_fibre_name(object->free_ctx / 2, object->free_ctx % 2, who, sizeof(who));
	printf("  object @%u: freed by %s in %s\n", object->serial, who, at);
}

/* Where the threads sleep that will not go on. */
static void print_sleepers(void)
{
	char who[16], at[256], name[128] = "";

	for (unsigned int i = 1; i < sim.nr_fibres; i++) {
		const struct sim_fibre *f = &sim.fibres[i];

		if (f->state != SIM_BLOCKED && f->state != SIM_RELAXING)
			continue;
		sim_fibre_name(i, f->irq, who, sizeof(who));
		place(f->sleep_pc, at, sizeof(at));
		if (f->state == SIM_RELAXING || f->mutex)
			sim_name_of(f->mutex ? (uintptr_t)f->mutex : (uintptr_t)f->polled, name, sizeof(name));
		printf("  %s waits for %s in %s\n", who, *name ? name : "a grace period", at);
	}
}

/* The failing run was recorded. */
void sim_print_failure(const struct sim_schedule *s)
{
	char who[16], name[128], at[384];

	add_places();
	sim_fibre_name(sim.failure.fibre, sim.failure.irq, who, sizeof(who));
	place_of_step(step_at(sim.nr_trace - 1), at, sizeof(at)); /* the failure itself */
	printf("FAILURE in test %s: %s: %s\n", s->test->name, failure_names[sim.failure.kind], sim.failure.text);
	printf("  %s in %s\n", who, at);
	if (sim.failure.addr) {
		sim_name_of(sim.failure.addr, name, sizeof(name));
		printf("  at %s\n", name);
	}
	print_object();
	if (sim.failure.kind == SIM_FAIL_DEADLOCK || sim.failure.kind == SIM_FAIL_LIVELOCK)
		print_sleepers();
	if (s->scheduler == SIM_SCHED_REPLAY)
		printf("  replayed");
	else
		printf("  seed %" PRIu64 ", schedule %" PRIu64 " (%s)", s->opts->seed, s->index,
		       sim_scheduler_name(s->scheduler));
	printf(", memory %s, %u CPUs", s->opts->tso ? "tso" : "sc", sim.run->nr_cpus);
	if (s->opts->fault)
		printf(", planted fault %s", sim_fault_name(s->opts->fault));
	printf("\n");
}

/* A turn of a spin loop like the one before it says nothing new. */
static bool is_boring(const struct sim_schedule *s, const struct sim_step *step, const struct sim_step *shown)
{
	if (!step->fibre && step->kind != SIM_FAILED)
		return true;
	if (s->opts->full)
		return false;
	if (step->kind == SIM_RELAX && shown && shown->kind == SIM_RELAX)
		return step->fibre == shown->fibre && step->pc[0] == shown->pc[0];
	return is_private(step);
}

static unsigned int count_shown(const struct sim_schedule *s)
{
	const struct sim_step *shown = NULL;
	unsigned int nr = 0;

	for (uint64_t i = first_step(); i < sim.nr_trace; i++) {
		if (is_boring(s, step_at(i), shown))
			continue;
		shown = step_at(i);
		nr++;
	}
	return nr;
}

/* All of a short run; of a long one its begin and its end. */
void sim_print_steps(const struct sim_schedule *s)
{
	const struct sim_step *shown = NULL;
	unsigned int hidden = 0, nr = 0, all;

	learn_words();
	all = count_shown(s);
	printf("  thread cpu   step       memory                           value          where\n");
	for (uint64_t i = first_step(); i < sim.nr_trace; i++) {
		const struct sim_step *step = step_at(i);

		if (is_boring(s, step, shown)) {
			hidden += step->fibre > 0;
			continue;
		}
		shown = step;
		nr++;
		if (!s->opts->full && all > FIRST_SHOWN + LAST_SHOWN && nr > FIRST_SHOWN && nr <= all - LAST_SHOWN) {
			hidden++;
			continue;
		}
		if (hidden)
			printf("              (%u step%s)\n", hidden, hidden > 1 ? "s" : "");
		hidden = 0;
		print_step(step);
	}
}

/* Shrinks the failure that is in sim.log, and prints it. */
void sim_report(const struct sim_schedule *s)
{
	unsigned int before = sim.nr_log, nr;
	struct sim_logged *log = malloc((before + 1) * sizeof(*log));
	struct sim_options sc = *s->opts;
	struct sim_schedule weaker = *s;
	enum sim_failure_kind kind = sim.failure.kind;
	char path[PATH_MAX + 256];

	if (!log)
		abort();
	memcpy(log, sim.log, before * sizeof(*log));
	nr = sim_shrink(s, log, before);
	sc.tso = false;
	weaker.opts = &sc;
	sim_schedule_replay(&weaker, log, nr, false);
	sc.tso = s->opts->tso && sim.failure.kind == kind; /* does it fail without store buffers? */
	sim_schedule_replay(s, log, nr, true);
	sim_print_failure(s);
	printf("  %u of %u decisions are enough%s:\n", nr, before,
	       !s->opts->tso ? "" :
	       sc.tso        ? "; they fail under --memory sc too" :
			       "; store buffers are needed");
	sim_print_steps(s);
	if (s->opts->output) {
		snprintf(path, sizeof(path), "%s/explore-%s.replay", s->opts->output, s->test->name);
		if (sim_file_write(path, s, log, nr))
			printf("  again: memcg-sim explore --replay %s\n", path);
		else
			sim_error("cannot write %s: %s", path, strerror(errno));
	}
	sim_trace_on(false);
	free(log);
}
