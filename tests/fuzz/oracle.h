/* SPDX-License-Identifier: MIT */
/*
 * What the numbers in interface files mean, said another way than src/files/parse.c: a regular expression for
 * what is well formed, 128-bit arithmetic for the value.
 */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include <errno.h>
#include <regex.h>

#include "fuzz/fuzz.h"

#define ORACLE_NUMBER "(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)"
#define ORACLE_MAX_PAGES ((unsigned long)((((__int128)1 << 63) - 1) / 4096))

static inline int oracle_matches(regex_t *regex, const char *pattern, const char *text)
{
	if (!regex->re_nsub)
		must(regcomp(regex, pattern, REG_EXTENDED) == 0);
	return regexec(regex, text, 0, NULL, 0) == 0;
}

/* A well-formed number at the head of @text: its value, or 2^100 where it is beyond. @end: what follows. */
static inline __int128 oracle_value(const char *text, const char **end)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const __int128 beyond = (__int128)1 << 100;
	int base = 10;
	__int128 value = 0;

	if (text[0] == '0')
		base = text[1] == 'x' || text[1] == 'X' ? 16 : 8;
	if (base == 16)
		text += 2;
	for (; *text; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit || (digit - digits) % 16 >= base)
			break;
		value = value * base + (digit - digits) % 16;
		if (value > beyond)
			value = beyond;
	}
	*end = text;
	return value;
}

/* As parse_pages(). */
static inline int oracle_pages(const char *text, unsigned long *pages)
{
	static const char suffixes[] = "kKmMgGtTpPeE";
	static regex_t regex;
	__int128 bytes;
	const char *end;

	if (strcmp(text, "max") == 0) {
		*pages = ORACLE_MAX_PAGES;
		return 0;
	}
	if (!oracle_matches(&regex, "^(" ORACLE_NUMBER ")?[kKmMgGtTpPeE]?$", text))
		return -EINVAL;
	bytes = oracle_value(text, &end);
	if (*end) {
		int thousands = (int)(strchr(suffixes, *end) - suffixes) / 2 + 1;

		while (thousands-- && bytes < (__int128)1 << 100)
			bytes *= 1024;
	}
	bytes /= 4096;
	*pages = bytes < (__int128)ORACLE_MAX_PAGES ? (unsigned long)bytes : ORACLE_MAX_PAGES;
	return 0;
}

/* As parse_int(): a magnitude that no positive long has is out of range. */
static inline int oracle_int(const char *text, long *value)
{
	static regex_t regex;
	__int128 magnitude;
	const char *end;

	if (!oracle_matches(&regex, "^[-+]?" ORACLE_NUMBER "$", text))
		return -EINVAL;
	magnitude = oracle_value(text + strspn(text, "-+"), &end);
	if (magnitude > ((__int128)1 << 63) - 1)
		return -ERANGE;
	*value = (long)(*text == '-' ? -magnitude : magnitude);
	return 0;
}

#endif
