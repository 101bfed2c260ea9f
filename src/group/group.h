/* SPDX-License-Identifier: MIT */
/*
 * struct memcg and struct memcg_objcg: the types that the upper floors charge.
 *
 *   memcg   a group: css (place in the tree), page counter, events, name, threads, open files
 *   objcg   what an object stores as its payer. Dead when its group is destroyed; what
 *           is charged through it then goes to the nearest living ancestor's objcg
 *   slow section   a read section that fork waits for too (slow.h)
 */
#ifndef GROUP_GROUP_H
#define GROUP_GROUP_H

#include <memcg/charge.h>
#include <memcg/inline.h>

#include "base/lock.h"
#include "counter/page_counter.h"
#include "css/css.h"
#include "group/per_node.h"
#include "stat/events.h"
#include "stat/group_stat.h"

struct memcg {
	struct memcg_fast fast;            /* what the inline path reads; constant while online */
	struct memcg_objcg *objcg;         /* payer of its objects; constant; NULL in the unaccounted one */
	const char *name;                  /* last part of its path; constant */
	bool unaccounted;                  /* the pseudo group that nothing is charged to; constant */
	struct mem_cgroup_per_node *nodes; /* one for each node that can be; constant; NULL in the unaccounted one */
	struct group_stat *stat;           /* statistics; constant; NULL in the unaccounted one */
	struct css css;                    /* place in the tree, references */
	struct page_counter memory;        /* usage and limits, in pages */
	struct events events;              /* memory.events */
	uint32_t max_depth;                /* cgroup.max.depth; tree lock */
	uint32_t max_descendants;          /* cgroup.max.descendants; tree lock */
	uint32_t nr_threads;               /* attached threads; threads lock, read anywhere */
	uint32_t threads_below;            /* the same, with those of all groups below; threads lock, read anywhere */
	uint32_t oom_group;                /* memory.oom.group; relaxed */
	struct memcg_file *peaks;          /* open files that have reset memory.peak; tree lock */
	size_t meta_slab;                  /* bytes that it costs, charged to the parent; constant once linked */
	size_t meta_percpu;                /* of its blocks on indices; the same */
	uint64_t meta_below;               /* bytes charged here for children; tree lock */
	struct memcg *hash_next;           /* names table; tree lock */
	struct memcg *queue_next;          /* offline queue, then free list; see house.c */
	char name_buf[];                   /* the name */
};

#define OBJCG_BIAS ((int64_t)1 << 62) /* keeps live positive until the bytes have been counted */

struct memcg_objcg {
	struct memcg_fast fast;         /* number and byte slots; constant */
	struct memcg *memcg;            /* group; valid while not dead */
	struct memcg_objcg *parent;     /* of the group's parent; constant, holds a reference; NULL for the root */
	int64_t residue pair_aligned;   /* bytes charged and in no slot: under a page, or dead; atomic */
	int64_t moved_pages;            /* pages that came from dead children, and odd ones; atomic */
	int64_t live;                   /* once dead: OBJCG_BIAS, later bytes still charged; atomic */
	uint64_t refs;                  /* one of the group, one of live bytes, handles', children's; atomic */
	uint32_t dead;                  /* 1: group destroyed; set once */
	uint32_t withholds;             /* 1: dead, and the residue holds whole pages; atomic */
	struct memcg_objcg *queue_next; /* free list */
};

/* E1: what each fast path reads shares no pair with what is written. */
_Static_assert(offsetof(struct memcg, memory) % PAIR_SIZE == 0, "the counter begins a pair");
_Static_assert(offsetof(struct memcg_objcg, residue) % PAIR_SIZE == 0, "what is written begins a pair");
_Static_assert(offsetof(struct css, refs) % PAIR_SIZE == 0, "references begin a pair");
_Static_assert(offsetof(struct memcg, fast) == offsetof(struct memcg_head_, fast) &&
		       offsetof(struct memcg, objcg) == offsetof(struct memcg_head_, objcg),
	       "the inline path finds them at the head");
_Static_assert(offsetof(struct memcg_objcg, fast) == 0, "the inline path finds it at the head");

struct memcg_file;

extern struct lock tree_lock;
extern struct id_table objcg_ids;
extern struct memcg unaccounted_group;

/*
 * Steps that upper floors do for this one: registered by constructors there. Those of a floor are NULL in a
 * program that links the archive and uses nothing of that floor: it is not in it.
 * drain_dying: take all stock of dying groups and dead owners back to the counters.
 */
struct group_steps {
	void (*drain_dying)(void);
	void (*drain_idle)(void); /* stock of CPUs that had no slow path since the last call */
	int (*charge)(struct memcg *memcg, unsigned long pages); /* nowait; -ENOMEM */
	void (*uncharge)(struct memcg *memcg, unsigned long pages);
	void (*fork_prepare)(void); /* takes the drain lock */
	void (*fork_parent)(void);
	void (*fork_child)(void);
	void (*control_open)(void); /* opens the socket that a forked child wants */
	void (*control_tick)(void); /* serves it, where there is no thread */
};
extern struct group_steps group_steps;
extern uint32_t group_control_wanted; /* 1: this child of a fork wants a control socket of its own; atomic */

/* In calls of thread or may-sleep context, with no lock held and outside read sections: a good moment to open it. */
static inline void group_control_check(void)
{
	if (unlikely(load_relaxed(&group_control_wanted)) && atomic_xchg(&group_control_wanted, 0))
		group_steps.control_open();
}

static inline struct memcg *memcg_of(struct css *css)
{
	return container_of(css, struct memcg, css);
}

/* The group of an owner number in a slot; NULL for 0. Read section. */
static inline struct memcg *memcg_by_number(uint32_t number)
{
	struct css *css = id_lookup(&css_ids, number);

	return css ? memcg_of(css) : NULL;
}

static inline struct memcg *memcg_of_counter(struct page_counter *counter)
{
	return container_of(counter, struct memcg, memory);
}

static inline bool memcg_dying(const struct memcg *memcg)
{
	return css_dying(&memcg->css);
}

int group_start(const struct memcg_options *options); /* 0 when it runs; once */
int objcg_create(struct memcg *memcg);                /* gives the group its owner */
void objcg_kill(struct memcg_objcg *objcg);           /* from here on charges go to the parent's */
void objcg_reparent(struct memcg_objcg *objcg);       /* after drain and grace period: settles what is left */
int64_t objcg_pages(const struct memcg_objcg *objcg); /* pages charged for bytes; exact when nothing runs */
void objcg_put_ref(struct memcg_objcg *objcg);
unsigned long host_max_pages(void); /* limit of the process' own kernel cgroup, in pages */

#endif
