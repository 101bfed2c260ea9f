/* SPDX-License-Identifier: MIT */
/* A walk that is sent while it goes on. */
#include "control/cursor.h"

#include <errno.h>

#define PIECE 8192U    /* bytes that are sent at once */
#define GROUP_LINE 768 /* most bytes of one line: 16 columns, and a name */

void cursor_begin(struct control_cursor *cursor, struct memcg *top, bool children)
{
	*cursor = (struct control_cursor){ .top = top, .children = children };
}

void cursor_end(struct control_cursor *cursor)
{
	struct memcg *pos = cursor->pos, *top = cursor->top;

	/* As everywhere here: a fork in between loses a reference and drops none twice. */
	store_relaxed(&cursor->pos, NULL);
	store_relaxed(&cursor->top, NULL);
	memcg_put(pos);
	memcg_put(top);
	*cursor = (struct control_cursor){ 0 };
}

/* To the next group. False: there is none. */
static bool step(struct control_cursor *cursor)
{
	struct css *pos = cursor->pos ? &cursor->pos->css : NULL, *top = &cursor->top->css, *next;
	struct memcg *passed = cursor->pos;

	lock_take(&tree_lock);
	next = cursor->children ? css_next_child(pos, top) : css_next(pos, top);
	if (next)
		css_get(next);
	lock_drop(&tree_lock);
	store_relaxed(&cursor->pos, next ? memcg_of(next) : NULL);
	memcg_put(passed);
	return next;
}

static void put_number(struct text *text, uint64_t value)
{
	text_u64(text, value);
	text_char(text, ' ');
}

static void put_pages(struct text *text, unsigned long pages)
{
	if (pages >= PAGE_COUNTER_MAX)
		text_str(text, "max ");
	else
		put_number(text, (uint64_t)pages * MEMCG_PAGE_SIZE);
}

static void put_columns(struct text *text)
{
	unsigned int i;

	text_str(text, "depth children threads current peak min low high max ");
	for (i = 0; i < EVENT_NR; i++) {
		text_str(text, "events.");
		text_str(text, event_names[i]);
		text_char(text, ' ');
	}
	text_str(text, "name\n");
}

static void put_group(struct text *text, const struct memcg *memcg, const struct memcg *top)
{
	const struct page_counter *counter = &memcg->memory;
	unsigned int i;

	put_number(text, memcg->css.depth - top->css.depth);
	put_number(text, load_relaxed(&memcg->css.nr_children));
	put_number(text, load_relaxed(&memcg->nr_threads));
	put_pages(text, page_counter_read(counter));
	put_pages(text, load_relaxed(&counter->watermark));
	put_pages(text, load_relaxed(&counter->min));
	put_pages(text, load_relaxed(&counter->low));
	put_pages(text, load_relaxed(&counter->high));
	put_pages(text, load_relaxed(&counter->max));
	for (i = 0; i < EVENT_NR; i++)
		put_number(text, load_relaxed(&memcg->events.total[i]));
	text_str(text, memcg->name);
	text_char(text, '\n');
}

int cursor_send(struct control_cursor *cursor, struct control_out *scratch, struct control_out *out)
{
	bool more = true;
	struct text text;
	char *room;

	out_reset(scratch);
	room = out_room(scratch, PIECE);
	if (!room)
		return -ENOMEM;
	text_init(&text, room, PIECE);
	if (!cursor->pos && !cursor->children)
		put_columns(&text);
	while (text.len + GROUP_LINE < PIECE && (more = step(cursor))) {
		if (!cursor->children) {
			put_group(&text, cursor->pos, cursor->top);
			continue;
		}
		text_str(&text, cursor->pos->name);
		text_char(&text, '\n');
	}
	if (!more)
		cursor_end(cursor);
	return out_payload(out, more ? "more" : "ok", room, text.len);
}
