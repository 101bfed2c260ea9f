/* SPDX-License-Identifier: MIT */
/* Reading statistics. */
#include "stat/read.h"

uint64_t stat_line_value(const struct group_stat *stat, const struct stat_line *line)
{
	unsigned int item;
	uint64_t sum = 0;

	for (item = line->first; item <= (unsigned int)line->last; item++)
		sum += stat_shown((enum stat_item)item, stat_state(stat, (enum stat_item)item));
	return sum;
}

int64_t stat_node_wide_read(unsigned int node, enum stat_item item)
{
	size_t off = stat_item_off(item, node);
	int64_t sum = 0;
	unsigned int i;

	for (i = 0; i < stat_nr_index; i++)
		sum += load_relaxed(stat_value_at(stat_node_wide, i, off));
	return sum;
}
