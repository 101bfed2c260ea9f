/* SPDX-License-Identifier: MIT */
/*
 * The hierarchy node that everything hangs on.
 *
 * References. One for being online, one per child (a parent outlives its children, D2), one per handle.
 * The last put queues the node; who frees it waits for a grace period before.
 * Lists of children are changed under the tree lock and read under it or in a read section.
 */
#ifndef CSS_CSS_H
#define CSS_CSS_H

#include <urcu/rculist.h>

#include "base/compiler.h"
#include "css/id_table.h"

#define CSS_DYING 1U    /* taken out of the tree; set once, under the tree lock */
#define CSS_RELEASED 2U /* no reference is left; set once */

struct css {
	struct css *parent;            /* NULL for the root; constant, holds a reference */
	uint32_t id;                   /* owner number; constant until freed */
	uint32_t generation;           /* of the number; constant */
	uint32_t depth;                /* root 0; constant */
	uint32_t flags;                /* CSS_*; atomic or */
	struct cds_list_head children; /* oldest first; tree lock, RCU */
	struct cds_list_head sibling;  /* in parent's children; tree lock, RCU */
	uint64_t serial;               /* order of creation, never reused; constant */
	uint32_t nr_children;          /* online; tree lock, read anywhere */
	uint32_t nr_descendants;       /* online, at any depth; tree lock, read anywhere */
	uint32_t nr_dying;             /* descendants taken out and not freed; atomic */
	uint64_t refs pair_aligned;    /* atomic */
};

extern struct id_table css_ids;

int css_init(struct css *css, struct css *parent); /* number, reference on the parent; -ENOMEM */
void css_link(struct css *css);                    /* tree lock: visible from here on */
void css_unlink(struct css *css);                  /* tree lock: marks it dying, takes it out of its parent's list */
void css_fini(struct css *css);                    /* after the grace period: number back; the caller puts the parent */

static inline bool css_dying(const struct css *css)
{
	return load_seq(&css->flags) & CSS_DYING;
}

static inline void css_get(struct css *css)
{
	__atomic_fetch_add(&css->refs, 1, __ATOMIC_RELAXED);
}

bool css_tryget(struct css *css); /* false: the last reference is gone */
bool css_put(struct css *css);    /* true: that was the last one */

bool css_is_descendant(const struct css *css, const struct css *ancestor); /* or the same */
struct css *css_common_ancestor(struct css *a, struct css *b);
struct css *css_next_child(struct css *pos, struct css *parent); /* of @parent; the same otherwise as css_next() */
struct css *css_next(struct css *pos, struct css *top); /* pre-order; NULL: from top on, or the end. Locking: walk.c */

#endif
