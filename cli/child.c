/* SPDX-License-Identifier: MIT */
/*
 * The program runs as our child, in our process group, and we are transparent to signals and
 * job control.
 *
 * Signals that someone sends to us by kill(2) go on to the child. Those that the terminal
 * sends reach the whole foreground group, so the child has its own: they are not sent again.
 * We take all of them synchronously, and have no handlers: what is ignored stays ignored, and
 * the child inherits nothing of ours. When the terminal stops the child we stop as it does,
 * so that the shell sees its job stopped; a child that handles SIGTSTP keeps us running.
 */
#include "cli.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
};

static void taken_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(set, forwarded[i]);
}

static _Noreturn void child_exec(const char *path, char **argv, const sigset_t *mask, const struct sigaction *sigchld)
{
	char pid[16];
	int error;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (setenv("MEMCG_RUN_REPORT_PID", pid, 1))
		_exit(cli_error("%s", strerror(errno)));
	sigaction(SIGCHLD, sigchld, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(path, argv);
	error = errno;
	cli_error("%s: %s", argv[0], strerror(error));
	_exit(error == ENOENT ? CLI_NOT_FOUND : CLI_NOT_RUN);
}

/* As the child was stopped; returns when we go on. In an orphaned group nothing stops. */
static void stop_as(int signal)
{
	struct sigaction deflt = { .sa_handler = SIG_DFL }, old;
	sigset_t set;

	if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU)
		return; /* SIGSTOP is meant for the child alone: who sends it sends it SIGCONT too */
	sigaction(signal, &deflt, &old);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(signal, &old, NULL);
}

/* True when the child is gone. */
static bool child_changed(pid_t child, int *exit_code)
{
	int status;

	while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
		if (WIFEXITED(status)) {
			*exit_code = WEXITSTATUS(status);
			return true;
		}
		if (WIFSIGNALED(status)) {
			*exit_code = CLI_SIGNALLED + WTERMSIG(status);
			return true;
		}
		stop_as(WSTOPSIG(status));
	}
	return false;
}

static void forward(pid_t child, const siginfo_t *info)
{
	bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;

	/* What the child sends to its group it has had already. */
	if (sent && info->si_pid != child)
		kill(child, info->si_signo);
}

static int child_wait(pid_t child, const sigset_t *taken)
{
	int exit_code = CLI_FAILED;
	siginfo_t info;

	for (;;) {
		int signal = sigwaitinfo(taken, &info);

		if (signal == SIGCHLD) {
			if (child_changed(child, &exit_code))
				return exit_code;
		} else if (signal > 0) {
			forward(child, &info);
		} else if (errno != EINTR) {
			return cli_error("%s", strerror(errno));
		}
	}
}

int child_run(const char *path, char **argv)
{
	struct sigaction deflt = { .sa_handler = SIG_DFL }, sigchld;
	sigset_t taken, mask;
	pid_t child;

	taken_signals(&taken);
	sigprocmask(SIG_BLOCK, &taken, &mask);
	sigaction(SIGCHLD, &deflt, &sigchld); /* ignored, it would take the exit status with it */
	child = fork();
	if (child < 0)
		return cli_error("cannot start a process: %s", strerror(errno));
	if (!child)
		child_exec(path, argv, &mask, &sigchld);
	return child_wait(child, &taken);
}
