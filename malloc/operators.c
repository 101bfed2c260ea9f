/* SPDX-License-Identifier: MIT */
/*
 * C++ operator new and delete, by their mangled names, so that no C++ library is linked.
 * tcmalloc, jemalloc and mimalloc define all of them: left to them, delete would be given
 * blocks of ours, or free() blocks of theirs.
 *
 * Only the four basic forms do something. The others call them through the dynamic linker,
 * as the C++ standard has it, so that a program that replaces the basic forms alone keeps
 * a matching set. A nothrow form must catch what a new handler throws, which C cannot:
 * it asks the C++ library's own form, once an allocation has failed and a handler exists.
 */
#include "fast.h"
#include <dlfcn.h>
#include <errno.h>

typedef struct nothrow nothrow_t; /* std::nothrow_t, by reference */

EXPORT void *_Znwm(size_t size);
EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t align);
EXPORT void _ZdlPv(void *ptr);
EXPORT void _ZdlPvSt11align_val_t(void *ptr, size_t align);

EXPORT void *_Znam(size_t size);
EXPORT void *_ZnamSt11align_val_t(size_t size, size_t align);
EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, const nothrow_t *nothrow);
EXPORT void *_ZnamRKSt9nothrow_t(size_t size, const nothrow_t *nothrow);
EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const nothrow_t *nothrow);
EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const nothrow_t *nothrow);

EXPORT void _ZdaPv(void *ptr);
EXPORT void _ZdlPvm(void *ptr, size_t size);
EXPORT void _ZdaPvm(void *ptr, size_t size);
EXPORT void _ZdlPvRKSt9nothrow_t(void *ptr, const nothrow_t *nothrow);
EXPORT void _ZdaPvRKSt9nothrow_t(void *ptr, const nothrow_t *nothrow);
EXPORT void _ZdaPvSt11align_val_t(void *ptr, size_t align);
EXPORT void _ZdlPvmSt11align_val_t(void *ptr, size_t size, size_t align);
EXPORT void _ZdaPvmSt11align_val_t(void *ptr, size_t size, size_t align);
EXPORT void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t align, const nothrow_t *nothrow);
EXPORT void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t align, const nothrow_t *nothrow);

/*
 * A function of the C++ library itself, not of an allocator that defines the same name.
 * Looked up at the first failure: the library may have been loaded after we started.
 */
static COLD void *cxx_function(const char *name)
{
	static const char libraries[][16] = { "libstdc++.so.6", "libc++abi.so.1", "libc++.so.1" };
	unsigned int phase = thread_busy();
	void *function = NULL;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !function; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			function = dlsym(library, name);
	}
	thread_self.phase = phase;
	return function;
}

typedef void (*new_handler_t)(void);

static COLD new_handler_t new_handler(void)
{
	static new_handler_t (*get)(void);

	if (!get)
		*(void **)&get = cxx_function("_ZSt15get_new_handlerv"); /* std::get_new_handler() */
	return get ? get() : NULL;
}

static COLD _Noreturn void throw_bad_alloc(void)
{
	static void (*throw)(void);

	if (!throw)
		*(void **)&throw = cxx_function("_ZSt17__throw_bad_allocv"); /* std::__throw_bad_alloc() */
	if (!throw)
		start_fail("operator new: no C++ library found that throws std::bad_alloc", ENOMEM);
	throw();
	__builtin_unreachable();
}

static COLD void *new_again(size_t align, size_t size)
{
	for (;;) {
		new_handler_t handler = new_handler();
		void *block;

		if (handler)
			handler();
		else
			throw_bad_alloc();
		block = charged_alloc(align, size);
		if (block)
			return block;
	}
}

void *_Znwm(size_t size)
{
	void *block = plain_alloc(size);

	return likely(block) ? block : new_again(MALLOC_ALIGN, size);
}

