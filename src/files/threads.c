/* SPDX-License-Identifier: MIT */
/* cgroup.threads: whose home a group is. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "charge/drain.h"
#include "files/table.h"
#include "group/house.h"
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
	if (!tid || tid == (int)syscall(SYS_gettid))
		return memcg_attach(memcg);
	/* As the kernel's own threads: ours are nobody's. */
	if (tid == house_thread_id() || tid == load_relaxed(&group_control_tid))
		return -EINVAL;
	ret = thread_move(memcg, tid);
	/* It has to meet a slow section to know. The home of who never attached is the root: no stock is left to serve it. */
	if (ret > 0)
		drain_all(memcg_root());
	return ret < 0 ? ret : 0;
}
