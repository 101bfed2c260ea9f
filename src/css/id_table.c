/* SPDX-License-Identifier: MIT */
/* Numbers for objects. */
#include "css/id_table.h"

#include <errno.h>

#include "base/lock.h"
#include "base/mem.h"

_Static_assert(ID_CHUNK *(size_t)ID_CHUNKS == OWNER_NUMBERS, "each number has its block in the areas");

static struct lock id_lock = LOCK_INIT(LOCK_RANK_IDS);

static struct id_entry *entry_of(struct id_table *table, uint32_t id)
{
	return &table->chunks[id / ID_CHUNK][id % ID_CHUNK];
}

/* Under the id lock: a number that was never given out. */
static int id_extend(struct id_table *table, uint32_t *id)
{
	uint32_t next = table->next ? table->next : 1;

	if (next >= OWNER_NUMBERS)
		return -ENOMEM;
	if (!table->chunks[next / ID_CHUNK]) {
		struct id_entry *chunk = mem_zalloc(ID_CHUNK * sizeof(*chunk));

		if (!chunk)
			return -ENOMEM;
		store_release(&table->chunks[next / ID_CHUNK], chunk);
	}
	if (percpu_extend(next))
		return -ENOMEM;
	table->next = next + 1;
	*id = next;
	return 0;
}

int id_alloc(struct id_table *table, uint32_t *id, uint32_t *generation)
{
	int err = 0;

	lock_take(&id_lock);
	if (table->free) {
		*id = table->free;
		table->free = entry_of(table, *id)->next_free;
	} else {
		err = id_extend(table, id);
	}
	if (!err)
		*generation = entry_of(table, *id)->generation;
	lock_drop(&id_lock);
	return err;
}

void id_publish(struct id_table *table, uint32_t id, void *object)
{
	store_release(&entry_of(table, id)->object, object);
}

void id_free(struct id_table *table, uint32_t id)
{
	struct id_entry *entry = entry_of(table, id);

	store_release(&entry->object, NULL);
	lock_take(&id_lock);
	entry->generation++;
	entry->next_free = table->free;
	table->free = id;
	lock_drop(&id_lock);
}

void id_lock_fork(void)
{
	lock_take(&id_lock);
}

void id_unlock_parent(void)
{
	lock_drop(&id_lock);
}

void id_unlock_child(void)
{
	lock_reinit(&id_lock);
}
