/* SPDX-License-Identifier: MIT */
/*
 * Descriptors in a program that is not ours.
 *
 * Programs close what they do not know (daemons, shells), and then open files of their own under the same numbers. So
 * ours are high numbers, where programs do not look, and before each use a descriptor's file is asked whether it
 * is still the one that we opened. What is not is left alone.
 */
#ifndef CONTROL_FD_H
#define CONTROL_FD_H

#include <sys/types.h>

#include "base/compiler.h"

struct control_fd {
	int fd;    /* -1: none; changed under the control lock, so that fork finds all; atomic */
	dev_t dev; /* of the file behind it */
	ino_t ino; /* the same */
};

int control_fd_high(int fd); /* the same file under a high number, closed at exec; @fd itself is closed */
int control_fd_take(struct control_fd *own,
		    int fd); /* @fd, moved up, becomes @own's; negative errno, as given or found */
bool control_fd_ours(const struct control_fd *own); /* false: somebody closed it */
void control_fd_drop(struct control_fd *own);       /* closes it, if it is ours */

#endif
