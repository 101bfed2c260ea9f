/* SPDX-License-Identifier: MIT */
/* The parser of requests: what is one, what is not yet, what is none, and what is behind which nobody knows where to go on. */
#include "support/child.h"

#include "control/request.h"

static char buf[REQUEST_MAX + 64];
static struct control_request request;

static struct request_result parse_bytes(const char *bytes, size_t len)
{
	must(len <= sizeof(buf));
	memset(buf, 'x', sizeof(buf));
	memcpy(buf, bytes, len);
	memset(&request, 0, sizeof(request));
	return request_parse(buf, len, &request);
}

static struct request_result parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void requests(void **state)
{
	static const struct {
		const char *text;
		enum control_verb verb;
		const char *file;
		const char *group;
	} all[] = {
		{ "read memory.max tenants/a\n", VERB_READ, "memory.max", "tenants/a" },
		{ "read memory.max a b  c \n", VERB_READ, "memory.max", "a b  c " },
		{ "read memory.max \n", VERB_READ, "memory.max", "" },
		{ "watch memory.events /\n", VERB_WATCH, "memory.events", "/" },
		{ "list /\n", VERB_LIST, NULL, "/" },
		{ "list \n", VERB_LIST, NULL, "" },
		{ "list  \n", VERB_LIST, NULL, " " },
		{ "tree a\tb\n", VERB_TREE, NULL, "a\tb" },
		{ "files /\n", VERB_FILES, NULL, "/" },
		{ "mkdir a/\xff\n", VERB_MKDIR, NULL, "a/\xff" },
		{ "rmdir a\n", VERB_RMDIR, NULL, "a" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		struct request_result result = parse(all[i].text);

		assert_int_equal(result.state, REQUEST_READY);
		assert_int_equal(result.used, strlen(all[i].text));
		assert_int_equal(request.verb, all[i].verb);
		assert_string_equal(request.group, all[i].group);
		if (all[i].file)
			assert_string_equal(request.file, all[i].file);
		else
			assert_null(request.file);
		assert_int_equal(request.value_len, 0);
	}
}

static void writes(void **state)
{
	static const char text[] = "write memory.max 8 a b\n1\n2 \0 34rest";
	struct request_result result = parse_bytes(text, sizeof(text) - 1);

	(void)state;
	assert_int_equal(result.state, REQUEST_READY);
	assert_int_equal(request.value_len, 8);
	assert_memory_equal(request.value, "1\n2 \0 34", 8);
	assert_string_equal(request.group, "a b");
	assert_int_equal(result.used, sizeof(text) - 1 - strlen("rest"));
	assert_int_equal(parse("write f 0 g\nread").used, 12);
	assert_int_equal(parse("write f 0000 g\n").state, REQUEST_READY);
}

/* However it is cut, nothing is decided, and nothing changed, before it is whole. */
static void cut(void **state)
{
	static const char *const all[] = { "read memory.max tenants/a\n", "write memory.max 4 x\nabcd", "tree /\n" };
	size_t i, len;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		for (len = 0; len < strlen(all[i]); len++) {
			assert_int_equal(parse_bytes(all[i], len).state, REQUEST_MORE);
			assert_memory_equal(buf, all[i], len);
		}
		assert_int_equal(parse(all[i]).state, REQUEST_READY);
	}
}

static void wrong(void **state)
{
	static const char *const all[] = {
		"\n",
		" \n",
		"read\n",
		"read \n",
		"read f\n",
		"read  g\n",
		"Read f g\n",
		"reads f g\n",
		"rea f g\n",
		"list\n",
		" list /\n",
		"x /\n",
		"\xff\xfe\n",
		"writ f 1 g\n",
		"read 0123456789012345678901234567890123456789012345678901234567890123 g\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		struct request_result result = parse(all[i]);

		assert_int_equal(result.state, REQUEST_WRONG);
		assert_int_equal(result.used, strlen(all[i]));
		assert_int_equal(result.err, -EINVAL);
		assert_string_equal(result.what, "request");
	}
}

static void lost(void **state)
{
	static const char *const all[] = {
		"write f\n",
		"write f 1\n",
		"write f  g\n",
		"write f x g\n",
		"write f -1 g\n",
		"write f +1 g\n",
		"write f 0x1 g\n",
		"write f 00001 g\n",
		"write f 1x g\n",
		"write  1 g\n",
		"write 0123456789012345678901234567890123456789012345678901234567890123 1 g\n",
	};
	static const char nul[] = "list a\0b\n";
	size_t i;

	(void)state;
	for (i = 0; i < array_size(all); i++) {
		assert_int_equal(parse(all[i]).state, REQUEST_LOST);
		assert_int_equal(parse(all[i]).err, -EINVAL);
	}
	assert_int_equal(parse_bytes(nul, sizeof(nul) - 1).state, REQUEST_LOST);
	assert_int_equal(parse("write f 4097 g\n").state, REQUEST_LOST);
	assert_int_equal(parse("write f 4097 g\n").err, -E2BIG);
	assert_string_equal(parse("write f 4097 g\n").what, "value");
}

/* The longest that is one, and one byte more. */
static void long_lines(void **state)
{
	struct request_result result;

	(void)state;
	memset(buf, 'g', sizeof(buf));
	memcpy(buf, "list ", 5);
	assert_int_equal(request_parse(buf, REQUEST_LINE_MAX, &request).state, REQUEST_MORE);
	buf[REQUEST_LINE_MAX] = '\n';
	assert_int_equal(request_parse(buf, REQUEST_LINE_MAX + 1, &request).state, REQUEST_READY);
	assert_int_equal(strlen(request.group), REQUEST_LINE_MAX - 5);
	memset(buf, 'g', sizeof(buf));
	memcpy(buf, "list ", 5);
	result = request_parse(buf, REQUEST_LINE_MAX + 1, &request);
	assert_int_equal(result.state, REQUEST_LOST);
	assert_int_equal(result.err, -E2BIG);
	buf[REQUEST_LINE_MAX + 1] = '\n';
	assert_int_equal(request_parse(buf, REQUEST_LINE_MAX + 2, &request).state, REQUEST_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests), cmocka_unit_test(writes), cmocka_unit_test(cut),
		cmocka_unit_test(wrong),    cmocka_unit_test(lost),   cmocka_unit_test(long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
