/* SPDX-License-Identifier: MIT */
/*
 * Pre-order walk that survives the removal of where it stands.
 *
 * Children are in the order of their serial numbers, so a position that was unlinked
 * meanwhile continues with the first sibling of a higher serial: each node that was
 * there all along is met exactly once. The caller holds the tree lock, or a read section
 * and a reference on where it stands.
 */
#include "base/assert.h"
#include "base/rcu.h"
#include "css/css.h"

static struct css *first_child(struct css *css)
{
	struct cds_list_head *node = load_acquire(&css->children.next);

	return node == &css->children ? NULL : container_of(node, struct css, sibling);
}

static struct css *next_sibling(struct css *css)
{
	struct cds_list_head *end = &css->parent->children, *node = load_acquire(&css->sibling.next);

	if (css_dying(css)) {
		node = load_acquire(&end->next);
		while (node != end && container_of(node, struct css, sibling)->serial <= css->serial)
			node = load_acquire(&node->next);
	}
	return node == end ? NULL : container_of(node, struct css, sibling);
}

struct css *css_next_child(struct css *pos, struct css *parent)
{
	return pos ? next_sibling(pos) : first_child(parent);
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
