/* SPDX-License-Identifier: MIT */
/*
 * An amount as memory.max takes it: the kernel's memparse(), or "max". That is a number,
 * hexadecimal after 0x and octal after 0, and at most one of K M G T P E in either case.
 *
 * Three things the files accept are refused here, since on a command line they are mistakes: no digits at all, which
 * means 0, what does not fit 64 bits, which means max, and what is longer than any number that does.
 */
#include "run_size.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fits(unsigned long long number, unsigned int shift)
{
	return number << shift >> shift == number;
}

/* By hand: strtoull() of newer C libraries also knows 0b. */
static int base_of(const char *text)
{
	if (text[0] != '0')
		return 10;
	return text[1] == 'x' || text[1] == 'X' ? 16 : 8;
}

bool run_size_is_valid(const char *text)
{
	static const char units[] = "KMGTPE";
	unsigned long long number;
	const char *unit;
	char *end;

	if (!strcmp(text, "max"))
		return true;
	if (strlen(text) >= RUN_SIZE_BYTES)
		return false;
	if (!isdigit((unsigned char)*text)) /* strtoull() would skip blanks and take a sign */
		return false;
	errno = 0;
	number = strtoull(text, &end, base_of(text));
	if (errno)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, toupper((unsigned char)*end));
	return unit && !end[1] && fits(number, 10 * (unsigned int)(unit - units + 1));
}
