/* SPDX-License-Identifier: MIT */
/*
 * memcg_dump: the tree and its largest groups, without allocation or lock (B2), for the refusal
 * path, for handlers and for debuggers.
 *
 * The tree is read as it is at each step; a group that is created or destroyed meanwhile may be
 * listed or not. Nothing is held while a line is written but a reference: whoever reads the
 * other end of a full pipe may be waiting for a grace period.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/rcu.h"
#include "base/text.h"
#include "group/group.h"

#define LINE_MAX_BYTES 1024 /* longer lines, of deep paths, are cut */

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_text(int fd, struct text *text)
{
	size_t len = text->len < text->cap ? text->len : text->cap - 1;

	if (text->len >= text->cap)
		text->buf[len - 1] = '\n';
	return write_all(fd, text->buf, len);
}

static void put_pages(struct text *text, const char *key, unsigned long pages)
{
	text_char(text, ' ');
	text_str(text, key);
	text_char(text, '=');
	if (pages >= PAGE_COUNTER_MAX)
		text_str(text, "max");
	else
		text_u64(text, (uint64_t)pages * MEMCG_PAGE_SIZE);
}

static int dump_group(int fd, const struct memcg *memcg, unsigned int indent)
{
	const struct page_counter *counter = &memcg->memory;
	char buf[LINE_MAX_BYTES];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	while (indent--)
		text_str(&text, "  ");
	text_str(&text, memcg->name);
	put_pages(&text, "current", page_counter_read(counter));
	put_pages(&text, "peak", load_relaxed(&counter->watermark));
	put_pages(&text, "max", load_relaxed(&counter->max));
	put_pages(&text, "stock_room", load_relaxed(&counter->room));
	put_pages(&text, "forced", load_relaxed(&counter->forced));
	text_str(&text, " refused=");
	text_u64(&text, load_relaxed(&counter->failcnt));
	text_str(&text, "\n");
	return write_text(fd, &text);
}

/* The next group of the walk, with a reference, for the one of @pos. Only the step is a read section. */
static struct css *step(struct css *pos, struct css *top)
{
	struct css *next = pos;

	rcu_lock();
	do {
		next = css_next(next, top);
	} while (next && !css_tryget(next));
	rcu_unlock();
	if (pos)
		memcg_put(memcg_of(pos));
	return next;
}

static int dump_tree(int fd, struct memcg *top)
{
	struct css *pos = NULL;
	int err = 0;

	while ((pos = step(pos, &top->css))) {
		err = dump_group(fd, memcg_of(pos), pos->depth - top->css.depth);
		if (err) {
			memcg_put(memcg_of(pos));
			break;
		}
	}
	return err;
}

/* Is (usage, id) before (other usage, other id) in falling order of usage? */
static bool larger(unsigned long usage, uint64_t id, unsigned long other, uint64_t other_id)
{
	return usage != other ? usage > other : id < other_id;
}

/* The largest group that comes after (@usage, @id) in that order, with a reference: one pass for each line, no memory. */
static struct memcg *next_largest(struct memcg *top, unsigned long *usage, uint64_t *id)
{
	unsigned long best_usage = 0, limit = *usage;
	uint64_t best_id = 0, limit_id = *id;
	struct memcg *best = NULL;
	struct css *pos = NULL;

	rcu_lock();
	while ((pos = css_next(pos, &top->css))) {
		struct memcg *memcg = memcg_of(pos);
		unsigned long mine = page_counter_read(&memcg->memory);

		if (memcg == top || !larger(limit, limit_id, mine, memcg_id(memcg)))
			continue;
		if (!best || larger(mine, memcg_id(memcg), best_usage, best_id)) {
			best = memcg;
			best_usage = mine;
			best_id = memcg_id(memcg);
		}
	}
	if (best && !css_tryget(&best->css))
		best = NULL;
	rcu_unlock();
	*usage = best_usage;
	*id = best_id;
	return best;
}

static int dump_largest(int fd, struct memcg *top, unsigned int nr)
{
	unsigned long usage = ~0UL;
	uint64_t id = 0;
	struct memcg *memcg;
	int err = write_all(fd, "largest:\n", 9);

	while (!err && nr-- && (memcg = next_largest(top, &usage, &id))) {
		char buf[LINE_MAX_BYTES], path[LINE_MAX_BYTES - 64];
		struct text text;

		text_init(&text, buf, sizeof(buf));
		memcg_path(memcg, path, sizeof(path)); /* one that is too long is cut */
		text_str(&text, "  ");
		text_str(&text, path);
		put_pages(&text, "current", usage);
		text_str(&text, "\n");
		memcg_put(memcg);
		err = write_text(fd, &text);
	}
	return err;
}

int memcg_dump(int fd, struct memcg *top, unsigned int max_groups)
{
	int saved = errno, err;

	if (top == &unaccounted_group)
		return -EINVAL;
	top = top ? top : memcg_root();
	err = dump_tree(fd, top);
	if (!err && max_groups)
		err = dump_largest(fd, top, max_groups);
	errno = saved;
	return err;
}
