/* SPDX-License-Identifier: MIT */
/* What a 64-bit or 32-bit ELF file is for. */
#ifndef MEMCG_CLI_ELF_H
#define MEMCG_CLI_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct elf_kind {
	unsigned char class;    /* ELFCLASS32, ELFCLASS64 */
	unsigned char data;     /* ELFDATA2LSB, ELFDATA2MSB */
	unsigned short machine; /* EM_*, in the file's byte order if that is ours; else 0 */
	bool has_interpreter;   /* PT_INTERP: dynamically linked. Of files of our class and order only */
};

/* False: not an ELF file, or one that ends too early. interpreter may be NULL. */
bool elf_read(int fd, struct elf_kind *kind, char *interpreter, size_t len);

#endif
