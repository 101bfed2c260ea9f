/* SPDX-License-Identifier: MIT */
/* Options and operands of the commands that talk to a process. */
#include "args.h"
#include "cli.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_LEAST 0.05
#define DELAY_MOST 86400.0

static const struct {
	const char *text;     /* its line of the help */
	unsigned int allowed; /* which commands have it; 0: all */
	struct option option; /* long name; val is what getopt_long() returns */
} options[] = {
	{ "  -p, --pid PID          of this process; default: the only one of yours that is there",
	  0,
	  { "pid", required_argument, NULL, 'p' } },
	{ "      --socket PATH      of the process whose control socket this is",
	  0,
	  { "socket", required_argument, NULL, 'S' } },
	{ "      --json             as JSON", ARGS_JSON, { "json", no_argument, NULL, 'j' } },
	{ "      --local            of the group alone, not of those below it",
	  ARGS_LOCAL,
	  { "local", no_argument, NULL, 'l' } },
	{ "      --parents          with the groups above it, and no error if it is there",
	  ARGS_PARENTS,
	  { "parents", no_argument, NULL, 'P' } },
	{ "  -b, --batch            plain text, one table after the other",
	  ARGS_BATCH,
	  { "batch", no_argument, NULL, 'b' } },
	{ "  -n, --count COUNT      end after so many", ARGS_COUNT, { "count", required_argument, NULL, 'n' } },
	{ "  -d, --delay SECONDS    between two looks", ARGS_DELAY, { "delay", required_argument, NULL, 'd' } },
	{ "  -h, --help             this text", 0, { "help", no_argument, NULL, 'h' } },
};

#define NR_OPTIONS (sizeof(options) / sizeof(options[0]))

static bool allowed(const struct args_command *command, size_t i)
{
	return !options[i].allowed || command->allowed & options[i].allowed;
}

static int write_help(const struct args_command *command)
{
	char text[4096];
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), "Usage: memcg %s [OPTION]...%s%s\n%s\n", command->name,
			       *command->operands ? " " : "", command->operands, command->summary);
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		if (allowed(command, i))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", options[i].text);
	}
	snprintf(text + len, sizeof(text) - len,
		 "\nGROUP is a path from the root, which is /. Exit status: 0, or 2 after an error.\n");
	return cli_help(text) ? CLI_WRONG : CLI_OK;
}

static int take_number(struct args *args, const char *option, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || *number < 1 || *number > INT_MAX)
		return cli_wrong("%s: %s %s: expected a number from 1 on", args->command->name, option, optarg);
	return CLI_OK;
}

static int take_delay(struct args *args)
{
	char *end;

	args->delay = strtod(optarg, &end);
	if (*optarg < '0' || *optarg > '9' || *end || !(args->delay >= DELAY_LEAST && args->delay <= DELAY_MOST))
		return cli_wrong("%s: -d %s: expected seconds, %g to %g", args->command->name, optarg, DELAY_LEAST,
				 DELAY_MOST);
	return CLI_OK;
}

static int take_option(int option, struct args *args)
{
	switch (option) {
	case 'p':
		return take_number(args, "-p", &args->pid);
	case 'n':
		return take_number(args, "-n", &args->count);
	case 'd':
		return take_delay(args);
	case 'S':
		args->socket = optarg;
		return CLI_OK;
	case 'j':
		args->json = true;
		return CLI_OK;
	case 'b':
		args->batch = true;
		return CLI_OK;
	case 'l':
		args->local = true;
		return CLI_OK;
	case 'P':
		args->parents = true;
		return CLI_OK;
	default:
		args->help = true;
		return write_help(args->command);
	}
}

/* What getopt_long() knows of this command. */
static void choose(const struct args_command *command, struct option *longs, char *shorts)
{
	size_t nr = 0;

	*shorts++ = ':';
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		if (!allowed(command, i))
			continue;
		longs[nr++] = options[i].option;
		if (strchr("pndbh", options[i].option.val)) {
			*shorts++ = (char)options[i].option.val;
			if (options[i].option.has_arg)
				*shorts++ = ':';
		}
	}
	*shorts = '\0';
	longs[nr] = (struct option){ NULL, 0, NULL, 0 };
}

static int check_operands(const struct args_command *command, const struct args *args)
{
	if (args->nr >= command->least && args->nr <= command->most)
		return CLI_OK;
	return cli_wrong("%s: %s; expected: memcg %s %s", command->name,
			 args->nr < command->least ? "something is missing" : "too many arguments", command->name,
			 *command->operands ? command->operands : "without any");
}

int args_parse(const struct args_command *command, int argc, char **argv, struct args *args)
{
	struct option longs[NR_OPTIONS + 1];
	char shorts[2 * NR_OPTIONS + 2];
	int option, ret;

	*args = (struct args){ .command = command, .delay = 2 };
	choose(command, longs, shorts);
	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (option == ':')
			return cli_wrong("%s: option '%s' needs a value", command->name, argv[optind - 1]);
		if (option == '?' && optopt)
			return cli_wrong("%s: option '-%c' is not known; see memcg %s --help", command->name, optopt,
					 command->name);
		if (option == '?')
			return cli_wrong("%s: option '%s' is not known; see memcg %s --help", command->name,
					 argv[optind - 1], command->name);
		ret = take_option(option, args);
		if (ret || args->help)
			return ret;
	}
	args->nr = argc - optind;
	args->operands = argv + optind;
	if (args->pid && args->socket)
		return cli_wrong("%s: -p and --socket name two processes; give one of them", command->name);
	return check_operands(command, args);
}
