/* SPDX-License-Identifier: MIT */
/*
 * A walk that is sent while it goes on: a tree of any size costs one piece of memory. Nothing is held between two
 * steps but references on where it stands and where it began.
 */
#ifndef CONTROL_CURSOR_H
#define CONTROL_CURSOR_H

#include "control/out.h"
#include "group/group.h"

struct control_cursor {
	struct memcg *top; /* NULL: no walk is under way; else a reference */
	struct memcg *pos; /* the last one that was written, with a reference; NULL: none yet */
	bool children;     /* only those right below top, by name; else the subtree, as a table */
};

void cursor_begin(struct control_cursor *cursor, struct memcg *top, bool children); /* takes the reference over */
int cursor_send(struct control_cursor *cursor, struct control_out *scratch, struct control_out *out); /* one piece */
void cursor_end(struct control_cursor *cursor);

#endif
