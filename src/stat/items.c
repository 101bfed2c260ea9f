/* SPDX-License-Identifier: MIT */
/* The item table as data. */
#include "stat/read.h"

#define HIDE NULL
#define PAGES MEMCG_PAGE_SIZE
#define KIB 1024
#define BYTES 1
#define OUT_BYTES 0
#define OUT_RAW 1

#define LINE_NODE(id, key, native, output) { key, STAT_##id, STAT_##id, STAT_LINE_NODE },
#define LINE_GROUP(id, key, native, output) { key, STAT_##id, STAT_##id, STAT_LINE_GROUP },
#define LINE_SUM(id, key, first, last) { key, STAT_##first, STAT_##last, STAT_LINE_SUM },

const struct stat_line stat_lines[] = { STAT_TABLE(LINE_NODE, LINE_GROUP, LINE_GROUP, LINE_SUM) };
const unsigned int stat_nr_lines = array_size(stat_lines);

#define LINE_V1(key, id) { key, STAT_##id, STAT_##id, STAT_LINE_GROUP },

const struct stat_line stat_v1_lines[] = { STAT_V1_TABLE(LINE_V1) };
const unsigned int stat_nr_v1_lines = array_size(stat_v1_lines);

#define UNIT(id, key, native, output) [STAT_##id] = { native, OUT_##output },
#define NO_UNIT(id, key, first, last)

const struct stat_unit stat_units[STAT_NR] = { STAT_TABLE(UNIT, UNIT, UNIT, NO_UNIT) };
