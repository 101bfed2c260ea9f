/* SPDX-License-Identifier: MIT */
/* Groups and threads as tests make them. */
#ifndef SUPPORT_TREE_H
#define SUPPORT_TREE_H

#include <memcg/files.h>
#include <pthread.h>
#include <sched.h>

#include "support/ledger.h"

static inline struct memcg *group_make(struct memcg *parent, const char *name)
{
	struct memcg *memcg = NULL;

	must(memcg_create(parent, name, &memcg) == 0);
	return memcg;
}

static inline struct memcg *group_make_nr(struct memcg *parent, unsigned int nr)
{
	char name[24];

	snprintf(name, sizeof(name), "g%u", nr);
	return group_make(parent, name);
}

static inline void group_end(struct memcg *memcg)
{
	must(memcg_destroy(memcg) == 0);
	memcg_put(memcg);
}

static inline void group_max(struct memcg *memcg, unsigned long pages)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lu", pages * MEMCG_PAGE_SIZE);

	must(memcg_write(memcg, "memory.max", text, (size_t)len) == len);
}

static inline void group_max_none(struct memcg *memcg)
{
	must(memcg_write(memcg, "memory.max", "max", 3) == 3);
}

/* As the file has it, in bytes. */
static inline unsigned long group_current(struct memcg *memcg)
{
	char text[32];

	must(memcg_read(memcg, "memory.current", text, sizeof(text)) > 0);
	return strtoul(text, NULL, 10);
}

static inline unsigned long peak_of(const struct memcg *memcg)
{
	return load_relaxed(&memcg->memory.watermark);
}

static inline unsigned long max_events_of(const struct memcg *memcg)
{
	return load_relaxed(&memcg->events.total[EVENT_MAX]);
}

/* Every page of the tree is back: ends a test. */
static inline void tree_is_empty(void)
{
	must(ledger_settle());
	must(usage_of(memcg_root()) == 0);
	must(memcg_root()->css.nr_descendants == 0);
	must(objcg_pages(memcg_root()->objcg) == 0);
}

/* The calling thread stays on one CPU, so that it meets its own stock again. */
static inline void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* a filter may refuse it; then migrations are rare */
}

struct crew_member {
	void (*body)(unsigned int nr, void *arg);
	void *arg;
	unsigned int nr;
	pthread_t thread;
};

#define CREW_MAX 256U

static inline void *crew_thread(void *arg)
{
	struct crew_member *member = arg;

	member->body(member->nr, member->arg);
	return NULL;
}

struct crew {
	struct crew_member member[CREW_MAX];
	unsigned int nr;
};

static inline void crew_start(struct crew *crew, unsigned int nr, void (*body)(unsigned int nr, void *arg), void *arg)
{
	pthread_attr_t attr;
	unsigned int i;

	must(nr <= CREW_MAX);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	crew->nr = nr;
	for (i = 0; i < nr; i++) {
		crew->member[i] = (struct crew_member){ .body = body, .arg = arg, .nr = i };
		must(pthread_create(&crew->member[i].thread, &attr, crew_thread, &crew->member[i]) == 0);
	}
	pthread_attr_destroy(&attr);
}

static inline void crew_join(struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < crew->nr; i++)
		must(pthread_join(crew->member[i].thread, NULL) == 0);
}

/* @nr threads do @body, all at once. */
static inline void crew_run(unsigned int nr, void (*body)(unsigned int nr, void *arg), void *arg)
{
	static struct crew crew;

	crew_start(&crew, nr, body, arg);
	crew_join(&crew);
}

/* The same, one after the other: with numbers of threads as index, each has another area. */
static inline void crew_run_in_turn(unsigned int nr, void (*body)(unsigned int nr, void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct crew_member member = { .body = body, .arg = arg, .nr = i };

		must(pthread_create(&member.thread, NULL, crew_thread, &member) == 0);
		must(pthread_join(member.thread, NULL) == 0);
	}
}

/* A generator of its own for each thread; never 0. */
static inline uint32_t rng(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#endif
