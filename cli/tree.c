/* SPDX-License-Identifier: MIT */
/* memcg tree: all groups below one, with what they use and may use. */
#include "cli.h"
#include "print.h"
#include "remote.h"
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>

static const struct args_command command = {
	.name = "tree",
	.operands = "[GROUP]",
	.summary = "Show GROUP and all groups below it; without it, all there are.\n",
	.most = 1,
	.allowed = ARGS_JSON,
};

#define INDENT 2

static void print_text(const struct rows *rows)
{
	int width = 5;

	for (size_t i = 0; i < rows->nr; i++) {
		int own = INDENT * rows->row[i].depth + print_width(rows->row[i].shown);

		width = own > width ? own : width;
	}
	printf("%s%-*s %9s %9s %9s %9s %7s  %s%s\n", print_colour(COLOUR_HEAD), width, "GROUP", "CURRENT", "PEAK",
	       "HIGH", "MAX", "THREADS", "EVENTS", print_colour(COLOUR_NONE));
	for (size_t i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->row[i];
		char current[AMOUNT_SIZE], peak[AMOUNT_SIZE], high[AMOUNT_SIZE], max[AMOUNT_SIZE];
		char *events = row_events(rows, row);
		int indent = INDENT * row->depth, rest = width - indent - print_width(row->shown);

		printf("%s%*s%s%*s %9s %9s %9s %9s %7s%s%s%s\n",
		       print_colour(row_is_full(rows, row) ? COLOUR_FULL : COLOUR_NONE), indent, "", row->shown, rest,
		       "", print_amount(row_value(rows, row, "current"), current),
		       print_amount(row_value(rows, row, "peak"), peak),
		       print_amount(row_value(rows, row, "high"), high), print_amount(row_value(rows, row, "max"), max),
		       row_value(rows, row, "threads"), *events ? "  " : "", events, print_colour(COLOUR_NONE));
		free(events);
	}
}

static void print_json(const struct remote *remote, const struct rows *rows)
{
	printf("{\"pid\":%ld,\"program\":", remote->pid);
	print_json_string(stdout, remote->program);
	printf(",\"groups\":[");
	for (size_t i = 0; i < rows->nr; i++) {
		printf("%s", i ? "," : "");
		row_json(rows, &rows->row[i]);
	}
	printf("]}\n");
}

int tree_command(int argc, char **argv)
{
	static struct remote remote;
	struct args args;
	struct rows rows;
	int ret = args_parse(&command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	ret = remote_open(&args, &remote);
	if (!ret)
		ret = rows_read(&remote, args.nr ? args.operands[0] : "/", &rows);
	if (!ret) {
		if (args.json)
			print_json(&remote, &rows);
		else
			print_text(&rows);
		rows_free(&rows);
	}
	remote_close(&remote);
	return ret ? ret : cli_flush();
}
