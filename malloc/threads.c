/* SPDX-License-Identifier: MIT */
/*
 * A group per thread name (MEMCG_RUN_BY_THREAD_NAME=1).
 *
 * A thread joins the group of its name at its first allocation, and that of a new name as
 * soon as it gets it. Names are the kernel's: a new thread has its creator's, so it works
 * for the creator's group until it gets one of its own, however it was started; nothing
 * depends on pthread_create(). What was charged stays where it was. Groups are never removed:
 * the report shows what threads that ended still hold.
 *
 * Another thread may give the name. It cannot attach the one that it names, so it leaves a mark in that thread's words, which
 * sees it at its next allocation. The words lie at the same distance from every thread's pthread_t: both are in the one
 * block of memory that the C library makes for a thread, which lasts as long as the pthread_t may be used. No list of threads
 * is kept, which one that ends would have to leave in time.
 *
 * The child of vfork() has our thread's words, and a name of its own, which is none of the thread's (process.c).
 */
#include "preload.h"
#include "run_env.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMM_SIZE 16UL                  /* the kernel's TASK_COMM_LEN, with its NUL */
#define LIBRARY_THREAD "memcg/"         /* how the names of the library's own threads begin */
#define GROUP_NAME_SIZE (4 * COMM_SIZE) /* each byte written \xNN */

static int (*next_setname)(pthread_t, const char *);

/*
 * A byte that cgroupfs refuses in a name, or that would spoil a report, is written \xNN, and
 * so is '\': two names never share a group.
 */
static void group_name(const char *comm, char *name)
{
	bool dots = !strcmp(comm, ".") || !strcmp(comm, "..");
	size_t len = 0;

	if (!*comm)
		comm = "unnamed";
	for (const char *c = comm; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte < ' ' || byte == 0x7f || byte == '/' || byte == '\\' || (dots && c == comm))
			len += (size_t)sprintf(name + len, "\\x%02x", byte);
		else
			name[len++] = *c;
	}
	name[len] = '\0';
}

/* Out of memory, or a limit on descendants: the thread goes on in the group it was in. */
static void thread_attach_by_name(void)
{
	char comm[COMM_SIZE + 1] = { 0 };
	char name[GROUP_NAME_SIZE + 1];
	struct memcg *group;
	int ret;

	if (syscall(SYS_prctl, PR_GET_NAME, comm, 0, 0, 0))
		return;
	if (!strncmp(comm, LIBRARY_THREAD, strlen(LIBRARY_THREAD)))
		return;
	group_name(comm, name);
	ret = memcg_open(name, &group);
	if (ret == -ENOENT)
		ret = memcg_create(NULL, name, &group);
	if (ret == -EEXIST) /* made by another thread meanwhile */
		ret = memcg_open(name, &group);
	if (ret)
		return;
	memcg_attach(group);
	memcg_put(group);
}

void threads_arrive(struct thread *thread)
{
	int saved = errno;

	if (!run_env.by_thread_name)
		return;
	if (process_is_guest()) {
		/* The thread is the parent's: it looks when it is back. */
		__atomic_store_n(&thread->renamed, 1, __ATOMIC_RELAXED);
		return;
	}
	/* The mark is taken off before the name is read; pairs with words_mark_renamed(). */
	__atomic_store_n(&thread->renamed, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	thread_attach_by_name();
	errno = saved;
}

/* The name was given before: who takes the mark off reads it, or one that came later. */
static void words_mark_renamed(pthread_t id)
{
	char *words = (char *)&thread_self - (uintptr_t)pthread_self() + (uintptr_t)id;

	__atomic_store_n(&((struct thread *)(void *)words)->renamed, 1, __ATOMIC_SEQ_CST);
}

/* Who names itself joins at once: it may never allocate. */
static COLD void thread_renamed(pthread_t id)
{
	words_mark_renamed(id);
	if (pthread_equal(id, pthread_self()) && thread_self.phase != THREAD_BUSY)
		call_mode();
}

EXPORT int pthread_setname_np(pthread_t id, const char *name)
{
	int ret;

	if (!next_setname)
		*(void **)&next_setname = start_next("pthread_setname_np");
	if (!next_setname)
		return ENOSYS;
	ret = next_setname(id, name);
	if (!ret && run_env.by_thread_name && !process_is_guest())
		thread_renamed(id);
	return ret;
}

EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;
	int ret;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	ret = (int)syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
	if (!ret && option == PR_SET_NAME && run_env.by_thread_name && !process_is_guest())
		thread_renamed(pthread_self());
	return ret;
}
