/* SPDX-License-Identifier: MIT */
/* The table of groups. */
#include "rows.h"
#include "cli.h"
#include "print.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_PREFIX "events."
#define DEPTH_MOST 64

static void *must_have(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Blanks end all words but the last, which is the rest. False: too few words. */
static bool split(char *line, char **words, int nr)
{
	for (int i = 0; i < nr - 1; i++) {
		words[i] = strsep(&line, " ");
		if (!line)
			return false;
	}
	words[nr - 1] = line;
	return true;
}

static bool read_names(struct rows *rows, char *line)
{
	char *word;

	while ((word = strsep(&line, " "))) {
		if (rows->nr_columns == COLUMNS_MOST)
			return false;
		rows->names[rows->nr_columns++] = word;
	}
	return rows->nr_columns > 1 && !strcmp(rows->names[rows->nr_columns - 1], "name");
}

/* The path where the table begins, without a '/' before and behind it; "" is the root. */
static char *top_path(const char *group)
{
	char *path = must_have(malloc(strlen(group) + 1)), *at = path;

	for (; *group; group++) {
		if (*group != '/' || (at > path && at[-1] != '/'))
			*at++ = *group;
	}
	if (at > path && at[-1] == '/')
		at--;
	*at = '\0';
	return path;
}

static char *path_below(const char *above, const char *name)
{
	char *path;

	if (!*above || !strcmp(above, "/"))
		return must_have(strdup(name));
	if (asprintf(&path, "%s/%s", above, name) < 0)
		abort();
	return path;
}

static bool read_row(struct rows *rows, char *line, const char *top, char **above)
{
	struct row *row = &rows->row[rows->nr];
	const char *name;

	memset(row, 0, sizeof(*row));
	if (!split(line, row->values, rows->nr_columns))
		return false;
	row->depth = (int)strtol(row_value(rows, row, "depth"), NULL, 10);
	if (row->depth < 0 || row->depth > DEPTH_MOST || (row->depth && !above[row->depth - 1]))
		return false;
	name = row->values[rows->nr_columns - 1];
	if (row->depth)
		row->path = path_below(above[row->depth - 1], name);
	else
		row->path = must_have(strdup(*top ? top : "/"));
	row->shown = print_name(row->depth ? name : row->path);
	row->current = strtod(row_value(rows, row, "current"), NULL);
	above[row->depth] = row->path;
	rows->nr++;
	return true;
}

static bool read_table(struct rows *rows, const char *top)
{
	char *above[DEPTH_MOST + 1] = { NULL }, *rest = rows->answer.payload, *line = strsep(&rest, "\n");
	size_t room = 0;

	if (!line || !read_names(rows, line))
		return false;
	while ((line = strsep(&rest, "\n")) && *line) {
		if (rows->nr == room) {
			room = room ? 2 * room : 64;
			rows->row = must_have(realloc(rows->row, room * sizeof(*rows->row)));
		}
		if (!read_row(rows, line, top, above))
			return false;
	}
	return true;
}

int rows_read(struct remote *remote, const char *group, struct rows *rows)
{
	char *top;
	int ret;

	*rows = (struct rows){ 0 };
	ret = remote_ask(remote, &rows->answer, "tree", NULL, group);
	if (ret)
		return ret;
	if (!rows->answer.payload)
		return explain(remote, &rows->answer, group, NULL, NULL);
	top = top_path(group);
	ret = read_table(rows, top) ? CLI_OK : remote_lost(remote, -EPROTO);
	free(top);
	if (ret)
		rows_free(rows);
	return ret;
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		free(rows->row[i].path);
		free(rows->row[i].shown);
	}
	free(rows->row);
	free(rows->answer.payload);
	*rows = (struct rows){ 0 };
}

const char *row_value(const struct rows *rows, const struct row *row, const char *column)
{
	for (int i = 0; i < rows->nr_columns; i++) {
		if (!strcmp(rows->names[i], column))
			return row->values[i];
	}
	return "";
}

bool row_is_full(const struct rows *rows, const struct row *row)
{
	const char *max = row_value(rows, row, "max");

	return *max >= '0' && *max <= '9' && row->current >= 0.9 * strtod(max, NULL);
}

char *row_events(const struct rows *rows, const struct row *row)
{
	size_t len = 0;
	char *text = NULL;
	FILE *to = must_have(open_memstream(&text, &len));
	bool any = false;

	for (int i = 0; i < rows->nr_columns; i++) {
		if (strncmp(rows->names[i], EVENT_PREFIX, strlen(EVENT_PREFIX)) != 0 || !strcmp(row->values[i], "0"))
			continue;
		fprintf(to, "%s%s %s", any ? ", " : "", rows->names[i] + strlen(EVENT_PREFIX), row->values[i]);
		any = true;
	}
	fclose(to);
	return text;
}

void row_json(const struct rows *rows, const struct row *row)
{
	bool events = false;

	printf("{\"path\":");
	print_json_string(stdout, row->path);
	printf(",\"name\":");
	print_json_string(stdout, row->values[rows->nr_columns - 1]);
	for (int i = 0; i < rows->nr_columns - 1; i++) {
		bool event = !strncmp(rows->names[i], EVENT_PREFIX, strlen(EVENT_PREFIX));
		const char *name = rows->names[i] + (event ? strlen(EVENT_PREFIX) : 0);

		printf("%s%s", events && !event ? "}" : "", event && events ? "," : event ? ",\"events\":{" : ",");
		events = event;
		print_json_string(stdout, name);
		putchar(':');
		print_json_amount(stdout, row->values[i]);
	}
	printf("%s}", events ? "}" : "");
}
