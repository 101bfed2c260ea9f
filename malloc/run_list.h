/* SPDX-License-Identifier: MIT */
/*
 * What --set and --map take, for `memcg run` and for the library that it hands it to: MEMCG_RUN_SET and MEMCG_RUN_MAP
 * have one on each line.
 */
#ifndef MEMCG_RUN_LIST_H
#define MEMCG_RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#define RUN_LIST_BYTES 16384 /* of a variable, with its NUL */

/* Parts of a text, without a NUL of their own. */
struct run_part {
	const char *text;
	size_t len;
};

/* GROUP/FILE=VALUE: FILE is what a name of a file looks like, "memory.max" in "a/memory.max=1M". "" as GROUP is the root. */
struct run_setting {
	struct run_part group, file, value;
};

/* PATTERN=GROUP: split at the first '='. */
struct run_rule {
	struct run_part pattern, group;
};

#define RUN_HIDDEN __attribute__((visibility("hidden")))

/* False: not of this form, or with a group that there cannot be. */
RUN_HIDDEN bool run_setting_parse(const char *text, size_t len, struct run_setting *setting);
RUN_HIDDEN bool run_rule_parse(const char *text, size_t len, struct run_rule *rule);

#endif
