/* SPDX-License-Identifier: MIT */
/* Event descriptors: readable while their count is not 0. Nonblocking, close-on-exec. */
#ifndef BASE_EVENTFD_H
#define BASE_EVENTFD_H

int event_open(void);     /* the descriptor; negative errno */
int event_dup(int fd);    /* another number of the same */
void event_fire(int fd);  /* context: nowait; errno is kept */
void event_clear(int fd); /* not readable until it fires again */
void event_shut(int fd);  /* -1 is ignored */

#endif
