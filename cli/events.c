/* SPDX-License-Identifier: MIT */
/*
 * memcg events: wait for changes of memory.events, and print what has changed.
 *
 * The watch begins before the counts are read that changes are told from: what happens in between is in them.
 */
#include "cli.h"
#include "print.h"
#include "remote.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct args_command command = {
	.name = "events",
	.operands = "[GROUP]",
	.summary =
		"Wait for events of GROUP and the groups below it; without it, of all. Each change is a line: the group,\n"
		"which event, how often in all, and how often since the last line. Ends when the group goes.\n",
	.most = 1,
	.allowed = ARGS_COUNT | ARGS_LOCAL | ARGS_JSON,
};

#define KEYS_MOST 32

struct counts {
	int nr;                              /* keys */
	char keys[KEYS_MOST][32];            /* in the file's order */
	unsigned long long value[KEYS_MOST]; /* of each */
};

static void parse_counts(char *text, struct counts *counts)
{
	char *line;

	counts->nr = 0;
	while ((line = strsep(&text, "\n")) && counts->nr < KEYS_MOST) {
		const char *key = strsep(&line, " ");

		if (!line)
			continue;
		snprintf(counts->keys[counts->nr], sizeof(counts->keys[0]), "%s", key);
		counts->value[counts->nr++] = strtoull(line, NULL, 10);
	}
}

static unsigned long long count_of(const struct counts *counts, const char *key)
{
	for (int i = 0; i < counts->nr; i++) {
		if (!strcmp(counts->keys[i], key))
			return counts->value[i];
	}
	return 0;
}

static void print_change(const struct args *args, const char *group, const char *key, unsigned long long all,
			 unsigned long long more)
{
	char *name;

	if (args->json) {
		printf("{\"group\":");
		print_json_string(stdout, group);
		printf(",\"event\":\"%s\",\"count\":%llu,\"more\":%llu}\n", key, all, more);
		return;
	}
	name = print_name(group);
	printf("%s %s %llu +%llu\n", name, key, all, more);
	free(name);
}

/* True: something has changed since @before, which is what is now afterwards. */
static bool print_changes(const struct args *args, const char *group, char *text, struct counts *before)
{
	struct counts now;
	bool any = false;

	parse_counts(text, &now);
	for (int i = 0; i < now.nr; i++) {
		unsigned long long old = count_of(before, now.keys[i]);

		if (now.value[i] <= old)
			continue;
		print_change(args, group, now.keys[i], now.value[i], now.value[i] - old);
		any = true;
	}
	*before = now;
	return any;
}

static int begin(struct remote *remote, const char *file, const char *group, struct counts *counts)
{
	struct answer answer;
	int ret = remote_ask(remote, &answer, "watch", file, group);

	if (ret)
		return ret;
	if (!answer.payload)
		return explain(remote, &answer, group, file, NULL);
	free(answer.payload);
	ret = remote_ask(remote, &answer, "read", file, group);
	if (ret)
		return ret;
	if (!answer.payload)
		return explain(remote, &answer, group, file, NULL);
	parse_counts(answer.payload, counts);
	free(answer.payload);
	return CLI_OK;
}

/* The end of the process is the end of its groups. */
static int wait_for(struct remote *remote, const struct args *args, const char *group, struct counts *counts)
{
	long left = args->count;

	for (;;) {
		struct frame frame;
		int err = remote_frame(remote, &frame, -1);
		bool any;

		if (err == -EPIPE || (!err && frame.kind == FRAME_GONE))
			return CLI_OK;
		if (err == -EINTR)
			continue;
		if (err || frame.kind != FRAME_EVENT)
			return remote_lost(remote, err ? err : -EPROTO);
		any = print_changes(args, group, frame.payload, counts);
		free(frame.payload);
		if (cli_flush())
			return CLI_WRONG;
		if (any && args->count && !--left)
			return CLI_OK;
	}
}

int events_command(int argc, char **argv)
{
	static struct remote remote;
	struct counts counts;
	const char *group, *file;
	struct args args;
	int ret = args_parse(&command, argc, argv, &args);

	if (ret || args.help)
		return ret;
	group = args.nr ? args.operands[0] : "/";
	file = args.local ? "memory.events.local" : "memory.events";
	ret = remote_open(&args, &remote);
	if (!ret)
		ret = begin(&remote, file, group, &counts);
	if (!ret)
		ret = wait_for(&remote, &args, group, &counts);
	remote_close(&remote);
	return ret;
}
