/* SPDX-License-Identifier: MIT */
/* Writes to limit files give byte for byte what a kernel gave: return, errno, value afterwards. */
#include "support/child.h"

#include <memcg/files.h>

#include "counter/page_counter.h"
#include "files/table.h"
#include "files/write_facts.h"

static struct memcg *group;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };
	int err = memcg_init(&options);

	(void)state;
	return err ? err : memcg_create(NULL, "x", &group);
}

static int stop(void **state)
{
	int err = memcg_destroy(group);

	(void)state;
	memcg_put(group);
	memcg_tick();
	return err;
}

static void replay(const char *file, const char *reset, const struct fact *facts, size_t nr)
{
	char back[64];
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct fact *fact = &facts[i];
		long expected = fact->ret < 0 ? -fact->err : fact->ret;
		long ret;

		assert_int_equal(memcg_write(group, file, reset, strlen(reset)), strlen(reset));
		ret = memcg_write(group, file, fact->text, fact->len);
		assert_true(memcg_read(group, file, back, sizeof(back)) > 0);
		if (ret != expected || strcmp(back, fact->back) != 0)
			print_error("%s \"%s\": %ld, %s", file, fact->text, ret, back);
		assert_int_equal(ret, expected);
		assert_string_equal(back, fact->back);
	}
}

static void amounts(void **state)
{
	static const char *const files[] = { "memory.max", "memory.high", "memory.low", "memory.min" };
	size_t i;

	(void)state;
	assert_true(array_size(amount_facts) >= 70);
	for (i = 0; i < array_size(files); i++) {
		replay(files[i], "12288", amount_facts, array_size(amount_facts));
		assert_int_equal(memcg_write(group, files[i], i < 2 ? "max" : "0", i < 2 ? 3 : 1), i < 2 ? 3 : 1);
	}
}

static void counts(void **state)
{
	(void)state;
	assert_true(array_size(count_facts) >= 70);
	replay("cgroup.max.depth", "3", count_facts, array_size(count_facts));
	replay("cgroup.max.descendants", "3", count_facts, array_size(count_facts));
}

/* "4096" padded by blanks: 4096 bytes are accepted, one more is not. */
static void long_writes(void **state)
{
	static const char *const files[] = { "memory.max", "memory.high",      "memory.low",
					     "memory.min", "cgroup.max.depth", "cgroup.max.descendants",
					     "memory.peak" };
	static char text[65536];
	char back[64];
	size_t i;

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "4096", 4);
	for (i = 0; i < array_size(files); i++) {
		assert_int_equal(memcg_write(group, files[i], text, 4095), 4095);
		assert_int_equal(memcg_write(group, files[i], text, 4096), 4096);
		assert_int_equal(memcg_write(group, files[i], text, 4097), -E2BIG);
		assert_int_equal(memcg_write(group, files[i], text, sizeof(text)), -E2BIG);
		if (strcmp(files[i], "memory.peak") != 0) {
			memcg_read(group, files[i], back, sizeof(back));
			assert_string_equal(back, "4096\n");
		}
	}
	assert_int_equal(memcg_write(group, "memory.max", "max", 3), 3);
	assert_int_equal(memcg_write(group, "memory.high", "max", 3), 3);
	assert_int_equal(memcg_write(group, "cgroup.max.depth", "max", 3), 3);
	assert_int_equal(memcg_write(group, "cgroup.max.descendants", "max", 3), 3);
}

/* All blanks of isspace(), and a whole page of them. */
static void blanks(void **state)
{
	static char text[4096];
	char back[64];

	(void)state;
	assert_int_equal(memcg_write(group, "memory.low", " \t\n\v\f\r8192 \t\n\v\f\r", 16), 16);
	memcg_read(group, "memory.low", back, sizeof(back));
	assert_string_equal(back, "8192\n");
	memset(text, ' ', sizeof(text));
	assert_int_equal(memcg_write(group, "memory.low", text, sizeof(text)), 4096); /* as a lone newline */
	memcg_read(group, "memory.low", back, sizeof(back));
	assert_string_equal(back, "0\n");
	assert_int_equal(memcg_write(group, "cgroup.max.depth", text, sizeof(text)), -EINVAL);
}

/* What the files parse with, beyond what a kernel was asked. */
static void pages(void **state)
{
	static const struct {
		const char *text;
		unsigned long pages;
	} good[] = {
		{ "", 0 },
		{ "8191", 1 },
		{ "0xFFFF", 15 },
		{ "0XffffK", 65535UL / 4 },
		{ "0777777", 63 },
		{ "4g", 1UL << 20 },
		{ "1e", 1UL << 48 },
		{ "0e", 0 },
		{ "9223372036854767616", PAGE_COUNTER_MAX - 1 },
		{ "0x1ffffffffffffffff", PAGE_COUNTER_MAX },
		{ "000000000000000000000000010000", 1 },
	};
	static const char *const bad[] = { "1kb", "0xg", "0xK1", "09", "max1", "mat", "ma", "1 k", "--1" };
	unsigned long value;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(good); i++) {
		value = ~0UL;
		assert_int_equal(parse_pages(good[i].text, &value), 0);
		assert_int_equal(value, good[i].pages);
	}
	for (i = 0; i < array_size(bad); i++) {
		assert_int_equal(parse_pages(bad[i], &value), -EINVAL);
	}
}

static void ints(void **state)
{
	static const struct {
		const char *text;
		long value;
	} good[] = {
		{ "0", 0 },     { "-0", 0 },    { "+7", 7 },      { "-5", -5 },
		{ "0x10", 16 }, { "-010", -8 }, { "+0x7f", 127 }, { "9223372036854775807", INT64_MAX },
	};
	static const char *const bad[] = { "", "-", "+", "+-1", "0x", "08", "1k", " 1", "1 ", "a", "max" };
	long value;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(good); i++) {
		assert_int_equal(parse_int(good[i].text, &value), 0);
		assert_int_equal(value, good[i].value);
	}
	for (i = 0; i < array_size(bad); i++)
		assert_int_equal(parse_int(bad[i], &value), -EINVAL);
	assert_int_equal(parse_int("9223372036854775808", &value), -ERANGE);
	assert_int_equal(parse_int("-99999999999999999999999", &value), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts), cmocka_unit_test(counts), cmocka_unit_test(long_writes),
		cmocka_unit_test(blanks),  cmocka_unit_test(pages),  cmocka_unit_test(ints),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
