/* SPDX-License-Identifier: MIT */
/* Every form of operator new and delete; exhausted, the throwing ones throw std::bad_alloc. */
#include "check.h"
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

static std::size_t huge = PTRDIFF_MAX;
static const std::align_val_t page{ 4096 };

static bool is_aligned(void *ptr, std::size_t align)
{
	return ptr && reinterpret_cast<std::uintptr_t>(ptr) % align == 0;
}

static void test_forms()
{
	for (std::size_t size : { 0, 1, 100, 100000 }) {
		::operator delete(::operator new(size));
		::operator delete[](::operator new[](size));
		::operator delete(::operator new(size), size);
		::operator delete[](::operator new[](size), size);
		::operator delete(::operator new(size, std::nothrow), std::nothrow);
		::operator delete[](::operator new[](size, std::nothrow), std::nothrow);

		void *block = ::operator new(size, page);
		CHECK(is_aligned(block, 4096));
		::operator delete(block, page);
		block = ::operator new[](size, page);
		CHECK(is_aligned(block, 4096));
		::operator delete[](block, page);
		::operator delete(::operator new(size, page), size, page);
		::operator delete[](::operator new[](size, page), size, page);
		block = ::operator new(size, page, std::nothrow);
		CHECK(is_aligned(block, 4096));
		::operator delete(block, page, std::nothrow);
		::operator delete[](::operator new[](size, page, std::nothrow), page, std::nothrow);
	}
	void *mixed = ::operator new(10);
	OPAQUE(mixed);
	free(mixed); /* no standard allows it; programs do it */
	::operator delete(nullptr);
}

template <typename F> static bool throws(F function)
{
	try {
		void *block = function();
		OPAQUE(block);
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

static void test_exhausted()
{
	CHECK(throws([] { return ::operator new(huge); }));
	CHECK(throws([] { return ::operator new[](huge); }));
	CHECK(throws([] { return ::operator new(huge, page); }));
	CHECK(throws([] { return ::operator new[](huge, page); }));
	CHECK(!::operator new(huge, std::nothrow));
	CHECK(!::operator new[](huge, std::nothrow));
	CHECK(!::operator new(huge, page, std::nothrow));
	CHECK(!::operator new[](huge, page, std::nothrow));
	std::thread([] { CHECK(throws([] { return ::operator new(huge); })); }).join();
}

static int calls;

static void handler_that_gives_up()
{
	if (++calls == 3)
		std::set_new_handler(nullptr);
}

static void handler_that_throws()
{
	calls++;
	throw std::bad_alloc();
}

static void handler_that_frees()
{
	calls++;
	set_amount(nullptr, "memory.max", "max");
	std::set_new_handler(nullptr);
}

static void test_handler()
{
	calls = 0;
	std::set_new_handler(handler_that_gives_up);
	CHECK(throws([] { return ::operator new(huge); }) && calls == 3);

	calls = 0;
	std::set_new_handler(handler_that_throws);
	CHECK(throws([] { return ::operator new[](huge, page); }) && calls == 1);
	CHECK(!::operator new(huge, std::nothrow) && calls == 2);
	CHECK(!::operator new[](huge, page, std::nothrow) && calls == 3);
	std::set_new_handler(nullptr);

	/* refused by the limit, granted after the handler made room */
	calls = 0;
	set_amount(nullptr, "memory.max", "64M");
	CHECK(throws([] { return ::operator new(128 * MIB); }));
	CHECK(!::operator new(128 * MIB, std::nothrow));
	std::set_new_handler(handler_that_frees);
	void *block = ::operator new(128 * MIB);
	CHECK(block && calls == 1);
	::operator delete(block, 128 * MIB);
}

/* A vector that grows until the limit says no, and a program that goes on. */
static void test_limit()
{
	std::vector<std::unique_ptr<std::string>> strings;

	set_amount(nullptr, "memory.max", "32M");
	bool refused = throws([&]() -> void * {
		for (;;)
			strings.push_back(std::make_unique<std::string>(10000, 'x'));
	});
	CHECK(refused && strings.size() > 1000);
	strings.clear();
	set_amount(nullptr, "memory.max", "max");
}

int main()
{
	check_preloaded();
	test_forms();
	test_exhausted();
	test_handler();
	test_limit();
	return 0;
}
