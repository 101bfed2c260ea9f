/* SPDX-License-Identifier: MIT */
/* memcg ls: the groups right below one. */
#include "cli.h"
#include "print.h"
#include "remote.h"
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct args_command command = {
	.name = "ls",
	.operands = "[GROUP]",
	.summary = "List the groups right below GROUP; without it, below the root.\n",
	.most = 1,
	.allowed = ARGS_JSON,
};

static int list(struct remote *remote, const char *group)
{
	struct answer answer;
	int ret = remote_ask(remote, &answer, "list", NULL, group);
	char *rest, *line;

	if (ret)
		return ret;
	if (!answer.payload)
		return explain(remote, &answer, group, NULL, NULL);
	rest = answer.payload;
	while ((line = strsep(&rest, "\n")) && rest) {
		char *name = print_name(line);

		puts(name);
		free(name);
	}
	free(answer.payload);
	return CLI_OK;
}

static int list_json(struct remote *remote, const char *group)
{
	struct rows rows;
	bool first = true;
	int ret = rows_read(remote, group, &rows);

	if (ret)
		return ret;
	printf("[");
	for (size_t i = 0; i < rows.nr; i++) {
		if (rows.row[i].depth != 1)
			continue;
		printf("%s", first ? "" : ",");
		row_json(&rows, &rows.row[i]);
		first = false;
	}
	printf("]\n");
	rows_free(&rows);
	return CLI_OK;
}

int ls_command(int argc, char **argv)
{
	static struct remote remote;
	struct args args;
	const char *group;
	int ret = args_parse(&command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	group = args.nr ? args.operands[0] : "/";
	ret = remote_open(&args, &remote);
	if (!ret)
		ret = args.json ? list_json(&remote, group) : list(&remote, group);
	remote_close(&remote);
	return ret ? ret : cli_flush();
}
