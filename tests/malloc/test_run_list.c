/* SPDX-License-Identifier: MIT */
/* What --set and --map take: where their parts are, and what is none. */
#include "support/child.h"

#include "run_list.h"

static bool is(const struct run_part *part, const char *text)
{
	return part->len == strlen(text) && !memcmp(part->text, text, part->len);
}

static void settings(void **state)
{
	static const char *const all[][4] = {
		{ "a/memory.max=64M", "a", "memory.max", "64M" },
		{ "a/b/c/memory.max=max", "a/b/c", "memory.max", "max" },
		{ "memory.max=1", "", "memory.max", "1" },
		{ "/memory.max=1", "", "memory.max", "1" },
		{ "/a/memory.max=1", "/a", "memory.max", "1" },
		{ "a=b/memory.max=1", "a=b", "memory.max", "1" },
		{ "memory.max/memory.high=1", "memory.max", "memory.high", "1" },
		{ "a b/memory.reclaim=1M swappiness=0", "a b", "memory.reclaim", "1M swappiness=0" },
		{ "a/cgroup.max.depth=a/b", "a", "cgroup.max.depth", "a/b" },
		{ "x.y=1/memory.max=1", "", "x.y", "1/memory.max=1" },
	};
	struct run_setting setting;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		assert_true(run_setting_parse(all[i][0], strlen(all[i][0]), &setting));
		assert_true(is(&setting.group, all[i][1]));
		assert_true(is(&setting.file, all[i][2]));
		assert_true(is(&setting.value, all[i][3]));
	}
}

static void wrong_settings(void **state)
{
	static const char *const all[] = {
		"",
		"=",
		"/",
		"a",
		"a/b",
		"a=1",
		"a/memory.max",
		"a/memory.max=",
		"a/memory max=1",
		"a/MEMORY.MAX=1",
		"a/memorymax=1",
		"../memory.max=1",
		"a/./memory.max=1",
		"a/../memory.max=1",
		"a\nb/memory.max=1",
		"a/memory.max=1\n2",
	};
	struct run_setting setting;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++)
		assert_false(run_setting_parse(all[i], strlen(all[i]), &setting));
}

static void rules(void **state)
{
	static const char *const all[][3] = {
		{ "bio_*=bg", "bio_*", "bg" },
		{ "a=b=c", "a", "b=c" },
		{ "[a-c]?=x/y z", "[a-c]?", "x/y z" },
	};
	static const char *const wrong[] = { "", "=", "a", "a=", "=a", "a=..", "a=b/../c", "a\n=b", "a=b\nc" };
	struct run_rule rule;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		assert_true(run_rule_parse(all[i][0], strlen(all[i][0]), &rule));
		assert_true(is(&rule.pattern, all[i][1]));
		assert_true(is(&rule.group, all[i][2]));
	}
	for (i = 0; i < array_size(wrong); i++)
		assert_false(run_rule_parse(wrong[i], strlen(wrong[i]), &rule));
}

static void long_paths(void **state)
{
	char text[64 * 256 + 64];
	struct run_setting setting;
	size_t len = 0;
	int i;

	(void)state;
	for (i = 0; i < 63; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%0255d/", i);
	strcpy(text + len, "memory.max=1");
	assert_true(run_setting_parse(text, strlen(text), &setting));
	strcpy(text + len, "x/memory.max=1");
	assert_false(run_setting_parse(text, strlen(text), &setting));
	snprintf(text, sizeof(text), "%0256d/memory.max=1", 1);
	assert_false(run_setting_parse(text, strlen(text), &setting));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings),
		cmocka_unit_test(wrong_settings),
		cmocka_unit_test(rules),
		cmocka_unit_test(long_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
