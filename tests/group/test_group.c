/* SPDX-License-Identifier: MIT */
/* Names, paths, limits on the shape of the tree, and creation where memory is short. */
#include "support/child.h"

#include <memcg/files.h>

#include "group/group.h"
#include "support/start.h"

/* Each test leaves an empty tree, and no memory behind that was not there before (D1). */
static int teardown(void **state)
{
	(void)state;
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_descendants, 0);
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	assert_int_equal(backing_live, live_before);
	return 0;
}

static void expect_name(const char *name, int err)
{
	struct memcg *group = NULL, *found;
	char path[512];

	assert_int_equal(memcg_create(NULL, name, &group), err);
	if (err)
		return;
	assert_int_equal(memcg_path(group, path, sizeof(path)), strlen(name));
	assert_string_equal(path, name);
	assert_int_equal(memcg_open(name, &found), 0);
	assert_ptr_equal(found, group);
	memcg_put(found);
	assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
}

static void names(void **state)
{
	char longest[257];

	(void)state;
	expect_name("a", 0);
	expect_name("...", 0);
	expect_name(".hidden", 0);
	expect_name("..a", 0);
	expect_name(" blank and\ttab ", 0);
	expect_name("k\xc3\xb6nig-\xe5\xb1\xb1-\xf0\x9f\x90\xa7", 0);
	expect_name("\xff\xfe\x01", 0); /* any bytes, as a file system has it */
	expect_name("", -EINVAL);
	expect_name(".", -EINVAL);
	expect_name("..", -EINVAL);
	expect_name("/", -EINVAL);
	expect_name("a/b", -EINVAL);
	expect_name("/a", -EINVAL);
	expect_name("a/", -EINVAL);
	expect_name("a\n", -EINVAL);
	expect_name("\n", -EINVAL);
	expect_name("a\nb", -EINVAL);
	memset(longest, 'x', 256);
	longest[256] = '\0';
	expect_name(longest, -ENAMETOOLONG);
	longest[255] = '\0';
	expect_name(longest, 0);
	/* 255 bytes, not characters */
	memset(longest, 'x', 254);
	memcpy(longest + 254, "\xc3\xa4", 3);
	expect_name(longest, -ENAMETOOLONG);
}

static void bad_arguments(void **state)
{
	struct memcg *group;

	(void)state;
	assert_int_equal(memcg_create(NULL, NULL, &group), -EINVAL);
	assert_int_equal(memcg_create(NULL, "a", NULL), -EINVAL);
	assert_int_equal(memcg_create(memcg_unaccounted(), "a", &group), -EINVAL);
	assert_int_equal(memcg_open(NULL, &group), -EINVAL);
	assert_int_equal(memcg_open("a", NULL), -EINVAL);
	assert_int_equal(memcg_destroy(NULL), -EINVAL);
	assert_int_equal(memcg_destroy(memcg_root()), -EBUSY);
	assert_int_equal(memcg_destroy(memcg_unaccounted()), -EBUSY);
	assert_int_equal(memcg_walk(NULL, NULL, NULL), -EINVAL);
	assert_null(memcg_get(NULL));
	memcg_put(NULL);
}

static void expect_open(const char *path, struct memcg *group)
{
	struct memcg *found;

	assert_int_equal(memcg_open(path, &found), group ? 0 : -ENOENT);
	if (group) {
		assert_ptr_equal(found, group);
		memcg_put(found);
	}
}

static void paths(void **state)
{
	struct memcg *a, *b, *c, *twin;
	char buf[32];

	(void)state;
	assert_int_equal(memcg_create(NULL, "a", &a), 0);
	assert_int_equal(memcg_create(a, "b", &b), 0);
	assert_int_equal(memcg_create(b, "c", &c), 0);
	assert_int_equal(memcg_create(NULL, "b", &twin), 0); /* a name is its parent's */
	assert_int_equal(memcg_create(a, "b", &twin), -EEXIST);
	expect_open("a", a);
	expect_open("/a", a);
	expect_open("a/b/c", c);
	expect_open("//a///b//c//", c);
	expect_open("b", twin);
	expect_open("", memcg_root());
	expect_open("/", memcg_root());
	expect_open("c", NULL);
	expect_open("a/c", NULL);
	expect_open("a/b/c/d", NULL);
	expect_open("a/bb", NULL);
	expect_open(".", NULL);
	expect_open("a/..", NULL);
	assert_ptr_equal(memcg_parent(c), b);
	assert_ptr_equal(memcg_parent(a), memcg_root());
	assert_null(memcg_parent(memcg_root()));
	assert_int_equal(memcg_path(memcg_root(), buf, sizeof(buf)), 1);
	assert_string_equal(buf, "/");
	assert_int_equal(memcg_path(c, buf, 6), 5);
	assert_string_equal(buf, "a/b/c");
	assert_int_equal(memcg_path(c, buf, 5), -ENAMETOOLONG);
	assert_int_equal(memcg_path(c, NULL, 0), -ENAMETOOLONG);
	assert_int_equal(memcg_destroy(b), -EBUSY);
	assert_int_equal(memcg_destroy(c), 0);
	assert_int_equal(memcg_path(c, buf, sizeof(buf)), 15);
	assert_string_equal(buf, "a/b/c (deleted)");
	expect_open("a/b/c", NULL);
	assert_int_equal(memcg_destroy(c), -ENODEV);
	assert_int_equal(memcg_create(c, "d", &a), -ENODEV);
	assert_int_equal(memcg_destroy(b), 0);
	memcg_put(c);
	memcg_put(b);
	assert_int_equal(memcg_open("a", &a), 0);
	memcg_put(a);
	assert_int_equal(memcg_destroy(a), 0);
	memcg_put(a);
	assert_int_equal(memcg_destroy(twin), 0);
	memcg_put(twin);
}

