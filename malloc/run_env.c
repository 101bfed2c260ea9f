/* SPDX-License-Identifier: MIT */
/*
 * The environment goes on to every program that is started, and each has a tree and limits
 * of its own; but only the process that `memcg run` started reports.
 */
#include "run_env.h"
#include "preload.h"
#include "run_size.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

HIDDEN struct run_env run_env = { .report_fd = -1 };

/* A limit, copied to @buf of RUN_SIZE_BYTES; NULL: none. */
static char *read_size(const char *name, char *buf)
{
	const char *value = getenv(name);

	if (!value || !*value)
		return NULL;
	if (!run_size_is_valid(value))
		start_fail(name, EINVAL);
	return strcpy(buf, value);
}

/* fd:device:inode */
static void read_report_fd(const char *value)
{
	unsigned long number[3];

	for (int i = 0; i < 3; i++) {
		char *end;

		errno = 0;
		number[i] = strtoul(value, &end, 10);
		if (errno || end == value || *end != (i < 2 ? ':' : '\0'))
			start_fail("MEMCG_RUN_REPORT_FD", EINVAL);
		value = end + 1;
	}
	run_env.report_fd = (int)number[0];
	run_env.report_device = (dev_t)number[1];
	run_env.report_inode = (ino_t)number[2];
}

static void read_report(void)
{
	const char *value = getenv("MEMCG_RUN_REPORT");

	if (!value || !*value)
		return;
	if (!strcmp(value, "text"))
		run_env.report = RUN_REPORT_TEXT;
	else if (!strcmp(value, "json"))
		run_env.report = RUN_REPORT_JSON;
	else
		start_fail("MEMCG_RUN_REPORT", EINVAL);

	value = getenv("MEMCG_RUN_REPORT_FD");
	if (value)
		read_report_fd(value);
	value = getenv("MEMCG_RUN_REPORT_PID");
	run_env.report_pid = value ? (pid_t)strtol(value, NULL, 10) : getpid();
}

static bool is_on(const char *name)
{
	const char *value = getenv(name);

	return value && !strcmp(value, "1");
}

/* Copied: the program may change its environment. */
void run_env_read(void)
{
	static char max[RUN_SIZE_BYTES], high[RUN_SIZE_BYTES];
	run_env.max = read_size("MEMCG_RUN_MAX", max);
	run_env.high = read_size("MEMCG_RUN_HIGH", high);
	run_env.by_thread_name = is_on("MEMCG_RUN_BY_THREAD_NAME");
	run_env.mmap = is_on("MEMCG_RUN_MMAP");
	run_env.control = is_on("MEMCG_RUN_CONTROL");
	read_report();
}

bool run_env_is_reporter(void)
{
	return run_env.report != RUN_REPORT_NONE && getpid() == run_env.report_pid;
}

static bool is_report_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == run_env.report_device && st.st_ino == run_env.report_inode;
}

/*
 * Started by hand, LD_PRELOAD alone: stderr. By `memcg run`: the copy of stderr, or stderr
 * when a program that closes what it does not know left only that.
 */
int run_env_report_fd(void)
{
	if (run_env.report_fd < 0)
		return STDERR_FILENO;
	if (is_report_file(run_env.report_fd))
		return run_env.report_fd;
	return is_report_file(STDERR_FILENO) ? STDERR_FILENO : -1;
}

/* Who does not report must not keep the file open either: its reader waits for the end. */
void run_env_close_inherited(void)
{
	if (run_env.report_fd > STDERR_FILENO && !run_env_is_reporter() && is_report_file(run_env.report_fd)) {
		close(run_env.report_fd);
		run_env.report_fd = -1;
	}
}
