/* SPDX-License-Identifier: MIT */
/* memcg top: the groups of a process, largest first, again and again. */
#include "cli.h"
#include "print.h"
#include "remote.h"
#include "rows.h"
#include "screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct args_command command = {
	.name = "top",
	.operands = "",
	.summary = "Show the groups of a process, those that use most first, again and again until q is pressed.\n"
		   "Without a terminal: as --batch.\n",
	.allowed = ARGS_BATCH | ARGS_COUNT | ARGS_DELAY,
};

#define HEAD_LINES 3 /* above the groups */
#define FIXED 32     /* columns of the numbers */
#define NAME_LEAST 20

struct top {
	struct args args;     /* as given */
	bool terminal;        /* drawn in place */
	struct remote remote; /* the process; a connection for each look */
};

static int larger_first(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	if (one->current != other->current)
		return one->current < other->current ? 1 : -1;
	return strcmp(one->path, other->path);
}

/* The end of a long path says more than its beginning. In characters. */
static const char *last_part(const char *text, int width)
{
	for (int over = print_width(text) - width; over > 0; over--) {
		text++;
		while (((unsigned char)*text & 0xc0) == 0x80)
			text++;
	}
	return text;
}

static void print_row(const struct top *top, const struct rows *rows, const struct row *row, int width, int columns)
{
	char current[AMOUNT_SIZE], max[AMOUNT_SIZE], peak[AMOUNT_SIZE];
	char *path = print_name(row->path), *events = row_events(rows, row);
	const char *shown = top->terminal ? last_part(path, width) : path;
	int rest = width - print_width(shown), room = columns - width - FIXED;

	printf("%s%s%*s %9s %9s %9s%s%.*s%s%s\n", print_colour(row_is_full(rows, row) ? COLOUR_FULL : COLOUR_NONE),
	       shown, rest > 0 ? rest : 0, "", print_amount(row_value(rows, row, "current"), current),
	       print_amount(row_value(rows, row, "max"), max), print_amount(row_value(rows, row, "peak"), peak),
	       *events ? "  " : "", top->terminal ? (room > 0 ? room : 0) : (int)strlen(events), events,
	       print_colour(COLOUR_NONE), top->terminal ? "\033[K" : "");
	free(events);
	free(path);
}

static int path_width(const struct rows *rows)
{
	int width = NAME_LEAST;

	for (size_t i = 0; i < rows->nr; i++) {
		char *path = print_name(rows->row[i].path);
		int own = print_width(path);

		width = own > width ? own : width;
		free(path);
	}
	return width;
}

static void print_table(const struct top *top, struct rows *rows)
{
	const char *eol = top->terminal ? "\033[K\n" : "\n";
	int lines, columns, width = path_width(rows);
	size_t shown = rows->nr;

	qsort(rows->row, rows->nr, sizeof(*rows->row), larger_first);
	screen_size(&lines, &columns);
	if (top->terminal) {
		size_t room = lines > HEAD_LINES + 1 ? (size_t)(lines - HEAD_LINES - 1) : 1;

		shown = shown < room ? shown : room;
		if (width > columns - FIXED)
			width = columns - FIXED > NAME_LEAST ? columns - FIXED : NAME_LEAST;
		printf("\033[H");
	}
	printf("process %ld (%s), %zu groups%s%s", top->remote.pid, top->remote.program, rows->nr, eol, eol);
	printf("%s%-*s %9s %9s %9s  %s%s%s", print_colour(COLOUR_HEAD), width, "GROUP", "CURRENT", "MAX", "PEAK",
	       "EVENTS", print_colour(COLOUR_NONE), eol);
	for (size_t i = 0; i < shown; i++)
		print_row(top, rows, &rows->row[i], width, columns);
	printf("%s", top->terminal ? "\033[J" : "\n");
}

/* A connection for each look: one that is idle for long is closed. From the second on, of the same process. */
static int look(struct top *top)
{
	struct rows rows;
	int ret = remote_open(&top->args, &top->remote);

	if (ret)
		return ret;
	if (!top->args.socket)
		top->args.pid = top->remote.pid;
	ret = rows_read(&top->remote, "/", &rows);
	remote_close(&top->remote);
	if (ret)
		return ret;
	print_table(top, &rows);
	rows_free(&rows);
	return cli_flush();
}

int top_command(int argc, char **argv)
{
	static struct top top;
	long looks = 0;
	int ret = args_parse(&command, argc, argv, &top.args);

	if (ret || top.args.help)
		return ret;
	top.terminal = isatty(STDOUT_FILENO) && !top.args.batch;
	screen_begin(top.terminal);
	if (top.terminal)
		printf("\033[2J");
	do {
		ret = look(&top);
		looks++;
	} while (!ret && looks != top.args.count && screen_wait(top.args.delay));
	screen_end();
	return ret;
}
