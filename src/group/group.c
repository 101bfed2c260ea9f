/* SPDX-License-Identifier: MIT */
/*
 * Groups: creation, names, paths, walks, and the first half of destruction.
 *
 * Destroying only takes the group out of the tree and marks it; what follows (stock
 * back, objects to the parent, memory) is house.c's, in batches, because it needs a
 * fence and grace periods that many destructions share.
 */
#include "group/group.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "group/house.h"
#include "group/meta.h"
#include "group/names.h"
#include "group/objcg.h"
#include "group/thread.h"
#include "percpu/area.h"

struct lock tree_lock = LOCK_INIT(LOCK_RANK_TREE);

struct memcg unaccounted_group = {
	/* A number that no slot ever has: the inline path always goes on to the slow one. */
	.fast = { .owner = (uint64_t)UINT32_MAX << 32, .set = offsetof(struct percpu_area, page_slots) },
	.name = "(unaccounted)",
	.unaccounted = true,
	.css = { .refs = 1 },
};

static int name_check(const char *name, size_t len)
{
	if (len > MEMCG_NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || memchr(name, '/', len) || memchr(name, '\n', len))
		return -EINVAL;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	return 0;
}

/* What a group consists of besides itself. */
static int group_parts(struct memcg *memcg)
{
	const struct memcg *parent = memcg_parent(memcg);
	int err = group_stat_create(parent ? parent->stat : NULL, &memcg->stat);

	if (!err)
		err = per_node_create(memcg);
	if (!err)
		err = objcg_create(memcg);
	if (err) {
		per_node_free(memcg);
		group_stat_free(memcg->stat);
		return err;
	}
	per_node_set_owner(memcg);
	return 0;
}

/* Not css_fini(): it never was among the dying. */
static void group_undo(struct memcg *memcg)
{
	id_free(&css_ids, memcg->css.id);
	mem_free(memcg);
}

/* A group that is in no list yet, with the caller's reference and the one of being online. */
static int group_alloc(struct memcg *parent, const char *name, size_t len, struct memcg **out)
{
	struct memcg *memcg = mem_zalloc(sizeof(*memcg) + len + 1);
	int err;

	if (!memcg)
		return -ENOMEM;
	memcpy(memcg->name_buf, name, len);
	memcg->name = memcg->name_buf;
	memcg->max_depth = INT32_MAX;
	memcg->max_descendants = INT32_MAX;
	memcg->events.parent = parent ? &parent->events : NULL;
	page_counter_init(&memcg->memory, parent ? &parent->memory : NULL);
	err = css_init(&memcg->css, parent ? &parent->css : NULL);
	if (err) {
		mem_free(memcg);
		return err;
	}
	memcg->fast.owner = (uint64_t)memcg->css.id << 32;
	memcg->fast.set = offsetof(struct percpu_area, page_slots) +
			  (size_t)(memcg->css.id % PAGE_SETS) * MEMCG_STOCK_WAYS * sizeof(uint64_t);
	err = group_parts(memcg);
	if (err) {
		if (parent)
			css_put(&parent->css);
		group_undo(memcg);
		return err;
	}
	*out = memcg;
	return 0;
}

/* What a group with a name of @len bytes takes of the library's memory, but for what it has per CPU. */
static size_t group_bytes(size_t len)
{
	return sizeof(struct memcg) + len + 1 + sizeof(struct memcg_objcg) + group_stat_bytes() +
	       nodes_nr * sizeof(struct mem_cgroup_per_node);
}

int root_create(struct memcg **out)
{
	struct memcg *root;
	int err = group_alloc(NULL, "/", 1, &root);

	if (err)
		return err;
	lock_take(&tree_lock);
	css_link(&root->css);
	lock_drop(&tree_lock);
	*out = root;
	return 0;
}

void root_undo(struct memcg *root)
{
	id_free(&objcg_ids, objcg_id(root->objcg));
	mem_free(root->objcg);
	per_node_free(root);
	group_stat_free(root->stat);
	group_undo(root);
}

/* Tree lock: do the limits on the shape of the tree, of @parent and above, allow one more below it? */
static int shape_check(const struct memcg *parent)
{
	const struct css *above;

	if (parent->css.depth >= MEMCG_DEPTH_MAX)
		return -EAGAIN;
	for (above = &parent->css; above; above = above->parent) {
		const struct memcg *memcg = container_of(above, const struct memcg, css);

		if (above->nr_descendants >= memcg->max_descendants ||
		    parent->css.depth + 1 - above->depth > memcg->max_depth)
			return -EAGAIN;
	}
	return 0;
}

/* Tree lock: may there be a @name below @parent? */
static int link_check(const struct memcg *parent, const char *name, size_t len)
{
	if (memcg_dying(parent))
		return -ENODEV;
	if (names_find(parent, name, len))
		return -EEXIST;
	return shape_check(parent);
}

