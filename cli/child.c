/* SPDX-License-Identifier: MIT */
/*
 * The program runs as our child, in our process group, and we are transparent to signals and
 * job control.
 *
 * Every signal that can be blocked is taken synchronously, and there are no handlers: what is ignored stays ignored, and
 * the child inherits nothing of ours. (A fault of our own kills us all the same.) What others send to us goes on to
 * the child, and so does what is meant for the program that we stand for: an alarm that was set before exec(), the hangup
 * of a session leader. Not sent on: what the child has itself had, from the terminal that sends to the whole foreground
 * group, or sent itself; and what we have caused.
 *
 * What kills us although we block it (SIGKILL, and the two that the C library keeps for itself) kills the child by its
 * parent-death signal. SIGSTOP stops us alone.
 *
 * When the terminal stops the child we stop as it does,
 * so that the shell sees its job stopped; a child that handles SIGTSTP keeps us running.
 */
#include "cli.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* If we die the program does. True also when we have died already; in a process namespace of its own it has no parent. */
static bool child_is_orphan(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() != parent && getppid() != 0;
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
	/* What waits for us here came after the stop, and a stop of ours would drop it. */
	if (!sigpending(&set) && sigismember(&set, SIGCONT) == 1)
		return;
	sigaction(signal, &deflt, &old);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(signal, &old, NULL);
}

/*
 * As the child did: a shell that runs a loop of commands ends it when one died of SIGINT, not when one returned 130. No
 * second core is dumped. Returns where the signal does nothing, as in the init of a process namespace.
 */
static int die_as(int signal)
{
	struct sigaction deflt = { .sa_handler = SIG_DFL };
	sigset_t set;

	prctl(PR_SET_DUMPABLE, 0);
	sigaction(signal, &deflt, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	kill(getpid(), signal); /* raise() refuses those of the C library */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return CLI_SIGNALLED + signal;
}

/* True when the child is gone. */
static bool child_changed(pid_t child, int *exit_code)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != child)
			continue; /* left to us, as to the init of a container */
		if (WIFEXITED(status)) {
			*exit_code = WEXITSTATUS(status);
			return true;
		}
		if (WIFSIGNALED(status)) {
			*exit_code = die_as(WTERMSIG(status));
			return true;
		}
		stop_as(WSTOPSIG(status));
	}
	return false;
}

/*
 * By the kernel, not by a process: is the program the one it is meant for? Timers, and files that signal, are inherited
 * from before; the end of the terminal is told to the session's leader alone.
 */
static bool kernel_means_program(int signal)
{
	static const int not_program[] = {
		SIGINT,  SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, /* the terminal's, to the group */
		SIGXCPU, SIGXFSZ, SIGCHLD,                             /* our own doing, and the child itself */
	};

	if (signal == SIGHUP || signal == SIGCONT)
		return getsid(0) == getpid();
	for (size_t i = 0; i < sizeof(not_program) / sizeof(not_program[0]); i++) {
		if (signal == not_program[i])
			return false;
	}
	return true;
}

static bool is_for_child(pid_t child, const siginfo_t *info)
{
	if (info->si_code > 0)
		return kernel_means_program(info->si_signo);
	if (info->si_code != SI_USER && info->si_code != SI_QUEUE && info->si_code != SI_TKILL)
		return true; /* no sender is named */
	/* What the child sends to its group it has had already. A write of ours raises SIGPIPE in our name. */
	return info->si_pid != child && info->si_pid != getpid();
}

static void forward(pid_t child, const siginfo_t *info)
{
	if (!is_for_child(child, info))
		return;
	if (info->si_code != SI_QUEUE || sigqueue(child, info->si_signo, info->si_value))
		kill(child, info->si_signo);
}

static int child_wait(pid_t child, const sigset_t *taken)
{
	int exit_code = CLI_FAILED;
	siginfo_t info;

	for (;;) {
		int signal = sigwaitinfo(taken, &info);

		if (signal < 0 && errno != EINTR)
			return cli_error("%s", strerror(errno));
		/* Whoever sent it: one of the child's may have been merged with it. */
		if (signal == SIGCHLD && child_changed(child, &exit_code))
			return exit_code;
		if (signal > 0)
			forward(child, &info);
	}
}

int child_run(const char *path, char **argv)
{
	struct sigaction deflt = { .sa_handler = SIG_DFL }, sigchld;
	pid_t parent = getpid(), child;
	sigset_t taken, mask;

	sigfillset(&taken);
	sigprocmask(SIG_BLOCK, &taken, &mask);
	sigaction(SIGCHLD, &deflt, &sigchld); /* ignored, it would take the exit status with it */
	child = fork();
	if (child < 0)
		return cli_error("cannot start a process: %s", strerror(errno));
	if (!child && child_is_orphan(parent))
		_exit(CLI_FAILED);
	if (!child)
		child_exec(path, argv, &mask, &sigchld);
	return child_wait(child, &taken);
}
