/* SPDX-License-Identifier: MIT */
/*
 * Groups by thread name: one for each name (MEMCG_RUN_BY_THREAD_NAME=1), or by rules (MEMCG_RUN_MAP), the first that
 * matches. With rules alone, who matches none is the root's.
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
#include "groups.h"
#include "preload.h"
#include "run_env.h"
#include "run_list.h"
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMM_SIZE 16UL                  /* the kernel's TASK_COMM_LEN, with its NUL */
#define LIBRARY_THREAD "memcg/"         /* how the names of the library's own threads begin */
#define GROUP_NAME_SIZE (4 * COMM_SIZE) /* each byte written \xNN */

#define RULES_MOST 256

static int (*next_setname)(pthread_t, const char *);

/* MEMCG_RUN_MAP, in its order; constant after start. */
static struct {
	const char *pattern; /* of fnmatch(3) */
	const char *group;   /* path */
} rules[RULES_MOST];
static size_t nr_rules;

/* A copy: the program may change its environment. */
void threads_start(void)
{
	static char copy[RUN_LIST_BYTES];
	const char *value = getenv("MEMCG_RUN_MAP");
	char *rest = copy, *line;

	if (value && strlen(value) >= sizeof(copy))
		start_fail("MEMCG_RUN_MAP", E2BIG);
	strncpy(copy, value ? value : "", sizeof(copy) - 1);
	while ((line = strsep(&rest, "\n"))) {
		struct run_rule rule;

		if (!*line)
			continue;
		if (nr_rules == RULES_MOST || !run_rule_parse(line, strlen(line), &rule))
			start_fail("MEMCG_RUN_MAP", nr_rules == RULES_MOST ? E2BIG : EINVAL);
		line[rule.pattern.len] = '\0';
		rules[nr_rules].pattern = line;
		rules[nr_rules++].group = rule.group.text;
	}
	run_env.by_rule = nr_rules > 0;
	if (threads_are_named() || run_env.control)
		process_start();
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

/* The path of the group of a name; NULL: none. @name is a place for it. */
static const char *group_of(const char *comm, char *name)
{
	for (size_t i = 0; i < nr_rules; i++) {
		if (!fnmatch(rules[i].pattern, comm, 0))
			return rules[i].group;
	}
	if (!run_env.by_thread_name)
		return NULL;
	group_name(comm, name);
	return name;
}

/* Out of memory, or a limit on descendants: the thread goes on in the group it was in. */
static void thread_attach_by_name(struct thread *thread)
{
	char comm[COMM_SIZE + 1] = { 0 };
	char name[GROUP_NAME_SIZE + 1];
	struct memcg *group = NULL;
	const char *path;

	if (syscall(SYS_prctl, PR_GET_NAME, comm, 0, 0, 0))
		return;
	if (!strncmp(comm, LIBRARY_THREAD, strlen(LIBRARY_THREAD)))
		return;
	path = group_of(comm, name);
	if (!path && !thread->placed)
		return;
	if (path && groups_open(path, &group))
		return;
	thread->placed = path && !memcg_attach(group);
	if (!path)
		memcg_attach(NULL);
	memcg_put(group);
}

void threads_arrive(struct thread *thread)
{
	int saved = errno;

	if (process_is_guest()) {
		/* The thread is the parent's: it looks when it is back. */
		__atomic_store_n(&thread->renamed, 1, __ATOMIC_RELAXED);
		return;
	}
	/* The mark is taken off before the name is read; pairs with words_mark_renamed(). */
	__atomic_store_n(&thread->renamed, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (threads_are_named())
		thread_attach_by_name(thread);
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
	if (!ret && threads_are_named() && !process_is_guest())
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
	if (!ret && option == PR_SET_NAME && threads_are_named() && !process_is_guest())
		thread_renamed(pthread_self());
	return ret;
}
