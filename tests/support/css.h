/* SPDX-License-Identifier: MIT */
/* Hierarchy nodes of no group. */
#ifndef SUPPORT_CSS_H
#define SUPPORT_CSS_H

#include "css/css.h"
#include "support/child.h"

static inline struct css *css_make(struct css *parent)
{
	struct css *css = aligned_alloc(PAIR_SIZE, sizeof(*css));

	assert_non_null(css);
	memset(css, 0, sizeof(*css));
	assert_int_equal(css_init(css, parent), 0);
	css_link(css);
	return css;
}

#endif