/* A name is free again at once; the new group has nothing to do with the old one. */
static void name_is_free_again(void **state)
{
	struct memcg *old, *again;

	(void)state;
	assert_int_equal(memcg_create(NULL, "n", &old), 0);
	assert_int_equal(memcg_charge(old, 200, 0), 0);
	assert_int_equal(memcg_destroy(old), 0);
	assert_int_equal(memcg_create(NULL, "n", &again), 0);
	assert_ptr_not_equal(old, again);
	assert_int_not_equal(memcg_id(old), memcg_id(again));
	assert_int_equal(page_counter_read(&again->memory), 0);
	expect_open("n", again);
	memcg_uncharge(old, 200);
	memcg_put(old);
	assert_int_equal(memcg_destroy(again), 0);
	memcg_put(again);
}

static void depth_63(void **state)
{
	struct memcg *chain[MEMCG_DEPTH_MAX + 1], *more;
	char path[2 * MEMCG_DEPTH_MAX + 2];
	int i;

	(void)state;
	chain[0] = memcg_root();
	for (i = 1; i <= MEMCG_DEPTH_MAX; i++)
		assert_int_equal(memcg_create(chain[i - 1], "d", &chain[i]), 0);
	assert_int_equal(memcg_create(chain[MEMCG_DEPTH_MAX], "d", &more), -EAGAIN);
	assert_int_equal(memcg_path(chain[MEMCG_DEPTH_MAX], path, sizeof(path)), 2 * MEMCG_DEPTH_MAX - 1);
	expect_open(path, chain[MEMCG_DEPTH_MAX]);
	/* charges climb all 64 levels */
	assert_int_equal(memcg_charge(chain[MEMCG_DEPTH_MAX], 200, 0), 0);
	for (i = 0; i <= MEMCG_DEPTH_MAX; i++)
		assert_int_equal(page_counter_read(&chain[i]->memory), 200);
	memcg_uncharge(chain[MEMCG_DEPTH_MAX], 200);
	assert_int_equal(page_counter_read(&memcg_root()->memory), 0);
	for (i = MEMCG_DEPTH_MAX; i > 0; i--) {
		assert_int_equal(memcg_destroy(chain[i]), 0);
		memcg_put(chain[i]);
	}
}

static void set(struct memcg *group, const char *file, const char *value)
{
	assert_int_equal(memcg_write(group, file, value, strlen(value)), strlen(value));
}

/* Limits of the parent and of all above; what exists already stays. */
static void max_depth_and_descendants(void **state)
{
	struct memcg *a, *b, *c, *d, *none;

	(void)state;
	assert_int_equal(memcg_create(NULL, "a", &a), 0);
	set(a, "cgroup.max.depth", "0");
	assert_int_equal(memcg_create(a, "b", &none), -EAGAIN);
	set(a, "cgroup.max.depth", "1");
	assert_int_equal(memcg_create(a, "b", &b), 0);
	assert_int_equal(memcg_create(b, "c", &none), -EAGAIN);
	set(a, "cgroup.max.depth", "2");
	assert_int_equal(memcg_create(b, "c", &c), 0);
	set(a, "cgroup.max.depth", "0");
	assert_int_equal(memcg_create(b, "d", &none), -EAGAIN);
	set(a, "cgroup.max.depth", "max");
	set(a, "cgroup.max.descendants", "2");
	assert_int_equal(memcg_create(b, "d", &none), -EAGAIN);
	assert_int_equal(memcg_create(c, "d", &none), -EAGAIN);
	set(a, "cgroup.max.descendants", "3");
	assert_int_equal(memcg_create(c, "d", &d), 0);
	assert_int_equal(memcg_create(a, "e", &none), -EAGAIN);
	assert_int_equal(memcg_destroy(d), 0); /* a dying one does not count */
	memcg_put(d);
	assert_int_equal(memcg_create(a, "d", &d), 0);
	assert_int_equal(memcg_destroy(d), 0);
	assert_int_equal(memcg_destroy(c), 0);
	assert_int_equal(memcg_destroy(b), 0);
	assert_int_equal(memcg_destroy(a), 0);
	memcg_put(d);
	memcg_put(c);
	memcg_put(b);
	memcg_put(a);
}

