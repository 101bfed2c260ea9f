/* SPDX-License-Identifier: MIT */
/*
 * memory.peak, and resets of it through open files.
 *
 * A counter has two high-water marks: the lifetime one, which nothing lowers, and a local one, which a reset
 * lowers to the usage. An open file shows the lifetime mark until it is written to. From then on it *watches*: it shows the
 * higher of its own value and the local mark. A reset by one file lowers the local mark for all, so it first gives each
 * watcher the usage it finds, if that is higher than his value.
 *
 * As in the kernel, what a watcher knew from the local mark alone is lost to him when another file resets:
 * he then shows the usage at that reset, or what came later.
 */
#include "files/open.h"

static void put_bytes(struct text *out, unsigned long pages)
{
	text_u64(out, (uint64_t)pages * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
}

void peak_read(struct memcg *memcg, struct text *out)
{
	put_bytes(out, load_relaxed(&memcg->memory.watermark));
}

/* A reset is that of an open file. Without one there is nothing to reset, and the lifetime peak stays. */
int peak_write(struct memcg *memcg, const char *text)
{
	(void)memcg;
	(void)text;
	return 0;
}

void peak_read_open(struct memcg_file *file, struct text *out)
{
	const struct page_counter *counter = &file->group->memory;
	unsigned long own, local;
	bool watches;

	lock_take(&tree_lock);
	watches = file->watches;
	own = file->peak;
	local = load_relaxed(&counter->local_watermark);
	lock_drop(&tree_lock);
	if (watches)
		put_bytes(out, own > local ? own : local);
	else
		peak_read(file->group, out);
}

/* Whatever was written. */
int peak_write_open(struct memcg_file *file, const char *text)
{
	struct memcg *memcg = file->group;
	struct memcg_file *watcher;
	unsigned long usage;

	(void)text;
	lock_take(&tree_lock);
	usage = page_counter_reset_peak(&memcg->memory);
	for (watcher = memcg->peaks; watcher; watcher = watcher->next_peak)
		watcher->peak = usage > watcher->peak ? usage : watcher->peak;
	if (!file->watches) {
		file->watches = true;
		file->next_peak = memcg->peaks;
		memcg->peaks = file;
	}
	file->peak = usage;
	lock_drop(&tree_lock);
	return 0;
}

void peak_close(struct memcg_file *file)
{
	struct memcg_file **at = &file->group->peaks;

	if (!file->watches)
		return;
	lock_take(&tree_lock);
	while (*at != file)
		at = &(*at)->next_peak;
	*at = file->next_peak;
	lock_drop(&tree_lock);
}
