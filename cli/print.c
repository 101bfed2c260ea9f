/* SPDX-License-Identifier: MIT */
/* What the commands print. */
#include "print.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Length of the UTF-8 sequence that begins at s; 0 where there is none. */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char least, most; /* of the second */
		size_t len;
	} forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*s < forms[i].first || *s > forms[i].last)
			continue;
		if (forms[i].len > 1 && (s[1] < forms[i].least || s[1] > forms[i].most))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].len;
	}
	return 0;
}

/* C0, DEL, and C1 in its two-byte form. */
static bool is_control(const unsigned char *s)
{
	return *s < ' ' || *s == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

char *print_name(const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	char *text = malloc(4 * strlen(name) + 1), *at = text;

	if (!text)
		abort();
	while (*s) {
		size_t len = utf8_length(s);

		if (len && !is_control(s)) {
			memcpy(at, s, len);
			at += len;
			s += len;
			continue;
		}
		for (len = len ? len : 1; len; len--)
			at += sprintf(at, "\\x%02x", *s++);
	}
	*at = '\0';
	return text;
}

int print_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

const char *print_amount(const char *bytes, char *buf)
{
	static const char units[] = "KMGTPE";
	char *end;
	double amount = strtod(bytes, &end);
	size_t unit = 0;

	if (*end || *bytes < '0' || *bytes > '9' || amount < 1024) {
		snprintf(buf, AMOUNT_SIZE, "%s", bytes);
		return buf;
	}
	amount /= 1024;
	while (amount >= 1023.95 && units[unit + 1]) { /* it would be printed as 1024.0 */
		amount /= 1024;
		unit++;
	}
	snprintf(buf, AMOUNT_SIZE, "%.1f%c", amount, units[unit]);
	return buf;
}

void print_json_string(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', to);
	while (*s) {
		size_t len = utf8_length(s);

		if (!len)
			fputs("\\ufffd", to);
		else if (*s < ' ' || *s == '"' || *s == '\\' || *s == 0x7f)
			fprintf(to, "\\u%04x", *s);
		else
			fwrite(s, 1, len, to);
		s += len ? len : 1;
	}
	putc('"', to);
}

void print_json_amount(FILE *to, const char *amount)
{
	if (*amount && strspn(amount, "0123456789") == strlen(amount))
		fputs(amount, to);
	else
		print_json_string(to, amount);
}

static bool wants_colour(void)
{
	static int wants = -1;

	if (wants < 0) {
		const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

		wants = isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
	}
	return wants;
}

const char *print_colour(enum print_colour colour)
{
	static const char *const codes[] = {
		[COLOUR_NONE] = "\033[0m",
		[COLOUR_HEAD] = "\033[1m",
		[COLOUR_FULL] = "\033[31m",
	};

	return wants_colour() ? codes[colour] : "";
}
