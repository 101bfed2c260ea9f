/* SPDX-License-Identifier: MIT */
/* Numbers in interface files, by the kernel's rules (recorded on Linux 7.2). */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "files/table.h"

static int digit_value(char c, unsigned int base)
{
	unsigned int v;

	if (c >= '0' && c <= '9')
		v = (unsigned int)(c - '0');
	else if ((c | 32) >= 'a' && (c | 32) <= 'f')
		v = (unsigned int)((c | 32) - 'a') + 10;
	else
		return -1;
	return v < base ? (int)v : -1;
}

/* "0x" makes hexadecimal only before a digit of it; a leading 0 makes octal. */
static unsigned int base_of(const char **text)
{
	const char *s = *text;

	if (s[0] != '0')
		return 10;
	if ((s[1] | 32) == 'x' && digit_value(s[2], 16) >= 0) {
		*text += 2;
		return 16;
	}
	return 8;
}

/* Digits; a value that does not fit saturates. Returns what follows them. */
static const char *parse_u64(const char *text, uint64_t *value)
{
	unsigned int base = base_of(&text);
	bool fits = true;
	int digit;

	*value = 0;
	while ((digit = digit_value(*text, base)) >= 0) {
		fits = fits && !__builtin_mul_overflow(*value, (uint64_t)base, value) &&
		       !__builtin_add_overflow(*value, (uint64_t)digit, value);
		text++;
	}
	if (!fits)
		*value = UINT64_MAX;
	return text;
}

int parse_pages(const char *text, unsigned long *pages)
{
	static const char suffixes[] = "kmgtpe";
	const char *suffix;
	uint64_t bytes;

	if (!strcmp(text, "max")) {
		*pages = PAGE_COUNTER_MAX;
		return 0;
	}
	text = parse_u64(text, &bytes);
	suffix = *text ? strchr(suffixes, *text | 32) : NULL;
	if (suffix) {
		unsigned int shift = 10 * (unsigned int)(suffix - suffixes + 1);

		bytes = bytes > UINT64_MAX >> shift ? UINT64_MAX : bytes << shift;
		text++;
	}
	if (*text)
		return -EINVAL;
	*pages = bytes / MEMCG_PAGE_SIZE < PAGE_COUNTER_MAX ? bytes / MEMCG_PAGE_SIZE : PAGE_COUNTER_MAX;
	return 0;
}

int parse_int(const char *text, long *value)
{
	bool negative = *text == '-';
	uint64_t number;
	const char *end;

	text += *text == '-' || *text == '+';
	if (digit_value(*text, 10) < 0)
		return -EINVAL;
	end = parse_u64(text, &number);
	if (*end)
		return -EINVAL;
	if (number > (uint64_t)INT64_MAX)
		return -ERANGE;
	*value = negative ? -(long)number : (long)number;
	return 0;
}

int parse_int32(const char *text, int *value)
{
	long number;
	int err = parse_int(text, &number);

	if (!err && (number < INT_MIN || number > INT_MAX))
		err = -ERANGE;
	if (!err)
		*value = (int)number;
	return err;
}

void text_pages(struct text *out, unsigned long pages)
{
	if (pages >= PAGE_COUNTER_MAX)
		text_str(out, "max");
	else
		text_u64(out, (uint64_t)pages * MEMCG_PAGE_SIZE);
	text_char(out, '\n');
}
