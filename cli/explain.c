/* SPDX-License-Identifier: MIT */
/* Errors that a process answered, in words: what, where, and what was expected. */
#include "cli.h"
#include "remote.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the files take. */
static const struct {
	const char *file;
	const char *takes;
} expected[] = {
	{ "memory.oom.group", "0 or 1" },
	{ "memory.zswap.writeback", "0 or 1" },
	{ "memory.reclaim", "bytes, with an optional K, M, G, T, P or E, and swappiness=0..200" },
	{ "cgroup.threads", "the id of a thread of this process" },
	{ "cgroup.max.depth", "a number or max" },
	{ "cgroup.max.descendants", "a number or max" },
	{ "memory.", "bytes, with an optional K, M, G, T, P or E, or max" },
};

static const char *expected_of(const char *file)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		size_t len = strlen(expected[i].file);

		if (!strncmp(file, expected[i].file, len) && (!file[len] || file[len - 1] == '.'))
			return expected[i].takes;
	}
	return "another value";
}

/* Permission bits of a file, as the process lists them; 0: not among them, or the list could not be had. */
static unsigned int mode_of(struct remote *remote, const char *group, const char *file)
{
	struct answer answer;
	unsigned int mode = 0;
	char *rest, *line;

	if (remote_ask(remote, &answer, "files", NULL, group) || !answer.payload)
		return 0;
	rest = answer.payload;
	while ((line = strsep(&rest, "\n"))) {
		if (strlen(line) > 5 && !strcmp(line + 5, file))
			mode = (unsigned int)strtoul(line, NULL, 8);
	}
	free(answer.payload);
	return mode;
}

static const char *where(const char *group)
{
	return *group ? group : "/";
}

static int about_group(const struct remote *remote, const struct answer *answer, const char *group)
{
	if (answer->error == ENOENT && !strcmp(remote->command, "mkdir"))
		return cli_wrong("mkdir: there is no group above '%s'; --parents makes them too", group);
	if (answer->error == ENOENT)
		return cli_wrong("%s: there is no group '%s' in process %ld (%s); memcg tree shows what there is",
				 remote->command, where(group), remote->pid, remote->program);
	if (answer->error == ENODEV)
		return cli_wrong("%s: the group '%s' was removed meanwhile", remote->command, where(group));
	if (answer->error == EBUSY && !group[strspn(group, "/")])
		return cli_wrong("%s: the root cannot be removed", remote->command);
	if (answer->error == EBUSY)
		return cli_wrong("%s: the group '%s' has groups below it, or threads in it", remote->command, group);
	return cli_wrong("%s: group '%s': %s", remote->command, where(group), strerror(answer->error));
}

static int about_file(struct remote *remote, const struct answer *answer, const char *group, const char *file)
{
	if (answer->error == ENOENT)
		return cli_wrong("%s: there is no file '%s' in group '%s'; memcg get %s lists them", remote->command,
				 file, where(group), where(group));
	if (answer->error == EOPNOTSUPP)
		return cli_wrong("%s: %s tells of no changes; memory.events does", remote->command, file);
	if (answer->error == EINVAL && mode_of(remote, group, file) == 0200)
		return cli_wrong("%s: %s can only be written", remote->command, file);
	return cli_wrong("%s: %s of '%s': %s", remote->command, file, where(group), strerror(answer->error));
}

static int about_value(struct remote *remote, const struct answer *answer, const char *group, const char *file,
		       const char *value)
{
	unsigned int mode = mode_of(remote, group, file);

	if (mode && !(mode & 0222))
		return cli_wrong("%s: %s can only be read", remote->command, file);
	switch (answer->error) {
	case EINVAL:
	case ERANGE:
	case E2BIG:
		return cli_wrong("%s: %s of '%s' does not take '%s'; expected %s", remote->command, file, where(group),
				 value, expected_of(file));
	case EOPNOTSUPP:
		return cli_wrong("%s: %s of '%s' cannot be '%s': a process has no such thing, and it keeps its default",
				 remote->command, file, where(group), value);
	case EAGAIN:
		return cli_wrong("%s: %s of '%s': less than that could be done", remote->command, file, where(group));
	default:
		return cli_wrong("%s: %s of '%s', value '%s': %s", remote->command, file, where(group), value,
				 strerror(answer->error));
	}
}

static int about_name(const struct remote *remote, const struct answer *answer, const char *group)
{
	switch (answer->error) {
	case EEXIST:
		return cli_wrong("%s: the group '%s' is there already", remote->command, where(group));
	case ENAMETOOLONG:
		return cli_wrong("%s: '%s': a group's name has at most 255 bytes", remote->command, group);
	case EAGAIN:
		return cli_wrong("%s: '%s': a limit on depth or descendants allows no more groups", remote->command,
				 group);
	case EINVAL:
		return cli_wrong("%s: '%s': expected a name that is neither . nor ..", remote->command, group);
	default:
		return cli_wrong("%s: '%s': %s", remote->command, group, strerror(answer->error));
	}
}

int explain(struct remote *remote, const struct answer *answer, const char *group, const char *file, const char *value)
{
	if (!strcmp(answer->what, "group"))
		return about_group(remote, answer, group);
	if (!strcmp(answer->what, "file") && file)
		return about_file(remote, answer, group, file);
	if (!strcmp(answer->what, "value") && file && value)
		return about_value(remote, answer, group, file, value);
	if (!strcmp(answer->what, "name"))
		return about_name(remote, answer, group);
	if (answer->error == EROFS)
		return cli_wrong("%s: process %ld (%s) lets itself be read, and not changed", remote->command,
				 remote->pid, remote->program);
	return cli_wrong("%s: process %ld (%s) answers: %s, about the %s", remote->command, remote->pid,
			 remote->program, strerror(answer->error), answer->what);
}
