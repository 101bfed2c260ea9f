/* SPDX-License-Identifier: MIT */
/*
 * The simulator's form of the commit: the same conditions as the sequence of
 * <memcg/inline.h>, between the section hooks of the simulated machine.
 */
#ifdef MEMCG_SIM

#include "base/sim.h"
#include "percpu/area.h"
#include "percpu/thread.h"

uint32_t memcg_sim_index(void)
{
	switch (percpu_index_kind) {
	case MEMCG_INDEX_MM_CID:
		return sim_mm_cid();
	case MEMCG_INDEX_CPU_ID:
		return sim_cpu();
	default:
		return 0;
	}
}

static int commit_portable(uint64_t *slot, uint64_t before, uint64_t after, const uint64_t *gate, uint64_t open)
{
	if (load_acquire(gate) != open)
		return 0;
	return atomic_cas(slot, &before, after);
}

int memcg_sim_commit(uint32_t index, uint64_t *slot, uint64_t before, uint64_t after, const uint64_t *gate,
		     uint64_t open)
{
	bool same;

	if (!memcg_percpu.rseq)
		return commit_portable(slot, before, after, gate, open);
	sim_section_begin();
	same = memcg_sim_index() == index && load_relaxed(gate) == open && load_relaxed(slot) == before;
	if (!same) {
		sim_section_end();
		return 0;
	}
	return sim_section_commit(slot, after);
}

const struct memcg_thread_head_ *memcg_sim_thread_head(void)
{
	return (const struct memcg_thread_head_ *)(const void *)thread_self();
}

int memcg_sim_fast(const struct memcg_fast *fast, unsigned long nr, int take)
{
	char *areas;
	uint64_t *slot, word;
	unsigned int way;

	sim_section_begin();
	areas = load_relaxed(&memcg_percpu.fast);
	slot = (uint64_t *)(void *)(areas + ((size_t)memcg_sim_index() << MEMCG_AREA_SHIFT) + fast->set);
	for (way = 0; way < MEMCG_STOCK_WAYS; way++, slot++) {
		word = load_relaxed(slot);
		if ((word ^ fast->owner) >> 32 == 0)
			break;
	}
	if (way == MEMCG_STOCK_WAYS || nr - 1 >= (take ? MEMCG_SLOT_HELD(word) : MEMCG_SLOT_FREE(word))) {
		sim_section_end();
		return 0;
	}
	word += take ? nr * MEMCG_SLOT_UNIT : -(nr * MEMCG_SLOT_UNIT);
	if (sim_fault(FAULT_LOST_STORE_IN_REFILL) && !take) {
		sim_section_end();
		store_relaxed(slot, word);
		return 1;
	}
	return sim_section_commit(slot, word);
}

#else
extern int percpu_sim_is_elsewhere; /* a file has at least one declaration */
#endif
