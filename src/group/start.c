/* SPDX-License-Identifier: MIT */
/*
 * Start of the library: options, areas, the root group.
 *
 * By default the memory is malloc's, and malloc may be one that starts this library at its first call, as
 * libmemcg-malloc.so does. It must not do so from within the start, whose lock is held: so it is called once before
 * (mem_ask()), and the library may run when that returns. One that comes back nevertheless is told -EBUSY.
 */
#include <errno.h>
#include <pthread.h>

#include "base/mem.h"
#include "base/nodes.h"
#include "base/sim.h"
#include "group/group.h"
#include "group/house.h"
#include "group/meta.h"
#include "group/thread.h"
#include "percpu/area.h"
#include "percpu/thread.h"

/* How far a thread is in memcg_init(). */
enum start_phase {
	START_OUTSIDE = 0,
	START_ASKING = 1, /* in mem_ask(): who comes back may start the library */
	START_INSIDE = 2, /* has the start lock: who comes back must not */
};

static struct lock start_lock = LOCK_INIT(LOCK_RANK_START);
struct group_steps group_steps;
uint32_t group_control_wanted;

static struct memcg *root_group; /* published when all else is ready */

static int options_check(const struct memcg_options *options)
{
	const unsigned int known = MEMCG_INIT_PORTABLE | MEMCG_INIT_NO_THREADS | MEMCG_INIT_NO_HOST_MAX |
				   MEMCG_INIT_V1 | MEMCG_INIT_METADATA;

	if (options->size != sizeof(*options) || (options->flags & ~known) || options->index > MEMCG_INDEX_THREAD)
		return -EINVAL;
	if (options->backing && (!options->backing->malloc || !options->backing->calloc || !options->backing->realloc ||
				 !options->backing->aligned_alloc || !options->backing->free))
		return -EINVAL;
	return 0;
}

static int start_floors(const struct memcg_options *options, struct memcg **root)
{
	int err = percpu_start(options);

	if (err)
		return err;
	err = nodes_start(options->nr_nodes);
	if (!err)
		err = per_node_start();
	if (!err)
		err = stat_start(options->flags & MEMCG_INIT_V1);
	if (!err)
		err = house_start(!(options->flags & MEMCG_INIT_NO_THREADS));
	if (!err)
		err = thread_start();
	if (!err)
		err = root_create(root);
	if (!err) {
		/* Last: it cannot be taken back. */
		err = -pthread_atfork(group_fork_prepare, group_fork_parent, group_fork_child);
		if (err)
			root_undo(*root);
	}
	if (err) {
		stat_stop();
		per_node_stop();
		percpu_stop();
	}
	return err;
}

/* One that fails leaves the library as it was, so that another may be tried. */
static int start_locked(const struct memcg_options *options)
{
	const struct memcg_backing backing = mem_backing;
	struct memcg *root;
	int err;

	if (options->backing)
		mem_backing = *options->backing;
	err = start_floors(options, &root);
	if (err) {
		mem_backing = backing;
		return err;
	}
	if (!(options->flags & MEMCG_INIT_NO_HOST_MAX))
		page_counter_set_max(&root->memory, host_max_pages());
	meta_wanted = options->flags & MEMCG_INIT_METADATA;
	store_release(&memcg_percpu.root, root);
	store_release(&root_group, root);
	return 0;
}

/* Before the lock, and not from within itself. */
static void ask_allocator(const struct memcg_options *options)
{
	struct thread_state *self = thread_self();

	if (options->backing || self->start_phase != START_OUTSIDE)
		return;
	self->start_phase = START_ASKING;
	mem_ask();
	self->start_phase = START_OUTSIDE;
}

int memcg_init(const struct memcg_options *options)
{
	const struct memcg_options defaults = { .size = sizeof(defaults) };
	struct thread_state *self = thread_self();
	uint32_t phase = self->start_phase;
	int err;

	if (load_acquire(&root_group))
		return options ? -EBUSY : 0;
	err = options ? options_check(options) : 0;
	if (err)
		return err;
	if (phase == START_INSIDE)
		return -EBUSY;
	ask_allocator(options ? options : &defaults);
	self->start_phase = START_INSIDE;
	lock_take(&start_lock);
	if (root_group)
		err = options ? -EBUSY : 0;
	else
		err = start_locked(options ? options : &defaults);
	lock_drop(&start_lock);
	self->start_phase = phase;
	return err;
}

struct memcg *memcg_root(void)
{
	struct memcg *root = load_acquire(&root_group);

	if (unlikely(!root)) {
		memcg_assert(memcg_init(NULL) == 0);
		root = root_group;
	}
	return root;
}
