/* SPDX-License-Identifier: MIT */
/* The table that `tree` of the protocol answers: a row for each group, columns by their names. */
#ifndef MEMCG_CLI_ROWS_H
#define MEMCG_CLI_ROWS_H

#include "remote.h"

#define COLUMNS_MOST 64

struct row {
	char *values[COLUMNS_MOST]; /* by column; in the table's text */
	char *path;                 /* from the root, which is "/" */
	char *shown;                /* its last part, for a terminal */
	int depth;                  /* below where the table begins */
	double current;             /* bytes, to sort by */
};

struct rows {
	struct answer answer;            /* the text that all point into */
	const char *names[COLUMNS_MOST]; /* of the columns; the last is "name" */
	int nr_columns;                  /* they */
	struct row *row;                 /* parents first */
	size_t nr;                       /* rows */
};

/* Exit code. @group is where the table begins. */
int rows_read(struct remote *remote, const char *group, struct rows *rows);
void rows_free(struct rows *rows);

const char *row_value(const struct rows *rows, const struct row *row, const char *column); /* "" if there is none */
bool row_is_full(const struct rows *rows, const struct row *row); /* uses nine tenths of what it may, or more */
void row_json(const struct rows *rows, const struct row *row);    /* an object */

/* "max 3, oom 1": those that have happened. free() it. */
char *row_events(const struct rows *rows, const struct row *row);

#endif
