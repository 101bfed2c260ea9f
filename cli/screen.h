/* SPDX-License-Identifier: MIT */
/* A terminal that is drawn again and again, and left as it was. */
#ifndef MEMCG_CLI_SCREEN_H
#define MEMCG_CLI_SCREEN_H

#include <stdbool.h>

void screen_begin(bool terminal); /* from here on signals end the wait; a terminal's keys are read one by one */
void screen_end(void);
void screen_size(int *rows, int *columns);
bool screen_wait(double seconds); /* false: somebody wants it to end, by q or a signal */

#endif
