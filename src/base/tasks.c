/* SPDX-License-Identifier: MIT */
/* The threads of this process. */
#include "base/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/small_file.h"
#include "base/text.h"

/* What getdents64(2) fills in. */
struct entry {
	uint64_t inode;        /* not used */
	int64_t offset;        /* not used */
	unsigned short length; /* of this entry */
	unsigned char type;    /* not used */
	char name[];           /* of a folder of /proc/self/task: the tid; "." and ".." */
};

/* 0: not a number. */
static pid_t parse_tid(const char *name)
{
	pid_t tid = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		tid = tid * 10 + (*name - '0');
	return *name ? 0 : tid;
}

int tasks_each(void (*each)(pid_t tid, void *arg), void *arg)
{
	_Alignas(struct entry) char buf[4096];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long len, at;

	if (fd < 0)
		return -errno;
	while ((len = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < len;) {
			const struct entry *entry = (const struct entry *)(const void *)(buf + at);
			pid_t tid = parse_tid(entry->name);

			if (tid)
				each(tid, arg);
			at += entry->length;
		}
	}
	close(fd);
	return len < 0 ? -EIO : 0;
}

/* A file of a thread of this process. */
static ssize_t read_task(pid_t tid, const char *file, char *buf, size_t cap)
{
	char path[64];
	struct text text;

	text_init(&text, path, sizeof(path));
	text_str(&text, "/proc/self/task/");
	text_u64(&text, (uint64_t)tid);
	text_char(&text, '/');
	text_str(&text, file);
	return small_file_read(path, buf, cap);
}

/* Those of every part of the library are named alike: memcg/house. */
bool task_is_library(pid_t tid)
{
	char name[32];

	return read_task(tid, "comm", name, sizeof(name)) > 0 && !strncmp(name, "memcg/", 6);
}

/* Field 22 of stat, the 20th after the name, which is in brackets and may hold any. */
static uint64_t parse_start(const char *stat)
{
	const char *at = strrchr(stat, ')');
	uint64_t start = 0;
	int field;

	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		start = start * 10 + (uint64_t)(*at - '0');
	return start;
}

uint64_t task_start(pid_t tid)
{
	int saved = errno;
	uint64_t start = 0;
	char stat[1024];

	if (tid > 0 && read_task(tid, "stat", stat, sizeof(stat)) > 0)
		start = parse_start(stat);
	else if (tid > 0 && syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		start = TASK_START_UNKNOWN; /* no /proc here, or no descriptor is left */
	errno = saved;
	return start;
}
