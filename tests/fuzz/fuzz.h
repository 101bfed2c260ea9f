/* SPDX-License-Identifier: MIT */
/*
 * Fuzz targets: fuzz_<name>.c has LLVMFuzzerTestOneInput(). clang links it with libFuzzer
 * (make fuzz), the test suite with run_corpus.c, which replays corpus/<name>/.
 *
 * Inputs that do several things are records: a byte that says what, bytes for it, and a
 * separator, 0xff 0x0a, before the next.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memcg/memcg.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__attribute__((noreturn)) static inline void must_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, expr);
	abort();
}

#define must(expr) ((expr) ? (void)0 : must_failed(#expr, __FILE__, __LINE__))

/* The library, once: no thread and no limit that the input did not make. */
static inline void fuzz_start(void)
{
	static const struct memcg_options options = {
		.size = sizeof(options),
		.flags = MEMCG_INIT_NO_THREADS | MEMCG_INIT_NO_HOST_MAX,
		.nr_cpus = 4,
		.index = MEMCG_INDEX_THREAD,
	};
	static int started;

	if (!started)
		must(memcg_init(&options) == 0);
	started = 1;
}

/* The next record: the bytes after the first, ended by a NUL that is not counted; free() it. NULL: no more. */
static inline char *fuzz_record(const uint8_t **data, size_t *size, uint8_t *first, size_t *len)
{
	const uint8_t *end;
	size_t whole;
	char *bytes;

	if (!*size)
		return NULL;
	end = memmem(*data + 1, *size - 1, "\xff\n", 2);
	whole = end ? (size_t)(end - *data) : *size;
	*first = **data;
	*len = whole - 1;
	bytes = malloc(*len + 1);
	must(bytes);
	memcpy(bytes, *data + 1, *len);
	bytes[*len] = '\0';
	whole += end ? 2 : 0;
	*data += whole;
	*size -= whole;
	return bytes;
}

#endif
