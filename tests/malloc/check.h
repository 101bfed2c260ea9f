/* SPDX-License-Identifier: MIT */
/*
 * For programs that run under the preload library. Plain programs: a test framework would
 * allocate by itself, and these look at what is allocated.
 */
#ifndef TESTS_MALLOC_CHECK_H
#define TESTS_MALLOC_CHECK_H

#include <memcg/files.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_Exit(1);                                                       \
		}                                                                       \
	} while (0)

#define MIB (1UL << 20)

/* Hides a pointer or a size from the compiler, which removes pairs of malloc() and free(). */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x) : : "memory")

static inline long amount(struct memcg *group, const char *file)
{
	char text[64];

	CHECK(memcg_read(group, file, text, sizeof(text)) > 0);
	return strtol(text, NULL, 10);
}

static inline void set_amount(struct memcg *group, const char *file, const char *text)
{
	CHECK(memcg_write(group, file, text, strlen(text)) == (ssize_t)strlen(text));
}

/* The preload library is in front: a block is seen in the root. */
static inline void check_preloaded(void)
{
	long before = amount(NULL, "memory.current");
	void *block = malloc(64 * MIB);

	OPAQUE(block);
	CHECK(block);
	CHECK(amount(NULL, "memory.current") >= before + (long)(64 * MIB));
	free(block);
}

/* What stocks may hold beyond what lives: not more than a few MiB here. */
#define SLACK ((long)(16 * MIB))

#endif
