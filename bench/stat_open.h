/* SPDX-License-Identifier: MIT */
/* Opening what memcg-bench stat and flush measure. */
#ifndef BENCH_STAT_OPEN_H
#define BENCH_STAT_OPEN_H

#include "harness.h"
#include "stat_side.h"

#define STAT_FILE_ITEM 1 /* number of the item that is counted: the second node item, pages */

/* 0, or a negative errno with a complaint. @again: another instance of what is loaded already. */
int stat_side_open(struct bench *b, bool again, const struct side_options *options, const struct stat_side **side);

#endif
