/* SPDX-License-Identifier: MIT */
/*
 * A program that replaces the basic forms of operator new and delete only: the other forms
 * must call these, or blocks of one kind reach the delete of another.
 */
#include "check.h"
#include <new>

static long live;
static const std::align_val_t wide{ 64 };

/* Not a block that free() takes: an offset stands before it. */
void *operator new(std::size_t size)
{
	char *block = static_cast<char *>(malloc(size + 64));

	if (!block)
		throw std::bad_alloc();
	live++;
	return block + 32;
}

void operator delete(void *ptr) noexcept
{
	if (!ptr)
		return;
	live--;
	free(static_cast<char *>(ptr) - 32);
}

int main()
{
	check_preloaded();
	live = 0; /* tcmalloc uses operator new before main() */
	::operator delete[](::operator new[](10));
	CHECK(live == 0);
	::operator delete(::operator new(10), std::size_t(10));
	::operator delete[](::operator new[](10), std::size_t(10));
	::operator delete(::operator new(10, std::nothrow), std::nothrow);
	::operator delete[](::operator new[](10, std::nothrow), std::nothrow);
	CHECK(live == 0);
	void *block = ::operator new[](10, std::nothrow);
	CHECK(live == 1);
	::operator delete[](block, std::size_t(10));
	CHECK(live == 0);
	::operator delete(::operator new(10, wide), wide); /* ours, with its own delete */
	CHECK(live == 0);
	return 0;
}
