/* SPDX-License-Identifier: MIT */
/* What --set and --map take. */
#include "run_list.h"
#include <memcg/memcg.h>
#include <string.h>

/* Letters, digits, '_', and at least one '.', as all files have: the length, 0: none. */
static size_t file_length(const char *text, size_t len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	size_t n = 0;

	while (n < len && text[n] && strchr(letters, text[n]))
		n++;
	return memchr(text, '.', n) ? n : 0;
}

/* Could all parts of the path be names? */
static bool is_path(const struct run_part *path)
{
	size_t begin = 0, depth = 0;

	for (size_t i = 0; i <= path->len; i++) {
		size_t len = i - begin;

		if (i < path->len && path->text[i] != '/')
			continue;
		if (len > MEMCG_NAME_MAX || (len == 1 && path->text[begin] == '.') ||
		    (len == 2 && !memcmp(path->text + begin, "..", 2)))
			return false;
		depth += len > 0;
		begin = i + 1;
	}
	return depth <= MEMCG_DEPTH_MAX && !memchr(path->text, '\n', path->len);
}

/* The first part that is a file's name with '=' behind it: a group's name may have both, but not that. */
bool run_setting_parse(const char *text, size_t len, struct run_setting *setting)
{
	size_t at = 0;

	if (memchr(text, '\n', len))
		return false;
	for (;;) {
		size_t file = file_length(text + at, len - at);
		const char *slash;

		if (file && at + file < len && text[at + file] == '=') {
			setting->group = (struct run_part){ text, at ? at - 1 : 0 };
			setting->file = (struct run_part){ text + at, file };
			setting->value = (struct run_part){ text + at + file + 1, len - at - file - 1 };
			return setting->value.len && is_path(&setting->group);
		}
		slash = memchr(text + at, '/', len - at);
		if (!slash)
			return false;
		at = (size_t)(slash - text) + 1;
	}
}

bool run_rule_parse(const char *text, size_t len, struct run_rule *rule)
{
	const char *equals = memchr(text, '=', len);

	if (!equals || equals == text || memchr(text, '\n', len))
		return false;
	rule->pattern = (struct run_part){ text, (size_t)(equals - text) };
	rule->group = (struct run_part){ equals + 1, len - rule->pattern.len - 1 };
	return rule->group.len && is_path(&rule->group);
}
