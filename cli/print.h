/* SPDX-License-Identifier: MIT */
/* What the commands print: names that may hold anything, amounts, JSON, colours. */
#ifndef MEMCG_CLI_PRINT_H
#define MEMCG_CLI_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#define AMOUNT_SIZE 16

/* A name for a terminal: control characters, and bytes that are no UTF-8, as \xNN. free() it; never NULL. */
char *print_name(const char *name);
int print_width(const char *text); /* columns of such a name: its characters */

/* "64.0M" of "67108864"; "max" and what is no number as it is. */
const char *print_amount(const char *bytes, char *buf);

void print_json_string(FILE *to, const char *text);   /* what is no UTF-8 becomes U+FFFD */
void print_json_amount(FILE *to, const char *amount); /* a number, or the string "max" */

enum print_colour {
	COLOUR_NONE,
	COLOUR_HEAD, /* the line of column names */
	COLOUR_FULL, /* a group near its limit */
};

/* "" where there is no terminal, NO_COLOR is set, or the terminal cannot. */
const char *print_colour(enum print_colour colour);

#endif
