/* SPDX-License-Identifier: MIT */
/* memcg mkdir, memcg rmdir: groups come and go. */
#include "cli.h"
#include "remote.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct args_command make = {
	.name = "mkdir",
	.operands = "GROUP...",
	.summary = "Make groups.\n",
	.least = 1,
	.most = INT_MAX,
	.allowed = ARGS_PARENTS,
};

static const struct args_command unmake = {
	.name = "rmdir",
	.operands = "GROUP...",
	.summary = "Remove groups. One that has groups below it or threads in it stays; what is charged to one is\n"
		   "its parent's from then on.\n",
	.least = 1,
	.most = INT_MAX,
};

/* @there: one that is there already is fine. */
static int ask(struct remote *remote, const char *verb, const char *group, bool there)
{
	struct answer answer;
	int ret = remote_ask(remote, &answer, verb, NULL, group);

	if (ret)
		return ret;
	if (!answer.payload && !(there && answer.error == EEXIST))
		return explain(remote, &answer, group, NULL, NULL);
	free(answer.payload);
	return CLI_OK;
}

static int make_with_parents(struct remote *remote, char *group)
{
	int ret = CLI_OK;

	for (char *slash = group + strspn(group, "/"); !ret && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ret = ask(remote, "mkdir", group, true);
		*slash = '/';
	}
	return ret ? ret : ask(remote, "mkdir", group, true);
}

static int each(const struct args_command *command, int argc, char **argv)
{
	static struct remote remote;
	struct args args;
	int ret = args_parse(command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	ret = remote_open(&args, &remote);
	for (int i = 0; i < args.nr && !ret; i++) {
		if (args.parents)
			ret = make_with_parents(&remote, args.operands[i]);
		else
			ret = ask(&remote, command->name, args.operands[i], false);
	}
	remote_close(&remote);
	return ret;
}

int mkdir_command(int argc, char **argv)
{
	return each(&make, argc, argv);
}

int rmdir_command(int argc, char **argv)
{
	return each(&unmake, argc, argv);
}
