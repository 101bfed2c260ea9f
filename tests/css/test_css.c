/* SPDX-License-Identifier: MIT */
/* The hierarchy node alone: references, counts of descendants, ancestors. */
#include "support/css.h"
#include "support/start.h"

/* root - a - b - c, and root - d - e */
static struct css *root, *a, *b, *c, *d, *e;

static int setup(void **state)
{
	(void)state;
	root = css_make(NULL);
	a = css_make(root);
	b = css_make(a);
	c = css_make(b);
	d = css_make(root);
	e = css_make(d);
	return 0;
}

static void gone(struct css *css)
{
	struct css *parent = css->parent;

	css_unlink(css);
	css_fini(css);
	css_put(parent);
	free(css);
}

static int teardown(void **state)
{
	(void)state;
	gone(e);
	gone(d);
	gone(c);
	gone(b);
	gone(a);
	assert_int_equal(root->refs, 2);
	assert_int_equal(root->nr_descendants, 0);
	assert_int_equal(root->nr_dying, 0);
	css_fini(root);
	free(root);
	return 0;
}

static void shape(void **state)
{
	(void)state;
	assert_int_equal(root->depth, 0);
	assert_int_equal(c->depth, 3);
	assert_ptr_equal(c->parent, b);
	assert_int_equal(root->nr_children, 2);
	assert_int_equal(root->nr_descendants, 5);
	assert_int_equal(a->nr_children, 1);
	assert_int_equal(a->nr_descendants, 2);
	assert_int_equal(c->nr_descendants, 0);
	assert_true(root->serial < a->serial && a->serial < b->serial && d->serial < e->serial);
	assert_ptr_equal(id_lookup(&css_ids, c->id), c);
}

static void descendants(void **state)
{
	(void)state;
	assert_true(css_is_descendant(c, root));
	assert_true(css_is_descendant(c, a));
	assert_true(css_is_descendant(c, c));
	assert_false(css_is_descendant(a, c));
	assert_false(css_is_descendant(root, a));
	assert_false(css_is_descendant(e, a));
	assert_false(css_is_descendant(c, d));
	assert_false(css_is_descendant(a, d));
}

static void common_ancestors(void **state)
{
	(void)state;
	assert_ptr_equal(css_common_ancestor(c, e), root);
	assert_ptr_equal(css_common_ancestor(e, c), root);
	assert_ptr_equal(css_common_ancestor(a, d), root);
	assert_ptr_equal(css_common_ancestor(c, a), a);
	assert_ptr_equal(css_common_ancestor(a, c), a);
	assert_ptr_equal(css_common_ancestor(b, b), b);
	assert_ptr_equal(css_common_ancestor(root, e), root);
}

/* D2: each child holds its parent. */
static void references(void **state)
{
	struct css *leaf;

	(void)state;
	assert_int_equal(root->refs, 4); /* online, handle, two children */
	leaf = css_make(e);
	assert_int_equal(e->refs, 3);
	assert_true(css_tryget(leaf));
	assert_int_equal(leaf->refs, 3);
	assert_false(css_put(leaf));
	assert_false(css_put(leaf));
	assert_true(css_put(leaf));
	assert_false(css_tryget(leaf)); /* none comes back from nothing */
	assert_int_equal(leaf->refs, 0);
	leaf->refs = 2;
	gone(leaf);
	assert_int_equal(e->refs, 2);
}

static void dying_is_counted_until_freed(void **state)
{
	struct css *leaf;

	(void)state;
	leaf = css_make(c);
	assert_int_equal(root->nr_descendants, 6);
	assert_false(css_dying(leaf));
	css_unlink(leaf);
	assert_true(css_dying(leaf));
	assert_int_equal(c->nr_children, 0);
	assert_int_equal(root->nr_descendants, 5);
	assert_int_equal(c->nr_dying, 1);
	assert_int_equal(a->nr_dying, 1);
	assert_int_equal(root->nr_dying, 1);
	assert_int_equal(d->nr_dying, 0);
	assert_ptr_equal(id_lookup(&css_ids, leaf->id), leaf); /* slots still name it */
	css_fini(leaf);
	assert_int_equal(root->nr_dying, 0);
	assert_null(id_lookup(&css_ids, leaf->id));
	css_put(c);
	free(leaf);
}

static void put_once_too_often(const void *arg)
{
	struct css css;

	(void)arg;
	memset(&css, 0, sizeof(css));
	css.refs = 1;
	must(css_put(&css));
	css_put(&css);
}

static void a_put_too_many_is_fatal(void **state)
{
	(void)state;
	assert_int_equal(child_run(put_once_too_often, NULL), CHILD_SIGNAL(SIGABRT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shape, setup, teardown),
		cmocka_unit_test_setup_teardown(descendants, setup, teardown),
		cmocka_unit_test_setup_teardown(common_ancestors, setup, teardown),
		cmocka_unit_test_setup_teardown(references, setup, teardown),
		cmocka_unit_test_setup_teardown(dying_is_counted_until_freed, setup, teardown),
		cmocka_unit_test(a_put_too_many_is_fatal),
	};

	return cmocka_run_group_tests(tests, start_usual, NULL);
}
