/* SPDX-License-Identifier: MIT */
/*
 * cgroup.subtree_control: which controllers the groups below have. There is one, memory, and every group has
 * it: it can be asked for, and not be taken away.
 */
#include <errno.h>
#include <string.h>

#include "files/table.h"

static bool token_is(const char *token, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(token, name, len);
}

/* Words by spaces, each "+memory" or "-memory"; the last one holds. */
int controllers_write(struct memcg *memcg, const char *text)
{
	bool on = true;

	(void)memcg;
	while (*text) {
		size_t len = strcspn(text, " ");

		if (token_is(text, len, "+memory"))
			on = true;
		else if (token_is(text, len, "-memory"))
			on = false;
		else if (len)
			return -EINVAL;
		text += len;
		text += *text == ' ';
	}
	return on ? 0 : -EOPNOTSUPP;
}
