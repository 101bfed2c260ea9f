/* SPDX-License-Identifier: MIT */
/* The C headers and memcg.hpp in one unit, as strict C++17: handle and scope. */
#include <memcg/charge.h>
#include <memcg/control.h>
#include <memcg/files.h>
#include <memcg/heap.h>
#include <memcg/memcg.h>
#include <memcg/memcg.hpp>

#include <utility>

int main()
{
	libmemcg::group root(memcg_get(memcg_root()));
	libmemcg::group made;
	if (libmemcg::group::create(root, "cpp17", made) || !made)
		return 1;

	libmemcg::group found;
	if (libmemcg::group::open("cpp17", found) || found.get() != made.get())
		return 2;
	libmemcg::group moved(std::move(found));
	if (found || moved.get() != made.get())
		return 3;

	struct memcg *before = memcg_current();
	{
		libmemcg::scope scope(made);
		if (memcg_current() != made.get())
			return 4;
	}
	if (memcg_current() != before)
		return 5;

	int told = 0;
	auto count = [](struct memcg *, const char *, void *arg) { ++*static_cast<int *>(arg); };
	{
		libmemcg::listener listener;
		if (listener.listen(made, "memory.max", count, &told) == 0 || listener)
			return 7;
		if (listener.listen(made, "memory.events", count, &told) || !listener)
			return 8;
		if (listener.listen(made, "memory.events.local", count, &told) || !listener)
			return 9;
	}
	return made.destroy() || told ? 6 : 0;
}
