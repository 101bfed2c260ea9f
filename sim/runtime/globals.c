/* SPDX-License-Identifier: MIT */
/*
 * The static data of the code under test, as it was when the program started.
 *
 * All instrumented objects are linked into one relocatable object whose .data and .bss
 * are renamed simdata and simbss (sim/instrument.sh), so the linker gives us the bounds
 * of what they own, apart from the runtime's and libc's. Before each run simdata gets
 * its first contents back and simbss is zeroed. Their thread-locals are the program's
 * only ones: each fibre's block is laid anew from the TLS image.
 */
#include "runtime.h"

#include <link.h>
#include <stdlib.h>

extern char __start_simdata[] __attribute__((weak));
extern char __stop_simdata[] __attribute__((weak));
extern char __start_simbss[] __attribute__((weak));
extern char __stop_simbss[] __attribute__((weak));

static struct part {
	char *start, *end; /* bounds */
	char *first;       /* contents when the program started */
} parts[2];
static const void *tls_image; /* initialised part of the program's TLS */
static size_t tls_filled;     /* its bytes */
static size_t tls_size;       /* with the zeroed part */
static size_t tls_below;      /* from the thread pointer down to the block */

static int find_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t tp;

		if (ph->p_type != PT_TLS)
			continue;
		__asm__("movq %%fs:0, %0" : "=r"(tp));
		tls_image = (const void *)(info->dlpi_addr + ph->p_vaddr);
		tls_filled = ph->p_filesz;
		tls_size = ph->p_memsz;
		tls_below = tp - (uintptr_t)info->dlpi_tls_data;
	}
	return 1; /* the program itself comes first, and that is enough */
}

/* After the constructors of the code under test have run. */
void sim_globals_init(void)
{
	dl_iterate_phdr(find_tls, NULL);
	parts[0].start = __start_simdata;
	parts[0].end = __stop_simdata;
	parts[1].start = __start_simbss;
	parts[1].end = __stop_simbss;
	for (unsigned int i = 0; i < 2; i++) {
		size_t size = parts[i].end - parts[i].start;

		parts[i].first = malloc(size + 1);
		if (!parts[i].first)
			abort();
		memcpy(parts[i].first, parts[i].start, size);
	}
}

void sim_globals_reset(void)
{
	for (unsigned int i = 0; i < 2; i++)
		memcpy(parts[i].start, parts[i].first, parts[i].end - parts[i].start);
	for (unsigned int i = 0; tls_size && i < SIM_MAX_FIBRES; i++) {
		char *block = (char *)(sim.fibres[i].tp - tls_below);

		memcpy(block, tls_image, tls_filled);
		memset(block + tls_filled, 0, tls_size - tls_filled);
	}
}

void sim_globals_range(unsigned int i, uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)parts[i].start;
	*end = (uintptr_t)parts[i].end;
}
