/* SPDX-License-Identifier: MIT */
/* A terminal that is drawn again and again, and left as it was. */
#include "screen.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ending; /* a signal came */
static struct termios before;        /* of the terminal that keys come from */
static bool keys;                    /* they are read */
static sigset_t unblocked;           /* the mask outside of waits */

static void on_signal(int signal)
{
	(void)signal;
	ending = 1;
}

void screen_begin(bool terminal)
{
	static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct sigaction old;

		/* What is ignored, as under nohup, stays ignored. */
		if (sigaction(endings[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue;
		sigaction(endings[i], &action, NULL);
		sigaddset(&blocked, endings[i]);
	}
	/* They arrive in a wait only: none is lost before one. */
	sigprocmask(SIG_BLOCK, &blocked, &unblocked);
	keys = terminal && isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &before);
	if (keys) {
		struct termios raw = before;

		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
}

void screen_end(void)
{
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	keys = false;
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

void screen_size(int *rows, int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

bool screen_wait(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds,
				 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
	struct pollfd polled = { .fd = keys ? STDIN_FILENO : -1, .events = POLLIN };
	char key = 0;

	if (ppoll(&polled, 1, &time, &unblocked) > 0 && read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q'))
		return false;
	return !ending;
}
