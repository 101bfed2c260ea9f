/* SPDX-License-Identifier: MIT */
/*
 * What allocates before the library can run: a resolver of an IFUNC of the program, while it
 * is relocated, and a constructor of the program's preinit array. Their blocks are grown,
 * asked for their size and freed later.
 */
#include "check.h"
#include <malloc.h>

static char *from_resolver;
static char *from_preinit;

static int answer(void)
{
	return 42;
}

/* No call but malloc() here: the program is not relocated yet. */
static __attribute__((used)) int (*resolve(void))(void)
{
	char *block = malloc(100);

	for (int i = 0; block && i < 100; i++)
		block[i] = 'r';
	from_resolver = block;
	free(malloc(8));
	return answer;
}

static int resolved(void) __attribute__((ifunc("resolve")));

static void preinit(void)
{
	from_preinit = malloc(1000);
	memset(from_preinit, 'p', 1000);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit_entry)(void) = preinit;

int main(void)
{
	CHECK(resolved() == 42);
	check_preloaded();
	CHECK(from_resolver && from_preinit);
	CHECK(malloc_usable_size(from_resolver) >= 100 && malloc_usable_size(from_preinit) >= 1000);
	from_resolver = realloc(from_resolver, 200000);
	CHECK(from_resolver && from_resolver[0] == 'r' && from_resolver[99] == 'r');
	free(from_resolver);
	CHECK(from_preinit[999] == 'p');
	free(from_preinit);
	return 0;
}
