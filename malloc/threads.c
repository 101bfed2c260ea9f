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
 * Another thread may give the name. It cannot attach the one that it names, so it leaves a
 * mark in that thread's words, which it sees at its next allocation: hence the list of threads, under one lock which no allocation
 * path takes but the first of a thread.
 */
#include "preload.h"
#include "run_env.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMM_SIZE 16UL                  /* the kernel's TASK_COMM_LEN, with its NUL */
#define LIBRARY_THREAD "memcg/"         /* how the names of the library's own threads begin */
#define GROUP_NAME_SIZE (4 * COMM_SIZE) /* each byte written \xNN */

static pthread_mutex_t threads_lock =
	PTHREAD_MUTEX_INITIALIZER; /* list of threads; innermost: nothing is called under it */
static struct thread *threads;     /* listed threads; under threads_lock */
static pthread_key_t threads_key;  /* its destructor takes a thread off the list */
static int (*next_setname)(pthread_t, const char *);

static void thread_list(struct thread *thread)
{
	pthread_mutex_lock(&threads_lock);
	thread->id = pthread_self();
	thread->prev = NULL;
	thread->next = threads;
	if (threads)
		threads->prev = thread;
	threads = thread;
	thread->listed = true;
	pthread_mutex_unlock(&threads_lock);
}

static void thread_unlist(void *arg)
{
	struct thread *thread = arg;

	pthread_mutex_lock(&threads_lock);
	if (thread->next)
		thread->next->prev = thread->prev;
	if (thread->prev)
		thread->prev->next = thread->next;
	else
		threads = thread->next;
	pthread_mutex_unlock(&threads_lock);
}

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

/* Listed before the name is read, so that a name given meanwhile leaves its mark. */
void threads_arrive(struct thread *thread)
{
	int saved = errno;

	if (!run_env.by_thread_name)
		return;
	if (!thread->listed) {
		thread_list(thread);
		pthread_setspecific(threads_key, thread);
	}
	__atomic_store_n(&thread->renamed, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* the mark is taken off before the name is read */
	thread_attach_by_name();
	errno = saved;
}

static void thread_mark_renamed(pthread_t id)
{
	pthread_mutex_lock(&threads_lock);
	for (struct thread *thread = threads; thread; thread = thread->next) {
		if (pthread_equal(thread->id, id))
			__atomic_store_n(&thread->renamed, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&threads_lock);
}

/* Who names itself joins at once: it may never allocate. */
static COLD void thread_renamed(pthread_t id)
{
	thread_mark_renamed(id);
	if (pthread_equal(id, pthread_self()) && thread_self.phase != THREAD_BUSY)
		call_mode();
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&threads_lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&threads_lock);
}

/* The other threads are gone, and their words with them. */
static void fork_child(void)
{
	struct thread *thread = &thread_self;

	threads = NULL;
	if (thread->listed) {
		thread->prev = NULL;
		thread->next = NULL;
		threads = thread;
	}
	pthread_mutex_unlock(&threads_lock);
}

void threads_start(void)
{
	int ret;

	if (!run_env.by_thread_name)
		return;
	ret = pthread_key_create(&threads_key, thread_unlist);
	if (!ret)
		ret = pthread_atfork(fork_prepare, fork_parent, fork_child);
	if (ret)
		start_fail("groups by thread name", ret);
}

EXPORT int pthread_setname_np(pthread_t id, const char *name)
{
	int ret;

	if (!next_setname)
		*(void **)&next_setname = start_next("pthread_setname_np");
	if (!next_setname)
		return ENOSYS;
	ret = next_setname(id, name);
	if (!ret && run_env.by_thread_name)
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
	if (!ret && option == PR_SET_NAME && run_env.by_thread_name)
		thread_renamed(pthread_self());
	return ret;
}
