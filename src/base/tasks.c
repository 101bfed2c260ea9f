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

/* Those of every part of the library are named alike: memcg/house. */
bool task_is_library(pid_t tid)
{
	char path[64], name[32];
	struct text text;

	text_init(&text, path, sizeof(path));
	text_str(&text, "/proc/self/task/");
	text_u64(&text, (uint64_t)tid);
	text_str(&text, "/comm");
	return small_file_read(path, name, sizeof(name)) > 0 && !strncmp(name, "memcg/", 6);
}

bool task_lives(pid_t tid)
{
	int saved = errno;
	bool lives = tid > 0 && syscall(SYS_tgkill, getpid(), tid, 0) == 0;

	errno = saved;
	return lives;
}
