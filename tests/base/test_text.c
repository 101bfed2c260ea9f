/* SPDX-License-Identifier: MIT */
/* Text into a buffer of fixed size: what does not fit is counted, never written. */
#include "support/child.h"

#include "base/text.h"

static void builds_text(void **state)
{
	char buf[64];
	struct text text;

	(void)state;
	text_init(&text, buf, sizeof(buf));
	assert_string_equal(buf, "");
	text_str(&text, "a");
	text_char(&text, ' ');
	text_u64(&text, 0);
	text_char(&text, ' ');
	text_u64(&text, UINT64_MAX);
	assert_string_equal(buf, "a 0 18446744073709551615");
	assert_int_equal(text.len, strlen(buf));
	text_init(&text, buf, sizeof(buf));
	text_line(&text, "anon", 4096);
	assert_string_equal(buf, "anon 4096\n");
	assert_int_equal(text.len, 10);
}

static void overflow_is_counted_and_ends_with_nul(void **state)
{
	size_t cap;

	(void)state;
	for (cap = 1; cap <= 16; cap++) {
		char buf[32];
		struct text text;

		memset(buf, 0x5a, sizeof(buf));
		text_init(&text, buf, cap);
		text_line(&text, "memory.max", 123456); /* 18 bytes */
		assert_int_equal(text.len, 18);
		assert_int_equal(strlen(buf), cap - 1);
		assert_memory_equal(buf, "memory.max 123456\n", cap - 1);
		assert_int_equal((unsigned char)buf[cap], 0x5a);
	}
}

static void exact_fit_needs_room_for_nul(void **state)
{
	char buf[4] = { 'x', 'x', 'x', 'x' };
	struct text text;

	(void)state;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "abc");
	assert_string_equal(buf, "abc");
	text_char(&text, 'd');
	assert_string_equal(buf, "abc");
	assert_int_equal(text.len, 4);
}

static void no_buffer_only_counts(void **state)
{
	char canary = 'c';
	struct text text;

	(void)state;
	text_init(&text, &canary, 0);
	text_str(&text, "hello");
	assert_int_equal(text.len, 5);
	assert_int_equal(canary, 'c');
	text_init(&text, NULL, 0);
	text_u64(&text, 1234567);
	assert_int_equal(text.len, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_text),
		cmocka_unit_test(overflow_is_counted_and_ends_with_nul),
		cmocka_unit_test(exact_fit_needs_room_for_nul),
		cmocka_unit_test(no_buffer_only_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
