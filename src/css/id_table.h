/* SPDX-License-Identifier: MIT */
/*
 * Numbers for objects: dense and reused, with a generation that is not. Number and
 * generation together never name two objects (D3).
 *
 * Lookup takes no lock and may be done from anywhere; what it finds lives as long as
 * the caller's read section, because numbers are given back before a grace period only
 * by owners that free after one.
 */
#ifndef CSS_ID_TABLE_H
#define CSS_ID_TABLE_H

#include "base/compiler.h"
#include "percpu/area.h"

struct id_entry {
	void *object;        /* published at the end of creation; NULL: none */
	uint32_t generation; /* of the next or current holder; under the id lock */
	uint32_t next_free;  /* free list, 0: end; under the id lock */
};

#define ID_CHUNK (OWNER_NUMBERS < 1024U ? OWNER_NUMBERS : 1024U)
#define ID_CHUNKS (OWNER_NUMBERS / ID_CHUNK)

struct id_table {
	struct id_entry *chunks[ID_CHUNKS]; /* each allocated once, never freed */
	uint32_t free;                      /* head of the list of numbers given back; under the id lock */
	uint32_t next;                      /* first number never given out; under the id lock */
};

int id_alloc(struct id_table *table, uint32_t *id, uint32_t *generation); /* 1 ..; -ENOMEM; thread context */
void id_publish(struct id_table *table, uint32_t id, void *object);
void id_free(struct id_table *table, uint32_t id);

void id_lock_fork(void); /* fork: held over it, so that the child finds whole lists */
void id_unlock_parent(void);
void id_unlock_child(void);

static inline void *id_lookup(const struct id_table *table, uint32_t id)
{
	const struct id_entry *chunk = load_acquire(&table->chunks[id / ID_CHUNK]);

	return chunk ? load_acquire(&chunk[id % ID_CHUNK].object) : NULL;
}

#endif
