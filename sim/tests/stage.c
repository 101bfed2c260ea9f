/* SPDX-License-Identifier: MIT */
/* The stage of the library's tests. */
#include "tests/stage.h"

#include <string.h>

#include "charge/drain.h"
#include "charge/obj_stock.h"
#include "group/group.h"
#include "group/house.h"
#include "percpu/area.h"

enum {
	BYTES_ACCOUNT = STAGE_GROUPS
}; /* accounts of the ledger: pages by group, then bytes by group */

struct memcg *stage[STAGE_GROUPS];

static unsigned int parents[STAGE_GROUPS]; /* numbers */
static long seen[STAGE_GROUPS];            /* usage at the last look */
static bool chosen[STAGE_GROUPS];          /* the group is on the stage */

static void put_on_stage(unsigned int nr, struct memcg *group)
{
	stage[nr] = group;
	chosen[nr] = true;
}

void stage_start_with(unsigned int budget, unsigned int flags, unsigned int index)
{
	struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_THREADS | MEMCG_INIT_NO_HOST_MAX | flags,
		.index = index,
		.nr_cpus = index == MEMCG_INDEX_CPU_ID ? sim_nr_cpus() + SIM_CPU_BASES : 0,
		.stock_budget = budget,
	};

	sim_check(memcg_init(&options) == 0);
	put_on_stage(0, memcg_root());
}

void stage_start(unsigned int budget)
{
	stage_start_with(budget, 0, MEMCG_INDEX_MM_CID);
}

void stage_make(unsigned int nr, unsigned int parent, unsigned long max)
{
	static const char *const names[STAGE_GROUPS] = { "", "a", "b", "c", "d", "e", "f", "g" };
	struct memcg *group;

	sim_check(memcg_create(stage[parent], names[nr], &group) == 0);
	parents[nr] = parent;
	put_on_stage(nr, group);
	if (max)
		stage_set_max(nr, max);
}

void stage_set_max(unsigned int nr, unsigned long pages)
{
	char text[24];
	unsigned int at = sizeof(text) - 1;

	text[at] = '\0';
	for (unsigned long left = pages * MEMCG_PAGE_SIZE; left || at == sizeof(text) - 1; left /= 10)
		text[--at] = (char)('0' + left % 10);
	sim_check(memcg_write(stage[nr], "memory.max", text + at, sizeof(text) - 1 - at) > 0);
}

int stage_try(unsigned int nr, unsigned long pages, unsigned int flags)
{
	int err = memcg_charge(stage[nr], pages, flags);

	if (!err)
		sim_note(nr, (long)pages);
	return err;
}

void stage_charge(unsigned int nr, unsigned long pages)
{
	sim_check(stage_try(nr, pages, 0) == 0);
}

void stage_uncharge(unsigned int nr, unsigned long pages)
{
	sim_note(nr, -(long)pages);
	memcg_uncharge(stage[nr], pages);
}

long stage_live(unsigned int nr)
{
	return sim_noted(nr);
}

int stage_try_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes, unsigned int flags)
{
	int err = memcg_charge_bytes(owner, bytes, flags);

	if (!err)
		sim_note(BYTES_ACCOUNT + nr, (long)bytes);
	return err;
}

void stage_charge_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes)
{
	sim_check(stage_try_bytes(owner, nr, bytes, 0) == 0);
}

void stage_uncharge_bytes(struct memcg_objcg *owner, unsigned int nr, size_t bytes)
{
	sim_note(BYTES_ACCOUNT + nr, -(long)bytes);
	memcg_uncharge_bytes(owner, bytes);
}

void stage_press(unsigned int nr)
{
	pressure_begin(stage[nr]);
}

void stage_release(unsigned int nr)
{
	pressure_end(stage[nr]);
}

void stage_drain(unsigned int nr)
{
	stage_press(nr);
	stage_release(nr);
}

unsigned long stage_usage(unsigned int nr)
{
	return page_counter_read(&stage[nr]->memory);
}

