/* SPDX-License-Identifier: MIT */
/* Groups by parent and name. */
#include "group/names.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

static struct memcg **buckets; /* chains by hash_next; tree lock */
static size_t nr_buckets;      /* power of two, 0 at first */
static size_t nr_names;        /* groups in the table */

/* FNV-1a over the name, from the parent's serial. */
static uint64_t hash(const struct memcg *parent, const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ parent->css.serial;

	while (len--) {
		h ^= (unsigned char)*name++;
		h *= 0x100000001b3ULL;
	}
	return h ^ (h >> 32);
}

static struct memcg **bucket_of(const struct memcg *parent, const char *name, size_t len)
{
	return &buckets[hash(parent, name, len) & (nr_buckets - 1)];
}

static struct memcg **bucket_of_group(const struct memcg *memcg)
{
	return bucket_of(memcg_of(memcg->css.parent), memcg->name, strlen(memcg->name));
}

/* A table that cannot grow only has longer chains. */
static int grow(void)
{
	size_t old_nr = nr_buckets, nr = old_nr ? 2 * old_nr : 64, i;
	struct memcg **old = buckets;
	struct memcg **bigger;

	bigger = mem_zalloc(nr * sizeof(*bigger)); /* NOLINT(bugprone-sizeof-expression): pointers are meant */
	if (!bigger)
		return old_nr ? 0 : -ENOMEM;
	buckets = bigger;
	nr_buckets = nr;
	for (i = 0; i < old_nr; i++) {
		while (old[i]) {
			struct memcg *memcg = old[i];
			struct memcg **bucket = bucket_of_group(memcg);

			old[i] = memcg->hash_next;
			memcg->hash_next = *bucket;
			*bucket = memcg;
		}
	}
	mem_free(old);
	return 0;
}

int names_add(struct memcg *memcg)
{
	struct memcg **bucket;

	if (nr_names >= nr_buckets) {
		int err = grow();

		if (err)
			return err;
	}
	bucket = bucket_of_group(memcg);
	memcg->hash_next = *bucket;
	*bucket = memcg;
	nr_names++;
	return 0;
}

void names_del(struct memcg *memcg)
{
	struct memcg **link = bucket_of_group(memcg);

	while (*link != memcg)
		link = &(*link)->hash_next;
	*link = memcg->hash_next;
	nr_names--;
}

struct memcg *names_find(const struct memcg *parent, const char *name, size_t len)
{
	struct memcg *memcg = nr_buckets ? *bucket_of(parent, name, len) : NULL;

	for (; memcg; memcg = memcg->hash_next) {
		if (memcg->css.parent == &parent->css && !strncmp(memcg->name, name, len) && !memcg->name[len])
			return memcg;
	}
	return NULL;
}
