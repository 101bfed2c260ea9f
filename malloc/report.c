/* SPDX-License-Identifier: MIT */
/*
 * What a report says, from the interface files and /proc: no more than an operator could read.
 *
 * tracked is the root's memory.current, which includes what the per-CPU stocks hold. untracked
 * is resident - tracked: the program's image, stacks, maps and the allocator's own; it is
 * negative where memory was allocated and never touched.
 */
#include "report.h"
#include "preload.h"
#include <memcg/files.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READER_MS 2000 /* longest wait for a reader, where a write does not wait itself */

REPORT_HIDDEN const char *const report_event_names[REPORT_EVENTS] = {
	[REPORT_LOW] = "low", [REPORT_HIGH] = "high",         [REPORT_MAXED] = "max",
	[REPORT_OOM] = "oom", [REPORT_OOM_KILL] = "oom_kill",
};

/* A program may have made the file one that does not block. */
static bool may_write_again(int fd)
{
	struct pollfd poll_out = { .fd = fd, .events = POLLOUT };

	if (errno == EINTR)
		return true;
	return errno == EAGAIN && poll(&poll_out, 1, READER_MS) > 0;
}

void report_flush(struct report_out *out)
{
	size_t done = 0;

	while (out->fd >= 0 && done < out->len) {
		ssize_t ret = write(out->fd, out->buf + done, out->len - done);

		if (ret >= 0)
			done += (size_t)ret;
		else if (!may_write_again(out->fd))
			out->fd = -1;
	}
	out->len = 0;
}

void report_bytes(struct report_out *out, const char *bytes, size_t len)
{
	while (len) {
		size_t room = sizeof(out->buf) - out->len;
		size_t part = len < room ? len : room;

		memcpy(out->buf + out->len, bytes, part);
		out->len += part;
		bytes += part;
		len -= part;
		if (out->len == sizeof(out->buf))
			report_flush(out);
	}
}

void report_print(struct report_out *out, const char *format, ...)
{
	char line[1024]; /* a group's line: a name of 255 bytes under 63 others */
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len > 0)
		report_bytes(out, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

static long read_amount(struct memcg *memcg, const char *file)
{
	char text[64];

	if (memcg_read(memcg, file, text, sizeof(text)) < 0)
		return -1;
	return strncmp(text, "max", 3) ? strtol(text, NULL, 10) : REPORT_MAX;
}

static void read_events(struct memcg *memcg, long *events)
{
	char text[512], *rest = text, *line;

	for (int i = 0; i < REPORT_EVENTS; i++)
		events[i] = -1;
	if (memcg_read(memcg, "memory.events", text, sizeof(text)) < 0)
		return;
	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		for (int i = 0; i < REPORT_EVENTS; i++) {
			if (!strcmp(line, report_event_names[i]))
				events[i] = strtol(value, NULL, 10);
		}
	}
}

void report_read_group(struct memcg *memcg, struct report_group *group)
{
	group->depth = 0;
	for (struct memcg *parent = memcg_parent(memcg); parent; parent = memcg_parent(parent))
		group->depth++;
	if (memcg_path(memcg, group->path, sizeof(group->path)) < 0)
		strcpy(group->path, "?");
	group->name = group->depth && strrchr(group->path, '/') ? strrchr(group->path, '/') + 1 : group->path;
	group->current = read_amount(memcg, "memory.current");
	group->peak = read_amount(memcg, "memory.peak");
	group->high = read_amount(memcg, "memory.high");
	group->max = read_amount(memcg, "memory.max");
	read_events(memcg, group->events);
}

/* The value of a line of /proc/self/status, which is in kB. */
static long status_bytes(const char *status, const char *key)
{
	const char *line = strstr(status, key);

	return line ? strtol(line + strlen(key), NULL, 10) << 10 : 0;
}

void report_read_process(struct report_process *process)
{
	static char status[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, status, sizeof(status) - 1);

	if (fd >= 0)
		close(fd);
	status[len < 0 ? 0 : len] = '\0';
	process->resident = status_bytes(status, "\nVmRSS:");
	process->peak_resident = status_bytes(status, "\nVmHWM:");
	process->tracked = read_amount(NULL, "memory.current");
	process->pid = getpid();
	process->interposed = start_interposed();
}

void report_write(int fd, bool json)
{
	static struct report_out out; /* not on the stack: the thread that ends the process may have little */
	struct report_process process;

	if (fd < 0)
		return;
	out.fd = fd;
	report_read_process(&process);
	if (json)
		report_json(&out, &process);
	else
		report_text(&out, &process);
	report_flush(&out);
}
