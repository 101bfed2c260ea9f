/* SPDX-License-Identifier: MIT */
/* Text into a buffer of fixed size. */
#include "base/text.h"

void text_init(struct text *text, char *buf, size_t cap)
{
	text->buf = buf;
	text->cap = cap;
	text->len = 0;
	if (cap)
		buf[0] = '\0';
}

void text_char(struct text *text, char c)
{
	if (text->len + 1 < text->cap) {
		text->buf[text->len] = c;
		text->buf[text->len + 1] = '\0';
	}
	text->len++;
}

void text_str(struct text *text, const char *s)
{
	while (*s)
		text_char(text, *s++);
}

void text_u64(struct text *text, uint64_t value)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		text_char(text, digits[--n]);
}

void text_line(struct text *text, const char *key, uint64_t value)
{
	text_str(text, key);
	text_char(text, ' ');
	text_u64(text, value);
	text_char(text, '\n');
}