void *_ZnwmSt11align_val_t(size_t size, size_t align)
{
	void *block;

	if (unlikely(!align || align & (align - 1)))
		throw_bad_alloc();
	if (align < MALLOC_ALIGN)
		align = MALLOC_ALIGN;
	block = fast_alloc(align, size);
	return likely(block) ? block : new_again(align, size);
}

void _ZdlPv(void *ptr)
{
	fast_free(ptr);
}

void _ZdlPvSt11align_val_t(void *ptr, size_t align)
{
	fast_free(ptr);
}

void *_Znam(size_t size)
{
	return _Znwm(size);
}

void *_ZnamSt11align_val_t(size_t size, size_t align)
{
	return _ZnwmSt11align_val_t(size, align);
}

HIDDEN extern void *our_new(size_t size) __attribute__((alias("_Znwm")));
HIDDEN extern void *our_aligned_new(size_t size, size_t align) __attribute__((alias("_ZnwmSt11align_val_t")));

void *_ZnwmRKSt9nothrow_t(size_t size, const nothrow_t *nothrow)
{
	static void *(*library_form)(size_t, const nothrow_t *);
	void *(*seen)(size_t) = _Znwm;

	__asm__("" : "+r"(seen)); /* another object's may be seen first, which the compiler must not rule out */
	if (likely(seen == our_new)) {
		void *block = plain_alloc(size);

		if (likely(block) || !new_handler())
			return block;
	}
	if (!library_form)
		*(void **)&library_form = cxx_function("_ZnwmRKSt9nothrow_t");
	return library_form ? library_form(size, nothrow) : NULL;
}

void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const nothrow_t *nothrow)
{
	static void *(*library_form)(size_t, size_t, const nothrow_t *);
	void *(*seen)(size_t, size_t) = _ZnwmSt11align_val_t;

	__asm__("" : "+r"(seen));
	if (likely(seen == our_aligned_new)) {
		void *block;

		if (!align || align & (align - 1))
			return NULL;
		block = fast_alloc(align < MALLOC_ALIGN ? MALLOC_ALIGN : align, size);
		if (likely(block) || !new_handler())
			return block;
	}
	if (!library_form)
		*(void **)&library_form = cxx_function("_ZnwmSt11align_val_tRKSt9nothrow_t");
	return library_form ? library_form(size, align, nothrow) : NULL;
}

void *_ZnamRKSt9nothrow_t(size_t size, const nothrow_t *nothrow)
{
	return _ZnwmRKSt9nothrow_t(size, nothrow);
}

void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const nothrow_t *nothrow)
{
	return _ZnwmSt11align_val_tRKSt9nothrow_t(size, align, nothrow);
}

void _ZdaPv(void *ptr)
{
	_ZdlPv(ptr);
}

void _ZdlPvm(void *ptr, size_t size)
{
	_ZdlPv(ptr);
}

void _ZdaPvm(void *ptr, size_t size)
{
	_ZdaPv(ptr);
}

void _ZdlPvRKSt9nothrow_t(void *ptr, const nothrow_t *nothrow)
{
	_ZdlPv(ptr);
}

void _ZdaPvRKSt9nothrow_t(void *ptr, const nothrow_t *nothrow)
{
	_ZdaPv(ptr);
}

void _ZdaPvSt11align_val_t(void *ptr, size_t align)
{
	_ZdlPvSt11align_val_t(ptr, align);
}

void _ZdlPvmSt11align_val_t(void *ptr, size_t size, size_t align)
{
	_ZdlPvSt11align_val_t(ptr, align);
}

void _ZdaPvmSt11align_val_t(void *ptr, size_t size, size_t align)
{
	_ZdaPvSt11align_val_t(ptr, align);
}

void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t align, const nothrow_t *nothrow)
{
	_ZdlPvSt11align_val_t(ptr, align);
}

void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t align, const nothrow_t *nothrow)
{
	_ZdaPvSt11align_val_t(ptr, align);
}
