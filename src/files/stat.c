/* SPDX-License-Identifier: MIT */
/*
 * memory.stat and memory.numa_stat: every key of the kernel's, in its order, so that existing
 * parsers work. One that nothing feeds reads 0; docs/statistics.md says which are live.
 *
 * A read flushes if the group's totals may lag by more than they may; it walks nothing.
 */
#include <errno.h>
#include <memcg/stat.h>
#include <string.h>

#include "base/nodes.h"
#include "files/table.h"
#include "stat/read.h"
#include "stat/rstat.h"

void stat_read(struct memcg *memcg, struct text *out)
{
	unsigned int i;

	rstat_flush_if_due(memcg->stat);
	for (i = 0; i < stat_nr_lines; i++) {
		if (stat_lines[i].key)
			text_line(out, stat_lines[i].key, stat_line_value(memcg->stat, &stat_lines[i]));
	}
}

void numa_stat_read(struct memcg *memcg, struct text *out)
{
	uint64_t online;
	unsigned int i, node;

	nodes_refresh();
	online = nodes_online();
	rstat_flush_if_due(memcg->stat);
	for (i = 0; i < stat_nr_lines; i++) {
		enum stat_item item = stat_lines[i].first;

		if (stat_lines[i].kind != STAT_LINE_NODE || !stat_lines[i].key)
			continue;
		text_str(out, stat_lines[i].key);
		for (node = 0; node < nodes_nr; node++) {
			if (online & (1ULL << node))
				text_node(out, node, stat_shown(item, stat_node_state(memcg->stat, node, item)));
		}
		text_char(out, '\n');
	}
}

static int stat_check(struct memcg *memcg)
{
	if (!memcg->stat)
		return -EINVAL;
	return memcg_dying(memcg) ? -ENODEV : 0;
}

int memcg_stat_flush(struct memcg *group)
{
	int err;

	group = group ? group : memcg_root();
	err = stat_check(group);
	if (!err)
		rstat_flush(group->stat);
	return err;
}

int memcg_stat_read(struct memcg *group, const char *key, uint64_t *value)
{
	unsigned int i;
	int err;

	group = group ? group : memcg_root();
	err = key && value ? stat_check(group) : -EINVAL;
	if (err)
		return err;
	for (i = 0; i < stat_nr_lines; i++) {
		if (stat_lines[i].key && !strcmp(stat_lines[i].key, key)) {
			rstat_flush_if_due(group->stat);
			*value = stat_line_value(group->stat, &stat_lines[i]);
			return 0;
		}
	}
	return -ENOENT;
}

void text_node(struct text *out, unsigned int node, uint64_t value)
{
	text_str(out, " N");
	text_u64(out, node);
	text_char(out, '=');
	text_u64(out, value);
}