static int group_link(struct memcg *parent, struct memcg *memcg, size_t len)
{
	int err = link_check(parent, memcg->name, len);

	if (!err)
		err = names_add(memcg);
	if (!err)
		css_link(&memcg->css);
	return err;
}

int memcg_create(struct memcg *parent, const char *name, struct memcg **group)
{
	struct memcg *memcg;
	size_t len;
	int err;

	if (!name || !group || parent == &unaccounted_group)
		return -EINVAL;
	len = strlen(name);
	err = name_check(name, len);
	if (err)
		return err;
	parent = parent ? parent : memcg_root();
	group_control_check();
	/* What is refused costs nothing; what another creation changes meanwhile is looked at again. */
	lock_take(&tree_lock);
	err = link_check(parent, name, len);
	lock_drop(&tree_lock);
	if (!err)
		err = group_alloc(parent, name, len, &memcg);
	if (err)
		return err;
	err = meta_charge(memcg, group_bytes(len));
	if (!err) {
		lock_take(&tree_lock);
		err = group_link(parent, memcg, len);
		lock_drop(&tree_lock);
	}
	if (err) {
		house_queue_unborn(memcg);
		return err;
	}
	*group = memcg;
	house_born();
	return 0;
}

int memcg_open(const char *path, struct memcg **group)
{
	struct memcg *memcg;
	int err = 0;

	if (!path || !group)
		return -EINVAL;
	memcg = memcg_root();
	group_control_check();
	lock_take(&tree_lock);
	while (memcg && *path) {
		size_t len = strcspn(path, "/");

		if (len)
			memcg = names_find(memcg, path, len);
		path += len;
		path += *path == '/';
	}
	if (memcg)
		*group = memcg_get(memcg);
	else
		err = -ENOENT;
	lock_drop(&tree_lock);
	return err;
}

static int group_unlink(struct memcg *group)
{
	int err = 0;

	lock_take(&tree_lock);
	threads_lock();
	if (memcg_dying(group))
		err = -ENODEV;
	else if (group->css.nr_children || group->nr_threads)
		err = -EBUSY;
	else
		css_unlink(&group->css);
	threads_unlock();
	if (!err) {
		names_del(group);
		events_gone(&group->events); /* before the housekeeper can take its listeners away */
		group_stat_kill(group->stat);
		/* In this order: who sees a dead owner knows that it is queued (house_settle()). */
		house_queue_offline(group);
		objcg_kill(group->objcg);
	}
	lock_drop(&tree_lock);
	return err;
}

int memcg_destroy(struct memcg *group)
{
	int err;

	if (!group)
		return -EINVAL;
	if (!group->css.parent)
		return -EBUSY;
	err = group_unlink(group);
	if (err == -EBUSY && threads_forget_ended(group))
		err = group_unlink(group);
	if (!err)
		house_wake();
	return err;
}

struct memcg *memcg_get(struct memcg *group)
{
	if (group)
		css_get(&group->css);
	return group;
}

void memcg_put(struct memcg *group)
{
	if (group && css_put(&group->css))
		house_released(group);
}

uint64_t memcg_id(const struct memcg *group)
{
	return (uint64_t)group->css.generation << 32 | group->css.id;
}

struct memcg *memcg_parent(const struct memcg *group)
{
	return group->css.parent ? memcg_of(group->css.parent) : NULL;
}

int memcg_path(const struct memcg *group, char *buf, size_t len)
{
	const struct css *chain[PAGE_COUNTER_DEPTH], *css;
	struct text text;
	unsigned int n = 0;

	text_init(&text, buf, len);
	for (css = &group->css; css->parent; css = css->parent)
		chain[n++] = css;
	if (!n)
		text_str(&text, group->name);
	while (n) {
		text_str(&text, container_of(chain[--n], const struct memcg, css)->name);
		if (n)
			text_char(&text, '/');
	}
	if (memcg_dying(group))
		text_str(&text, " (deleted)");
	return text.len < len ? (int)text.len : -ENAMETOOLONG;
}

int memcg_walk(struct memcg *top, int (*visit)(struct memcg *group, void *arg), void *arg)
{
	struct css *pos = NULL, *next;
	int ret = 0;

	if (!visit || top == &unaccounted_group)
		return -EINVAL;
	top = top ? top : memcg_root();
	while (!ret) {
		lock_take(&tree_lock);
		next = css_next(pos, &top->css);
		if (next)
			css_get(next);
		lock_drop(&tree_lock);
		if (pos)
			memcg_put(memcg_of(pos));
		pos = next;
		if (!pos)
			return 0;
		ret = visit(memcg_of(pos), arg);
	}
	memcg_put(memcg_of(pos));
	return ret;
}

void group_release(struct memcg *memcg)
{
	meta_uncharge(memcg);
	css_fini(&memcg->css);
	per_node_free(memcg);
	group_stat_free(memcg->stat);
	mem_free(memcg);
}
