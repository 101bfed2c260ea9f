/* SPDX-License-Identifier: MIT */
/* cgroup.threads: whose home a group is. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tasks.h"
#include "charge/drain.h"
#include "files/table.h"
#include "group/thread.h"

static void put_tid(pid_t tid, void *arg)
{
	struct text *out = arg;

	text_u64(out, (uint64_t)tid);
	text_char(out, '\n');
}

void threads_read(struct memcg *memcg, struct text *out)
{
	threads_list(memcg, put_tid, out);
}

/* A tid, or 0 for the calling thread. What is no number at all is -EINVAL too, however large. */
int threads_write(struct memcg *memcg, const char *text)
{
	int tid, ret;

	if (parse_int32(text, &tid) || tid < 0)
		return -EINVAL;
	/* As the kernel's own threads: ours are nobody's. One of them serves the control socket, and may be told its own. */
	if (tid && task_is_library(tid))
		return -EINVAL;
	if (!tid || tid == (int)syscall(SYS_gettid))
		return memcg_attach(memcg);
	ret = thread_move(memcg, tid);
	/* It has to ask to know. An inline path asks nobody while there is stock: what it has of the group it was in must go. */
	if (ret > 0)
		drain_stock(memcg_root());
	return ret < 0 ? ret : 0;
}
