/* SPDX-License-Identifier: MIT */
/* memcg get: read a file of a group, or list its files. */
#include "cli.h"
#include "print.h"
#include "remote.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct args_command command = {
	.name = "get",
	.operands = "GROUP [FILE]",
	.summary = "Read FILE of GROUP, as in: memcg get tenants/a memory.stat\n"
		   "Without FILE: list what files there are, with their permissions.\n",
	.least = 1,
	.most = 2,
	.allowed = ARGS_JSON,
};

/* What the lines of a file are like. */
enum shape {
	SHAPE_ONE,    /* one line: a value */
	SHAPE_LIST,   /* lines of one word each */
	SHAPE_KEYED,  /* lines of a key and a value */
	SHAPE_NESTED, /* lines of a key and name=value pairs */
};

static enum shape shape_of(const char *text)
{
	const char *newline = strchr(text, '\n'), *blank = strchr(text, ' ');

	if (!newline)
		return SHAPE_LIST;
	if (!blank)
		return newline[1] ? SHAPE_LIST : SHAPE_ONE;
	if (strchr(text, '='))
		return SHAPE_NESTED;
	return blank < newline ? SHAPE_KEYED : SHAPE_LIST;
}

static void print_pairs(char *pairs)
{
	const char *comma = "";
	char *pair;

	printf("{");
	while ((pair = strsep(&pairs, " "))) {
		char *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		printf("%s", comma);
		print_json_string(stdout, pair);
		printf(":");
		print_json_amount(stdout, value ? value : "");
		comma = ",";
	}
	printf("}");
}

/* Of a file with a key in each line. */
static void print_line(char *line, bool nested)
{
	char *key = strsep(&line, " ");

	print_json_string(stdout, key);
	printf(":");
	if (nested)
		print_pairs(line);
	else
		print_json_amount(stdout, line ? line : "");
}

static void print_value(char *text)
{
	enum shape shape = shape_of(text);
	bool list = shape == SHAPE_LIST, one = shape == SHAPE_ONE;
	const char *comma = "";
	char *line;

	printf("%s", one ? "" : list ? "[" : "{");
	while ((line = strsep(&text, "\n")) && text) {
		printf("%s", comma);
		if (one || list)
			print_json_amount(stdout, line);
		else
			print_line(line, shape == SHAPE_NESTED);
		comma = ",";
	}
	printf("%s", one ? "" : list ? "]" : "}");
}

static int get(struct remote *remote, const struct args *args)
{
	const char *group = args->operands[0], *file = args->nr > 1 ? args->operands[1] : NULL;
	struct answer answer;
	int ret = remote_ask(remote, &answer, file ? "read" : "files", file, group);

	if (ret)
		return ret;
	if (!answer.payload)
		return explain(remote, &answer, group, file, NULL);
	if (!args->json) {
		fwrite(answer.payload, 1, answer.len, stdout);
	} else {
		printf("{\"group\":");
		print_json_string(stdout, group);
		printf(",\"file\":");
		print_json_string(stdout, file);
		printf(",\"value\":");
		print_value(answer.payload);
		printf("}\n");
	}
	free(answer.payload);
	return CLI_OK;
}

int get_command(int argc, char **argv)
{
	static struct remote remote;
	struct args args;
	int ret = args_parse(&command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	if (args.json && args.nr < 2)
		return cli_wrong("get: --json needs a FILE");
	ret = remote_open(&args, &remote);
	if (!ret)
		ret = get(&remote, &args);
	remote_close(&remote);
	return ret ? ret : cli_flush();
}
