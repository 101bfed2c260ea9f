/* SPDX-License-Identifier: MIT */
/* What writes are parsed with, beyond what a kernel was asked (test_record.c). */
#include "support/child.h"

#include <memcg/files.h>

#include "counter/page_counter.h"
#include "files/table.h"

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
		cmocka_unit_test(long_writes),
		cmocka_unit_test(blanks),
		cmocka_unit_test(pages),
		cmocka_unit_test(ints),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
