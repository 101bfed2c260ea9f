/* SPDX-License-Identifier: MIT */
/* memcg COMMAND ...: finds the command in the table. */
#include "cli.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct cli_command commands[] = {
	{ "run", "run a program within a memory limit", run_command },
	{ "ls", "list the groups below one", ls_command },
	{ "tree", "show all groups, with what they use and may use", tree_command },
	{ "top", "show the largest groups again and again", top_command },
	{ "get", "read a file of a group", get_command },
	{ "set", "write a file of a group", set_command },
	{ "mkdir", "make a group", mkdir_command },
	{ "rmdir", "remove a group", rmdir_command },
	{ "events", "wait for events of a group, and print them", events_command },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* An argument with a newline in it is one line all the same. */
static void complain(const char *format, va_list args)
{
	char line[8192];

	vsnprintf(line, sizeof(line), format, args);
	for (char *c = line; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = '?';
	}
	fprintf(stderr, "memcg: %s\n", line);
}

int cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return CLI_FAILED;
}

int cli_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return CLI_WRONG;
}

int cli_flush(void)
{
	if (fflush(stdout) || ferror(stdout))
		return cli_wrong("cannot write to standard output");
	return CLI_OK;
}

int cli_help(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout))
		return cli_error("cannot write to standard output");
	return CLI_OK;
}

static int help(void)
{
	char text[2048];
	size_t len = (size_t)snprintf(text, sizeof(text),
				      "Usage: memcg COMMAND ...\n"
				      "Memory cgroups for one process.\n"
				      "\n"
				      "Commands:\n");

	for (size_t i = 0; i < NR_COMMANDS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "  %-8s %s\n", commands[i].name,
					commands[i].summary);
	snprintf(text + len, sizeof(text) - len,
		 "\n"
		 "  memcg COMMAND --help   its options\n"
		 "  memcg --version        the version\n");
	return cli_help(text);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (argc < 2)
		return cli_error("no command given; see memcg --help");
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return help();
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return cli_help("memcg " MEMCG_VERSION "\n");
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	return cli_error("%s '%s' is not known; see memcg --help", *name == '-' ? "option" : "command", name);
}
