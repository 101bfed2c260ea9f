/* SPDX-License-Identifier: MIT */
/* fork, exec, and what it cost by wait4(). */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child has no threads but this, and the parent's other threads sleep in their pools. */
static void child(const struct spawn *s, int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char path[32];
	int input = null;

	if (s->input >= 0) {
		/* Opened again: an offset of its own. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", s->input);
		input = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (dup2(input, 0) < 0 || dup2(output >= 0 ? output : null, 1) < 0)
		_exit(125);
	if (s->preload && setenv("LD_PRELOAD", s->preload, 1))
		_exit(125);
	if (s->env)
		putenv((char *)(size_t)s->env);
	execvp(s->argv[0], (char *const *)(size_t)s->argv);
	_exit(127);
}

static void read_output(struct spawn *s, int fd)
{
	size_t used = 0;
	ssize_t n;

	while (used + 1 < s->output_len && (n = read(fd, s->output + used, s->output_len - 1 - used)) > 0)
		used += (size_t)n;
	s->output[used] = '\0';
}

int spawn_run(struct spawn *s)
{
	int fds[2] = { -1, -1 }, status;
	struct rusage ru;
	pid_t pid;

	if (s->output && pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		child(s, fds[1]);
	if (fds[1] >= 0)
		close(fds[1]);
	if (pid > 0 && s->output)
		read_output(s, fds[0]);
	if (fds[0] >= 0)
		close(fds[0]);
	if (pid < 0)
		return -EAGAIN;
	while (wait4(pid, &status, 0, &ru) < 0)
		if (errno != EINTR)
			return -errno;
	s->cpu_seconds = (double)ru.ru_utime.tv_sec + (double)ru.ru_stime.tv_sec +
			 1e-6 * (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}
