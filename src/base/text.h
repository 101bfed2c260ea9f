/* SPDX-License-Identifier: MIT */
/*
 * Text into a buffer of fixed size: no allocation, no locale, signal-safe. What does not fit is
 * counted and dropped, so that @len is the length the whole text would have; the
 * text is always ended by a NUL.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/compiler.h"

struct text {
	char *buf;  /* where the text goes */
	size_t cap; /* its size, NUL included */
	size_t len; /* length so far, beyond cap when it did not fit */
};

void text_init(struct text *text, char *buf, size_t cap);
void text_char(struct text *text, char c);
void text_str(struct text *text, const char *s);
void text_u64(struct text *text, uint64_t value);
void text_line(struct text *text, const char *key, uint64_t value); /* "key value\n" */

#endif
