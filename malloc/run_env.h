/* SPDX-License-Identifier: MIT */
/* What `memcg run` asks for, handed over in the environment. docs/malloc.md has the table. */
#ifndef MEMCG_RUN_ENV_H
#define MEMCG_RUN_ENV_H

#include <stdbool.h>
#include <sys/types.h>

enum run_report {
	RUN_REPORT_NONE,
	RUN_REPORT_TEXT,
	RUN_REPORT_JSON
};

struct run_env {
	const char *max;        /* MEMCG_RUN_MAX, for the root's memory.max; NULL: the host's own */
	const char *high;       /* MEMCG_RUN_HIGH, for the root's memory.high; NULL: max */
	enum run_report report; /* MEMCG_RUN_REPORT */
	int report_fd;          /* MEMCG_RUN_REPORT_FD=fd:device:inode; -1: none */
	dev_t report_device;    /* the file that the fd was: a program may close it and open another */
	ino_t report_inode;     /* the same */
	pid_t report_pid;       /* MEMCG_RUN_REPORT_PID: the process that reports; its children do not */
	bool by_thread_name;    /* MEMCG_RUN_BY_THREAD_NAME=1 */
	bool by_rule;           /* MEMCG_RUN_MAP: names of threads have groups */
	bool control;           /* MEMCG_RUN_CONTROL=1: a control socket is opened */
	bool mmap;              /* MEMCG_RUN_MMAP=1: mappings are charged too */
};

extern __attribute__((visibility("hidden"))) struct run_env run_env;

/* Does the name of a thread say where it belongs? */
static inline bool threads_are_named(void)
{
	return run_env.by_thread_name || run_env.by_rule;
}

__attribute__((visibility("hidden"))) void run_env_read(void);
__attribute__((visibility("hidden"))) int run_env_report_fd(void); /* where the report goes now; -1: nowhere */
__attribute__((visibility("hidden"))) bool run_env_is_reporter(void);
__attribute__((visibility("hidden"))) void run_env_close_inherited(void);

#endif
