/* SPDX-License-Identifier: MIT */
/* memcg-sim's complaints: one line each on standard error, and exit code 2. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "explore/explore.h"

int sim_error(const char *format, ...)
{
	char line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (char *c = line; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?'; /* a word with a newline in it: still one line */
	fprintf(stderr, "memcg-sim: %s\n", line);
	return 2;
}

int sim_finish(int code)
{
	return fflush(stdout) || ferror(stdout) ? sim_error("cannot write to standard output") : code;
}
