/* SPDX-License-Identifier: MIT */
/* The hierarchy node: life and references. */
#include "css/css.h"

#include "base/assert.h"
#include "base/sim.h"

struct id_table css_ids;

static uint64_t last_serial; /* under the tree lock */

int css_init(struct css *css, struct css *parent)
{
	int err = id_alloc(&css_ids, &css->id, &css->generation);

	if (err)
		return err;
	CDS_INIT_LIST_HEAD(&css->children);
	CDS_INIT_LIST_HEAD(&css->sibling);
	css->parent = parent;
	css->depth = parent ? parent->depth + 1 : 0;
	css->refs = 2; /* online, and the creator's handle */
	if (parent)
		css_get(parent);
	sim_name_field(css, css, flags);
	sim_name_field(css, css, refs);
	sim_name_field(css, css, children);
	sim_name_field(css, css, nr_dying);
	id_publish(&css_ids, css->id, css);
	return 0;
}

/*
 * As cds_list_add_tail_rcu() and cds_list_del_rcu(), by release stores that pair with the loads of
 * css_next(): theirs are plain ones behind barriers, which ThreadSanitizer does not see.
 */
static void list_add_tail(struct cds_list_head *node, struct cds_list_head *head)
{
	node->next = head;
	node->prev = head->prev;
	store_release(&head->prev->next, node);
	head->prev = node;
}

static void list_del(struct cds_list_head *node)
{
	node->next->prev = node->prev;
	store_release(&node->prev->next, node->next);
}

void css_link(struct css *css)
{
	struct css *above;

	css->serial = ++last_serial;
	if (!css->parent)
		return;
	store_relaxed(&css->parent->nr_children, css->parent->nr_children + 1);
	for (above = css->parent; above; above = above->parent)
		store_relaxed(&above->nr_descendants, above->nr_descendants + 1);
	list_add_tail(&css->sibling, &css->parent->children);
}

void css_unlink(struct css *css)
{
	struct css *above;

	memcg_debug(css->parent && !css->nr_children);
	__atomic_fetch_or(&css->flags, CSS_DYING, __ATOMIC_SEQ_CST);
	store_relaxed(&css->parent->nr_children, css->parent->nr_children - 1);
	for (above = css->parent; above; above = above->parent) {
		store_relaxed(&above->nr_descendants, above->nr_descendants - 1);
		atomic_add(&above->nr_dying, 1);
	}
	list_del(&css->sibling);
}

void css_fini(struct css *css)
{
	struct css *above;

	for (above = css->parent; above; above = above->parent)
		atomic_sub(&above->nr_dying, 1);
	id_free(&css_ids, css->id);
}

bool css_tryget(struct css *css)
{
	uint64_t refs = load_relaxed(&css->refs);

	while (refs) {
		if (atomic_cas(&css->refs, &refs, refs + 1))
			return true;
	}
	return false;
}

bool css_put(struct css *css)
{
	uint64_t refs = atomic_sub(&css->refs, 1);

	memcg_assert(refs != UINT64_MAX);
	return refs == 0;
}

bool css_is_descendant(const struct css *css, const struct css *ancestor)
{
	if (css->depth < ancestor->depth)
		return false;
	while (css->depth > ancestor->depth)
		css = css->parent;
	return css == ancestor;
}

struct css *css_common_ancestor(struct css *a, struct css *b)
{
	while (a != b) {
		if (a->depth >= b->depth)
			a = a->parent;
		else
			b = b->parent;
	}
	return a;
}
