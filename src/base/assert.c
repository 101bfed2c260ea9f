/* SPDX-License-Identifier: MIT */
/* The end of a failed assert: one line on stderr, without stdio, then abort. */
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sim.h"
#include "base/text.h"

void assert_failed(const char *expr, const char *file, int line)
{
	char line_buf[256];
	struct text text;

	sim_assert_fail(expr, file, line);
	text_init(&text, line_buf, sizeof(line_buf));
	text_str(&text, "libmemcg: assertion failed: ");
	text_str(&text, expr);
	text_str(&text, " at ");
	text_str(&text, file);
	text_str(&text, ":");
	text_u64(&text, (uint64_t)line);
	text_str(&text, "\n");
	if (write(STDERR_FILENO, line_buf, text.len < sizeof(line_buf) ? text.len : sizeof(line_buf) - 1) < 0)
		abort();
	abort();
}
