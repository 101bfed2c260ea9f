/* SPDX-License-Identifier: MIT */
/*
 * Source places of code addresses, by addr2line: once per report, for all of them.
 * Without binutils a report says "?" for places and is complete otherwise.
 */
#include "runtime.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MAX_PLACES = 8192,
	BATCH = 500
};

static struct place {
	uintptr_t pc;           /* return address */
	struct sim_where where; /* what addr2line said */
} places[MAX_PLACES];
static unsigned int nr_places;
static unsigned int nr_resolved;
static char exe[PATH_MAX]; /* this program */

static struct place *find(uintptr_t pc)
{
	for (unsigned int i = 0; i < nr_places; i++)
		if (places[i].pc == pc)
			return &places[i];
	return NULL;
}

void sim_where_add(uintptr_t pc)
{
	if (!pc || find(pc) || nr_places == MAX_PLACES)
		return;
	places[nr_places].pc = pc;
	places[nr_places].where = (struct sim_where){ .function = "?", .file = "?" };
	nr_places++;
}

/* Below the source root. Paths may go through the build folder: "/src/build/../sim/x.c". */
static const char *short_path(char *path)
{
	char whole[PATH_MAX];

	if (realpath(path, whole) && !strncmp(whole, SIM_SOURCE_ROOT, strlen(SIM_SOURCE_ROOT)))
		memmove(path, whole + strlen(SIM_SOURCE_ROOT), strlen(whole) - strlen(SIM_SOURCE_ROOT) + 1);
	return path;
}

static char *chomp(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* One frame of an address: the first is the innermost, the others are what it is inlined into. */
static void set_frame(struct sim_where *where, unsigned int frame, const char *function, char *file)
{
	char *colon = strrchr(file, ':');

	if (!colon || function[0] == '?')
		return;
	if (frame > 0 && frame <= 2)
		where->outer[frame - 1] = strdup(function);
	if (frame > 0)
		return;
	*colon = '\0';
	where->function = strdup(function);
	where->file = strdup(short_path(file));
	where->line = (unsigned int)strtoul(colon + 1, NULL, 10);
}

/* addr2line -a: a line with the address, then two lines for each frame. */
static void read_places(FILE *in, unsigned int first, unsigned int end)
{
	char line[1024], file[1024];
	unsigned int at = first, frame = 0;
	bool begun = false;

	while (fgets(line, sizeof(line), in)) {
		if (!strncmp(line, "0x", 2)) {
			at += begun;
			begun = true;
			frame = 0;
			continue;
		}
		if (at >= end || !fgets(file, sizeof(file), in))
			return;
		set_frame(&places[at].where, frame++, chomp(line), chomp(file));
	}
}

static void exec_addr2line(unsigned int first, unsigned int end, int out)
{
	static char addr2line[] = "addr2line", flags[] = "-aife";
	char text[BATCH][24], *argv[BATCH + 4] = { addr2line, flags, exe };

	for (unsigned int i = first; i < end; i++) {
		snprintf(text[i - first], sizeof(text[0]), "%#lx", (unsigned long)places[i].pc - 1);
		argv[3 + i - first] = text[i - first];
	}
	argv[3 + end - first] = NULL;
	dup2(out, STDOUT_FILENO);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static void resolve_batch(unsigned int first, unsigned int end)
{
	int ends[2];
	pid_t pid;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		exec_addr2line(first, end, ends[1]);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (in) {
		read_places(in, first, end);
		fclose(in);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void sim_where_resolve(void)
{
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[len > 0 ? len : 0] = '\0'; /* the child's own link is another program's by then */
	while (nr_resolved < nr_places) {
		unsigned int end = nr_places - nr_resolved < BATCH ? nr_places : nr_resolved + BATCH;

		resolve_batch(nr_resolved, end);
		nr_resolved = end;
	}
}

struct sim_where sim_where(uintptr_t pc)
{
	const struct place *place = find(pc);

	return place ? place->where : (struct sim_where){ .function = "?", .file = "?" };
}
