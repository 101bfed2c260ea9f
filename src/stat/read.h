/* SPDX-License-Identifier: MIT */
/* Reading statistics: values as of the last flush, lines of files, units. */
#ifndef STAT_READ_H
#define STAT_READ_H

#include <memcg/memcg.h>

#include "stat/group_stat.h"

struct stat_unit {
	uint32_t bytes; /* that one unit of an update stands for */
	uint32_t raw;   /* 1: shown as counted; 0: in bytes */
};
extern const struct stat_unit stat_units[STAT_NR];

enum stat_line_kind {
	STAT_LINE_NODE,  /* an item that there is per node */
	STAT_LINE_GROUP, /* one of the whole group */
	STAT_LINE_SUM,   /* of several items, in one unit */
};

/* A line of a file. */
struct stat_line {
	const char *key;          /* NULL: not in the v2 files */
	enum stat_item first;     /* item, or the first of a sum */
	enum stat_item last;      /* and the last of it */
	enum stat_line_kind kind; /* in which files */
};
extern const struct stat_line stat_lines[]; /* in the order of memory.stat */
extern const unsigned int stat_nr_lines;
extern const struct stat_line stat_v1_lines[]; /* in the order of v1's memory.stat */
extern const unsigned int stat_nr_v1_lines;

/* As a reader sees a sum that a lagging part may have made negative. */
static inline uint64_t stat_clamp(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

static inline uint64_t stat_shown(enum stat_item item, int64_t value)
{
	return stat_clamp(value) * (stat_units[item].raw ? 1 : stat_units[item].bytes);
}

/* Of the group and all below it, in units of updates, as of the last flush; may be below 0. */
static inline int64_t stat_state(const struct group_stat *stat, enum stat_item item)
{
	return load_relaxed(&stat->state[item]);
}

static inline int64_t stat_node_state(const struct group_stat *stat, unsigned int node, enum stat_item item)
{
	return load_relaxed(&stat->nodes[node].state[item]);
}

static inline int64_t stat_node_local(const struct group_stat *stat, unsigned int node, enum stat_item item)
{
	return load_relaxed(&stat->nodes[node].local[item]);
}

/* Of the group alone; 0 without v1 files. */
static inline int64_t stat_local(const struct group_stat *stat, enum stat_item item)
{
	return MEMCG_V1 && stat->locals ? load_relaxed(&stat->locals->local[item]) : 0;
}

/* A line's value as files show it. */
uint64_t stat_line_value(const struct group_stat *stat, const struct stat_line *line);

/* Node-wide, whoever's: what has a group and what has none; exact when nothing runs. */
int64_t stat_node_wide_read(unsigned int node, enum stat_item item);

#endif
