/* SPDX-License-Identifier: MIT */
/* Chunks of per-CPU parts: allocation. All under the stat lock but for start. */
#include "stat/percpu.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sim.h"
#include "base/small_file.h"
#include "percpu/range.h"

#define ROUND_UP(n, to) (((n) + (to)-1) & ~((to)-1))

struct chunk {
	char *base;                            /* stripe of index 0 */
	uint64_t used;                         /* bit per slot; stat lock */
	size_t usable;                         /* bytes of each stripe that can be used; stat lock */
	struct group_stat *owners[STAT_SLOTS]; /* by slot; stat lock */
};

int stat_steps = -1;
size_t stat_flushed_off;
unsigned int stat_nr_index;
char *stat_node_wide;
struct stat_tops *stat_tops;

static struct chunk *chunks[STAT_CHUNKS]; /* stat lock */
static uint32_t nr_chunks;                /* that exist; stat lock */
static uint32_t first_free;               /* no chunk below has a free slot; stat lock */
static size_t block_size;                 /* of a block; constant after start */
static unsigned int slots;                /* blocks in a stripe; constant after start */
static size_t step;                       /* bytes of a stripe made usable at once; constant after start */

/* A chunk that is mapped whole counts whole where the kernel does not overcommit. */
static bool kernel_overcommits(void)
{
	char text[16];

	return small_file_read("/proc/sys/vm/overcommit_memory", text, sizeof(text)) <= 0 || text[0] != '2';
}

static size_t machine_page(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > 0 ? (size_t)page : 4096;
}

static size_t tops_size(void)
{
	return ROUND_UP(stat_nr_index * sizeof(struct stat_tops), machine_page());
}

static size_t slot_off(unsigned int slot)
{
	return PAIR_SIZE + slot * block_size;
}

static int chunk_use(struct chunk *chunk, size_t end)
{
	size_t from = chunk->usable;
	unsigned int i;

	if (end <= from)
		return 0;
	if (step == STAT_STRIDE) {
		if (range_use(chunk->base, stat_nr_index * STAT_STRIDE))
			return -ENOMEM;
		chunk->usable = step;
		return 0;
	}
	end = (end + step - 1) / step * step;
	end = end < STAT_STRIDE ? end : STAT_STRIDE;
	for (i = 0; i < stat_nr_index; i++) {
		if (range_use(chunk->base + i * STAT_STRIDE + from, end - from))
			return -ENOMEM;
	}
	chunk->usable = end;
	return 0;
}

static struct chunk *chunk_create(void)
{
	struct chunk *chunk = mem_zalloc(sizeof(*chunk));
	unsigned int i;

	if (!chunk)
		return NULL;
	chunk->base = range_reserve(stat_nr_index * STAT_STRIDE);
	if (!chunk->base) {
		mem_free(chunk);
		return NULL;
	}
	for (i = 0; i < stat_nr_index; i++)
		sim_name(chunk->base + i * STAT_STRIDE, STAT_STRIDE, "stat_chunk", "stripe");
	return chunk;
}

static void chunk_destroy(struct chunk *chunk)
{
	range_release(chunk->base, stat_nr_index * STAT_STRIDE);
	mem_free(chunk);
}

/* The first chunk with a free slot, made where there is none. */
static int chunk_find(uint32_t *number)
{
	const uint64_t full = (1ULL << slots) - 1;
	uint32_t i = first_free;

	while (i < STAT_CHUNKS && chunks[i] && chunks[i]->used == full)
		i++;
	first_free = i;
	if (i == STAT_CHUNKS)
		return -ENOMEM;
	if (!chunks[i]) {
		chunks[i] = chunk_create();
		if (!chunks[i])
			return -ENOMEM;
		nr_chunks++;
	}
	*number = i;
	return 0;
}

int stat_block_alloc(struct group_stat *owner, uint32_t *number, char **base)
{
	unsigned int slot;
	uint32_t c;
	int err = chunk_find(&c);

	if (err)
		return err;
	slot = (unsigned int)__builtin_ctzll(~chunks[c]->used);
	err = chunk_use(chunks[c], slot_off(slot) + block_size);
	if (err)
		return err;
	chunks[c]->used |= 1ULL << slot;
	chunks[c]->owners[slot] = owner;
	*number = c * (STAT_SLOTS + 1U) + slot;
	*base = chunks[c]->base + slot_off(slot);
	return 0;
}

void stat_block_free(uint32_t number, const uint64_t *touched)
{
	uint32_t c = STAT_BLOCK_CHUNK(number);
	unsigned int slot = STAT_BLOCK_SLOT(number), i;
	struct chunk *chunk = chunks[c];

	for (i = 0; i < stat_nr_index; i++) {
		if (touched[i / 64] & (1ULL << (i % 64)))
			memset(chunk->base + i * STAT_STRIDE + slot_off(slot), 0, block_size);
	}
	chunk->used &= ~(1ULL << slot);
	chunk->owners[slot] = NULL;
	if (!chunk->used && nr_chunks > 1) {
		chunk_destroy(chunk);
		chunks[c] = NULL;
		nr_chunks--;
	}
	if (c < first_free)
		first_free = c;
}

struct group_stat *stat_block_owner(uint32_t chunk, unsigned int slot)
{
	return chunks[chunk] && slot < STAT_SLOTS ? chunks[chunk]->owners[slot] : NULL;
}

struct stat_stripe *stat_stripe_at(uint32_t chunk, unsigned int index)
{
	return chunks[chunk] ? (struct stat_stripe *)(void *)(chunks[chunk]->base + index * STAT_STRIDE) : NULL;
}

static void choose_sizes(void)
{
	size_t values = offsetof(struct stat_block, node_items) + nodes_nr * sizeof(int64_t[STAT_NR_NODE]);

	stat_nr_index = percpu_nr + 1;
	stat_flushed_off = ROUND_UP(values, (size_t)PAIR_SIZE);
	block_size = 2 * stat_flushed_off;
	slots = (unsigned int)((STAT_STRIDE - PAIR_SIZE) / block_size);
	slots = slots < STAT_SLOTS ? slots : STAT_SLOTS;
	if (stat_steps < 0)
		stat_steps = !kernel_overcommits();
	step = !stat_steps ? STAT_STRIDE : ROUND_UP(4 * block_size, machine_page());
}

int stat_percpu_start(void)
{
	uint32_t number;
	int err;

	choose_sizes();
	memcg_assert(slots > 0);
	stat_tops = (struct stat_tops *)(void *)range_reserve(tops_size());
	if (!stat_tops)
		return -ENOMEM;
	err = range_use((char *)stat_tops, tops_size());
	if (!err)
		err = stat_block_alloc(NULL, &number, &stat_node_wide);
	if (err)
		stat_percpu_stop();
	else
		sim_name(stat_tops, stat_nr_index * sizeof(struct stat_tops), "stat_tops", "marks");
	return err;
}

void stat_percpu_stop(void)
{
	uint32_t i;

	for (i = 0; i < STAT_CHUNKS && nr_chunks; i++) {
		if (chunks[i]) {
			chunk_destroy(chunks[i]);
			chunks[i] = NULL;
			nr_chunks--;
		}
	}
	if (stat_tops)
		range_release((char *)stat_tops, tops_size());
	stat_tops = NULL;
	first_free = 0;
}
