/* SPDX-License-Identifier: MIT */
/*
 * Pre-order walk that survives the removal of where it stands.
 *
 * Children are in the order of their serial numbers, so a position that was unlinked
 * meanwhile continues with the first sibling of a higher serial: each node that was
 * there all along is met exactly once.
 */
#include "base/assert.h"
#include "base/rcu.h"
#include "css/css.h"

static struct css *first_child(struct css *css)
{
	return cds_list_empty(&css->children) ? NULL : container_of(css->children.next, struct css, sibling);
}

static struct css *next_sibling(struct css *css)
{
	struct cds_list_head *end = &css->parent->children, *node = css->sibling.next;

	if (css_dying(css)) {
		node = end->next;
		while (node != end && container_of(node, struct css, sibling)->serial < css->serial)
			node = node->next;
	}
	return node == end ? NULL : container_of(node, struct css, sibling);
}

struct css *css_next(struct css *pos, struct css *top)
{
	struct css *next;

	if (!pos)
		return top;
	next = css_dying(pos) ? NULL : first_child(pos);
	while (!next && pos != top) {
		next = next_sibling(pos);
		pos = pos->parent;
	}
	return next;
}

struct css *css_next_rcu(struct css *pos, struct css *top)
{
	struct cds_list_head *head;

	if (!pos)
		return top;
	head = load_acquire(&pos->children.next);
	if (head != &pos->children)
		return container_of(head, struct css, sibling);
	while (pos != top) {
		head = load_acquire(&pos->sibling.next);
		if (head != &pos->parent->children)
			return container_of(head, struct css, sibling);
		pos = pos->parent;
	}
	return NULL;
}