/* A refused creation leaves nothing, neither of counts nor of memory. */
static void refused_creation_leaves_nothing(void **state)
{
	struct memcg *a, *twin;
	int i;

	(void)state;
	assert_int_equal(memcg_create(NULL, "a", &a), 0);
	for (i = 0; i < 200; i++)
		assert_int_equal(memcg_create(NULL, "a", &twin), -EEXIST);
	assert_int_equal(memcg_root()->css.nr_descendants, 1);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0);
	assert_int_equal(memcg_destroy(a), 0);
	memcg_put(a);
}

/* Each allocation of a creation fails in turn. */
static void creation_without_memory(void **state)
{
	struct memcg *parent, *group;
	long before;
	int nr, err = -ENOMEM;

	(void)state;
	assert_int_equal(memcg_create(NULL, "parent", &parent), 0);
	before = backing_live;
	for (nr = 0; err; nr++) {
		assert_true(nr < 10);
		backing_left = nr;
		err = memcg_create(parent, "child", &group);
		backing_left = 1L << 60;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			memcg_tick();
			assert_int_equal(backing_live, before);
			assert_int_equal(parent->css.nr_dying, 0);
			assert_int_equal(memcg_root()->css.nr_dying, 0);
			assert_int_equal(parent->css.nr_descendants, 0);
			assert_int_equal(parent->css.refs, 2);
			expect_open("parent/child", NULL);
		}
	}
	assert_true(nr > 2);
	assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	assert_int_equal(memcg_destroy(parent), 0);
	memcg_put(parent);
}

/* Many names: the table grows, and still finds each. */
static void a_thousand_names(void **state)
{
	static struct memcg *groups[1000];
	struct memcg *found;
	char name[16];
	size_t i;

	for (i = 0; i < array_size(groups); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		assert_int_equal(memcg_create(i ? groups[0] : NULL, name, &groups[i]), 0);
	}
	for (i = 1; i < array_size(groups); i++) {
		snprintf(name, sizeof(name), "0/%zu", i);
		assert_int_equal(memcg_open(name, &found), 0);
		assert_ptr_equal(found, groups[i]);
		memcg_put(found);
	}
	for (i = array_size(groups); i-- > 0;) {
		assert_int_equal(memcg_destroy(groups[i]), 0);
		memcg_put(groups[i]);
	}
	live_setup(state); /* what the table has grown to stays */
}

/* The process' own cgroup limits the root, unless told not to. */
static void host_limit(const void *arg)
{
	const struct memcg_options *options = arg;
	unsigned long pages = host_max_pages();

	must(pages > 0 && pages <= PAGE_COUNTER_MAX);
	must(memcg_root()->memory.max == PAGE_COUNTER_MAX); /* of the parent of this fork: told not to */
	must(memcg_init(options) == -EBUSY);
}

static void by_default(void)
{
	char text[64];
	unsigned long pages = host_max_pages();

	must(memcg_read(NULL, "memory.max", text, sizeof(text)) > 0);
	if (pages == PAGE_COUNTER_MAX)
		must(!strcmp(text, "max\n"));
	else
		must(strtoul(text, NULL, 10) == pages * MEMCG_PAGE_SIZE);
}

static void root_limit(void **state)
{
	struct memcg_options options = { .size = sizeof(options) };

	(void)state;
	child_expect_ok(child_run(host_limit, &options));
	child_expect_ok(child_exec("by-default", NULL));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, live_setup, teardown)

int main(int argc, char **argv)
{
	static const struct child_case cases[] = { { "by-default", by_default } };
	const struct CMUnitTest tests[] = {
		CASE(names),
		CASE(bad_arguments),
		CASE(paths),
		CASE(name_is_free_again),
		CASE(depth_63),
		CASE(max_depth_and_descendants),
		CASE(refused_creation_leaves_nothing),
		CASE(creation_without_memory),
		CASE(a_thousand_names),
		CASE(root_limit),
	};

	child_main(argc, argv, cases, array_size(cases));
	return cmocka_run_group_tests(tests, start_counted, NULL);
}
