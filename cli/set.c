/* SPDX-License-Identifier: MIT */
/* memcg set: write a file of a group. */
#include "cli.h"
#include "remote.h"
#include <stdlib.h>

static const struct args_command command = {
	.name = "set",
	.operands = "GROUP FILE VALUE",
	.summary = "Write VALUE to FILE of GROUP, as in: memcg set tenants/a memory.max 64M\n",
	.least = 3,
	.most = 3,
};

int set_command(int argc, char **argv)
{
	static struct remote remote;
	struct answer answer = { 0 };
	const char *group, *file, *value;
	struct args args;
	int ret = args_parse(&command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	group = args.operands[0];
	file = args.operands[1];
	value = args.operands[2];
	if (!*value)
		return cli_wrong("set: %s of '%s': nothing is no value", file, group);
	ret = remote_open(&args, &remote);
	if (!ret)
		ret = remote_write(&remote, &answer, file, group, value);
	if (!ret) {
		ret = answer.payload ? CLI_OK : explain(&remote, &answer, group, file, value);
		free(answer.payload);
	}
	remote_close(&remote);
	return ret;
}
