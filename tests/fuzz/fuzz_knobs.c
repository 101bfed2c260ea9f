/* SPDX-License-Identifier: MIT */
/*
 * Writes of any bytes to the files that take a switch, words or a tid, and to those that cannot be changed; by name and
 * through open files. A record's first byte: the file is number % 16; from 128 on the write goes through an open file.
 */
#include "fuzz/oracle.h"

#include <fcntl.h>
#include <limits.h>
#include <memcg/files.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

enum kind {
	SWITCH,      /* 0 or 1, kept */
	WRITEBACK,   /* a switch that is 1 */
	FREEZE,      /* a switch that is 0, with another error */
	KILL,        /* 1, which cannot be done */
	ONLY_MAX,    /* an amount that is max */
	ANYTHING,    /* taken, and nothing changes */
	TYPE,        /* one word */
	CONTROLLERS, /* words */
	THREADS,     /* a tid */
	READ_ONLY,
};

static const struct knob {
	const char *name;
	enum kind kind;
	const char *reads; /* always; NULL: what was written, or not looked at */
} knobs[16] = {
	{ "memory.oom.group", SWITCH, NULL },
	{ "memory.zswap.writeback", WRITEBACK, "1\n" },
	{ "cgroup.freeze", FREEZE, "0\n" },
	{ "cgroup.kill", KILL, NULL },
	{ "memory.swap.max", ONLY_MAX, "max\n" },
	{ "memory.swap.high", ONLY_MAX, "max\n" },
	{ "memory.zswap.max", ONLY_MAX, "max\n" },
	{ "memory.swap.peak", ANYTHING, "0\n" },
	{ "memory.peak", ANYTHING, "0\n" },
	{ "cgroup.type", TYPE, "threaded\n" },
	{ "cgroup.subtree_control", CONTROLLERS, "memory\n" },
	{ "cgroup.threads", THREADS, NULL },
	{ "cgroup.threads", THREADS, NULL },
	{ "cgroup.events", READ_ONLY, NULL },
	{ "cgroup.controllers", READ_ONLY, "memory\n" },
	{ "memory.swap.events", READ_ONLY, "high 0\nmax 0\nfail 0\n" },
};

static struct memcg *group;
static struct memcg_file *files[16];
static int oom_group; /* what was last accepted */

static void start(void)
{
	size_t i;

	fuzz_start();
	if (group)
		return;
	must(memcg_create(NULL, "x", &group) == 0);
	for (i = 0; i < array_size(files); i++)
		must(memcg_file_open(group, knobs[i].name, O_RDWR, &files[i]) == 0);
}

/* The text that a write gets: up to a NUL, without white space around it. free() it. */
static char *stripped(const char *bytes, size_t len)
{
	static const char blanks[] = " \t\n\v\f\r";
	char *copy = strndup(bytes, len), *begin;
	size_t end = strlen(copy);

	while (end && strchr(blanks, copy[end - 1]))
		copy[--end] = '\0';
	begin = strdup(copy + strspn(copy, blanks));
	free(copy);
	must(begin);
	return begin;
}

/* An int, or an error; @others: for a number that fits, but is no int. */
static int oracle_int32(const char *text, long *value)
{
	int err = oracle_int(text, value);

	return err ? err : *value < INT_MIN || *value > INT_MAX ? -ERANGE : 0;
}

static int oracle_switch(enum kind kind, const char *text)
{
	long value;
	int err = oracle_int32(text, &value);

	if (err)
		return err;
	switch (kind) {
	case SWITCH:
		if (value != 0 && value != 1)
			return -EINVAL;
		oom_group = (int)value;
		return 0;
	case WRITEBACK:
		return value == 1 ? 0 : value == 0 ? -EOPNOTSUPP : -EINVAL;
	case FREEZE:
		return value == 0 ? 0 : value == 1 ? -EOPNOTSUPP : -ERANGE;
	default:
		return value == 1 ? -EOPNOTSUPP : -ERANGE;
	}
}

static int oracle_words(char *text)
{
	char *word, *rest = text, sign = '+';

	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		if (strcmp(word + 1, "memory") != 0 || (*word != '+' && *word != '-'))
			return -EINVAL;
		sign = *word;
	}
	return sign == '+' ? 0 : -EOPNOTSUPP;
}

/* Of this process there is one thread, the library's none; libFuzzer may have its own. */
static int oracle_tid(const char *text)
{
	char name[64];
	long value;

	if (oracle_int32(text, &value) || value < 0)
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/task/%ld", value);
	return value == 0 || access(name, F_OK) == 0 ? 0 : -ESRCH;
}

static int expected(const struct knob *knob, char *text)
{
	unsigned long pages;
	int err;

	switch (knob->kind) {
	case ONLY_MAX:
		err = oracle_pages(text, &pages);
		return err ? err : pages == ORACLE_MAX_PAGES ? 0 : -EOPNOTSUPP;
	case ANYTHING:
		return 0;
	case TYPE:
		return strcmp(text, "threaded") ? -EINVAL : 0;
	case CONTROLLERS:
		return oracle_words(text);
	case THREADS:
		return oracle_tid(text);
	case READ_ONLY:
		return -EINVAL;
	default:
		return oracle_switch(knob->kind, text);
	}
}

static void read_back(const struct knob *knob)
{
	char text[256];
	ssize_t len = memcg_read(group, knob->name, text, sizeof(text));

	if (knob->kind == KILL) {
		must(len == -EINVAL);
		return;
	}
	must(len >= 0 && len < (ssize_t)sizeof(text));
	if (knob->reads)
		must(strcmp(text, knob->reads) == 0);
	if (knob->kind == SWITCH)
		must(strcmp(text, oom_group ? "1\n" : "0\n") == 0);
}

static void write_once(unsigned int what, const char *bytes, size_t len)
{
	const struct knob *knob = &knobs[what % 16];
	ssize_t ret = what < 128 ? memcg_write(group, knob->name, bytes, len) :
				   memcg_file_write(files[what % 16], bytes, len);
	char *text;
	int err;

	if (knob->kind != READ_ONLY && len > 4096) {
		must(ret == -E2BIG);
		return;
	}
	if (knob->kind != READ_ONLY && !len) {
		must(ret == 0);
		return;
	}
	text = stripped(bytes, len);
	err = expected(knob, text);
	free(text);
	must(ret == (err ? err : (ssize_t)len));
	if (knob->kind == THREADS && !err)
		must(memcg_attach(NULL) == 0);
	read_back(knob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t first;
	size_t len;
	char *bytes;

	start();
	while ((bytes = fuzz_record(&data, &size, &first, &len))) {
		write_once(first, bytes, len);
		free(bytes);
	}
	return 0;
}
