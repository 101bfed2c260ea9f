/* SPDX-License-Identifier: MIT */
/* The report of `memcg run`: collected once, written as text or as JSON. */
#ifndef MEMCG_REPORT_H
#define MEMCG_REPORT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define REPORT_HIDDEN __attribute__((visibility("hidden")))
#define REPORT_MAX LONG_MAX /* an amount that the file shows as "max" */

/* What is written, on its way to the file: nothing is allocated. */
struct report_out {
	int fd;         /* the file; -1 after an error: nothing more is written */
	size_t len;     /* bytes in buf */
	char buf[4096]; /* not written yet */
};

REPORT_HIDDEN void report_print(struct report_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
REPORT_HIDDEN void report_bytes(struct report_out *out, const char *bytes, size_t len);
REPORT_HIDDEN void report_flush(struct report_out *out);

enum report_event {
	REPORT_LOW,
	REPORT_HIGH,
	REPORT_MAXED,
	REPORT_OOM,
	REPORT_OOM_KILL,
	REPORT_EVENTS
};
extern REPORT_HIDDEN const char *const report_event_names[REPORT_EVENTS];

/* A group. Amounts are bytes; -1: the file could not be read. */
struct report_group {
	char path[PATH_MAX];        /* from the root, which is "/" */
	const char *name;           /* its last component, in path */
	unsigned int depth;         /* 0 for the root */
	long current;               /* memory.current */
	long peak;                  /* memory.peak */
	long high;                  /* memory.high */
	long max;                   /* memory.max */
	long events[REPORT_EVENTS]; /* memory.events */
};

/* The process as the kernel sees it. Amounts are bytes. */
struct report_process {
	long resident;      /* VmRSS */
	long peak_resident; /* VmHWM */
	long tracked;       /* the root's memory.current */
	int pid;            /* of the process that reports */
	bool interposed;    /* false: the program has a malloc of its own, which is not tracked */
};

struct memcg;
REPORT_HIDDEN void report_read_group(struct memcg *memcg, struct report_group *group);
REPORT_HIDDEN void report_read_process(struct report_process *process);

REPORT_HIDDEN void report_text(struct report_out *out, const struct report_process *process);
REPORT_HIDDEN void report_json(struct report_out *out, const struct report_process *process);
REPORT_HIDDEN void report_write(int fd, bool json);

#endif