unsigned long stage_peak(unsigned int nr)
{
	return stage[nr]->memory.watermark;
}

void stage_tick(void)
{
	for (int i = 0; i < 4; i++)
		memcg_tick();
}

void stage_invariant(void)
{
	for (unsigned int i = 0; i < STAGE_GROUPS; i++) {
		const struct page_counter *counter;
		long usage;

		if (!chosen[i])
			continue;
		counter = &stage[i]->memory;
		usage = counter_usage(counter->word);
		sim_check(usage >= 0);
		if (usage > seen[i])
			sim_check((unsigned long)usage <= counter->max || counter->forced);
		seen[i] = usage;
	}
}

/* Pages that the slots of an area have room for, if their owners are below @top. */
static unsigned long placed(const struct percpu_area *area, const struct css *top)
{
	unsigned long room = 0;

	for (unsigned int i = 0; i < PAGE_SLOTS; i++) {
		const struct css *css = id_lookup(&css_ids, (uint32_t)(area->page_slots[i] >> 32));

		if (area->page_slots[i] && css && css_is_descendant(css, top))
			room += MEMCG_SLOT_ROOM(area->page_slots[i]);
	}
	for (unsigned int i = 0; i < BYTE_SLOTS; i++) {
		const struct memcg_objcg *objcg = id_lookup(&objcg_ids, (uint32_t)(area->byte_slots[i] >> 32));

		if (area->byte_slots[i] && objcg && css_is_descendant(&objcg->memcg->css, top))
			room += MEMCG_SLOT_ROOM(area->byte_slots[i]) / MEMCG_PAGE_SIZE;
	}
	return room;
}

void stage_room(void)
{
	stage_invariant();
	for (unsigned int i = 0; i < percpu_nr; i++)
		sim_check(placed(percpu_area(i), &stage[0]->css) <= percpu_area(i)->budget);
	for (unsigned int i = 0; i < STAGE_GROUPS; i++) {
		unsigned long room = 0;

		for (unsigned int k = 0; chosen[i] && k < percpu_nr; k++)
			room += placed(percpu_area(k), &stage[i]->css);
		if (room && MEMCG_STOCK == MEMCG_STOCK_RSEQ)
			sim_check(room <= stage[i]->memory.room);
	}
}

/* What is charged to the group itself: pages, and its bytes in whole pages. */
static long own_pages(unsigned int nr)
{
	long bytes = sim_noted(BYTES_ACCOUNT + nr);

	sim_check(sim_noted(nr) >= 0 && bytes >= 0);
	return sim_noted(nr) + (bytes + (long)MEMCG_PAGE_SIZE - 1) / (long)MEMCG_PAGE_SIZE;
}

void stage_conserved(void)
{
	long below[STAGE_GROUPS] = { 0 };

	stage_drain(0);
	for (unsigned int i = STAGE_GROUPS; i-- > 0;) { /* children have higher numbers */
		if (!chosen[i])
			continue;
		below[i] += own_pages(i);
		if (i)
			below[parents[i]] += below[i];
	}
	for (unsigned int i = 0; i < STAGE_GROUPS; i++) {
		if (!chosen[i])
			continue;
		sim_check((long)stage_usage(i) == below[i]);
		sim_check(stage[i]->memory.room == 0);
		sim_check(stage[i]->memory.underflows == 0);
		sim_check((stage[i]->memory.word & COUNTER_CLIMBS) == 0);
		sim_check(stage_peak(i) >= stage_usage(i));
	}
	for (unsigned int i = 0; i < percpu_nr; i++)
		sim_check(percpu_area(i)->budget == 0);
}

void stage_nothing_left(void)
{
	stage_tick();
	stage_drain(0);
	sim_check(stage[0]->css.nr_dying == 0);
	sim_check(stage[0]->css.nr_children == 0);
	sim_check(stage_usage(0) == 0);
	sim_check(stage[0]->memory.room == 0);
	sim_check(stage[0]->objcg->residue == 0);
	sim_check(objcg_pages(stage[0]->objcg) == 0);
}
