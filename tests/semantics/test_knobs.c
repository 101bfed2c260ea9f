/* SPDX-License-Identifier: MIT */
/*
 * No knob only pretends: each file that can be written is obeyed, is refused, or stands in docs/files.md as not yet
 * enforced. A new file, or a document that says more than is done, ends this test.
 */
#include "files/record.h"

#include <memcg/charge.h>
#include <memcg/files.h>

#include "group/group.h"

static struct memcg *group;
static struct record docs;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options) };

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	return memcg_init(&options) || memcg_create(NULL, "x", &group);
}

static int stop(void **state)
{
	int err = memcg_destroy(group);

	(void)state;
	memcg_put(group);
	memcg_tick();
	return err;
}

static void put(const char *file, const char *text)
{
	assert_int_equal(memcg_write(group, file, text, strlen(text)), strlen(text));
}

/* What a file's write does, seen. */

static void max_is_obeyed(void)
{
	put("memory.max", "40960");
	assert_int_equal(memcg_charge(group, 10, 0), 0);
	assert_int_equal(memcg_charge(group, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	memcg_uncharge(group, 10);
	put("memory.max", "max");
}

static int make(struct memcg *parent, const char *name)
{
	struct memcg *made;
	int err = memcg_create(parent, name, &made);

	if (err)
		return err;
	assert_int_equal(memcg_destroy(made), 0);
	memcg_put(made);
	return 0;
}

static void depth_is_obeyed(void)
{
	struct memcg *made;

	put("cgroup.max.depth", "1");
	assert_int_equal(memcg_create(group, "y", &made), 0);
	assert_int_equal(make(made, "z"), -EAGAIN);
	put("cgroup.max.depth", "max");
	assert_int_equal(make(made, "z"), 0);
	assert_int_equal(memcg_destroy(made), 0);
	memcg_put(made);
}

static void descendants_are_obeyed(void)
{
	put("cgroup.max.descendants", "0");
	assert_int_equal(make(group, "y"), -EAGAIN);
	put("cgroup.max.descendants", "max");
	assert_int_equal(make(group, "y"), 0);
}

static void threads_are_moved(void)
{
	put("cgroup.threads", "0");
	assert_ptr_equal(memcg_current(), group);
	assert_int_equal(memcg_attach(NULL), 0);
}

/* A reset is that of an open file. */
static void peak_is_reset(void)
{
	struct memcg_file *file;
	char before[32], after[32];

	assert_int_equal(memcg_file_open(group, "memory.peak", O_RDWR, &file), 0);
	assert_int_equal(memcg_charge(group, 500, 0), 0);
	memcg_uncharge(group, 500);
	assert_true(memcg_file_read(file, before, sizeof(before)) > 0);
	assert_int_equal(memcg_file_write(file, "0", 1), 1);
	assert_true(memcg_file_read(file, after, sizeof(after)) > 0);
	assert_true(strtoul(after, NULL, 10) < strtoul(before, NULL, 10));
	memcg_file_close(file);
}

/* There is one value that can be had, and it is. */
static void type_is_threaded(void)
{
	char text[32];

	put("cgroup.type", "threaded");
	assert_true(memcg_read(group, "cgroup.type", text, sizeof(text)) > 0);
	assert_string_equal(text, "threaded\n");
}

static void memory_is_on(void)
{
	put("cgroup.subtree_control", "+memory");
	assert_int_equal(memcg_write(group, "cgroup.subtree_control", "-memory", 7), -EOPNOTSUPP);
}

static const struct {
	const char *file;
	void (*shown)(void);
} obeyed[] = {
	{ "memory.max", max_is_obeyed },
	{ "memory.peak", peak_is_reset },
	{ "cgroup.max.depth", depth_is_obeyed },
	{ "cgroup.max.descendants", descendants_are_obeyed },
	{ "cgroup.threads", threads_are_moved },
	{ "cgroup.type", type_is_threaded },
	{ "cgroup.subtree_control", memory_is_on },
};

/* The row of a file in docs/files.md; NULL: there is none. */
static const char *row_of(const char *file)
{
	char name[80], *line;

	snprintf(name, sizeof(name), "`%s`", file);
	record_load(&docs, "docs/files.md");
	while ((line = record_line(&docs))) {
		const char *end = *line == '|' ? strchr(line + 1, '|') : NULL;
		const char *at = end ? strstr(line, name) : NULL;

		if (at && at < end)
			return line;
	}
	return NULL;
}

/* None of what is tried changes anything: each is refused, or was so already. */
static bool is_refused(const char *file)
{
	static const char *const texts[] = { "0", "1", "4096", "max" };
	char before[64] = "", after[64] = "";
	bool refused = false;
	size_t i;

	for (i = 0; i < array_size(texts); i++) {
		memcg_read(group, file, before, sizeof(before));
		if (memcg_write(group, file, texts[i], strlen(texts[i])) == -EOPNOTSUPP)
			refused = true;
		memcg_read(group, file, after, sizeof(after));
		if (strcmp(before, after) != 0)
			return false;
	}
	return refused || !strcmp(file, "memory.swap.peak"); /* a reset of what always is 0 */
}

static int check_file(const char *file, unsigned int mode, void *arg)
{
	const char *row = row_of(file);
	size_t i;

	if (!row)
		fail_msg("%s is not in docs/files.md", file);
	record_load(&docs, "man/memcg.7");
	if (!strstr(docs.text, file))
		fail_msg("%s is not in man/memcg.7", file);
	row = row_of(file);
	if (!(mode & 0200))
		return 0;
	++*(unsigned int *)arg;
	if (strstr(row, "not yet enforced"))
		return 0;
	for (i = 0; i < array_size(obeyed); i++) {
		if (!strcmp(obeyed[i].file, file)) {
			obeyed[i].shown();
			return 0;
		}
	}
	if (!is_refused(file))
		fail_msg("%s can be written, docs do not say \"not yet enforced\", and nothing here shows that it is",
			 file);
	return 0;
}

static void every_knob(void **state)
{
	unsigned int writable = 0;

	(void)state;
	assert_int_equal(memcg_file_list(check_file, &writable), 0);
	assert_true(writable >= array_size(obeyed) + 10);
}

/* What is shown here is not called "not yet" in docs. */
static void no_false_modesty(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < array_size(obeyed); i++)
		assert_null(strstr(row_of(obeyed[i].file), "not yet enforced"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_knob), cmocka_unit_test(no_false_modesty) };

	return cmocka_run_group_tests(tests, start, stop);
}
