/* SPDX-License-Identifier: MIT */
/* The header and the program headers of an ELF file: bounds are checked, since any file may be given. */
#include "elf_kind.h"
#include <elf.h>
#include <string.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

static bool read_all(int fd, void *buf, size_t len, off_t offset)
{
	return offset >= 0 && pread(fd, buf, len, offset) == (ssize_t)len;
}

static bool read_interpreter(int fd, const Elf64_Phdr *header, char *interpreter, size_t len)
{
	if (!interpreter)
		return true;
	if (!header->p_filesz || header->p_filesz > len)
		return false;
	if (!read_all(fd, interpreter, header->p_filesz, (off_t)header->p_offset))
		return false;
	return !interpreter[header->p_filesz - 1];
}

static bool read_program_headers(int fd, const Elf64_Ehdr *elf, struct elf_kind *kind, char *interpreter, size_t len)
{
	if (elf->e_phentsize < sizeof(Elf64_Phdr))
		return false;
	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		Elf64_Phdr header;

		if (!read_all(fd, &header, sizeof(header), (off_t)(elf->e_phoff + (size_t)i * elf->e_phentsize)))
			return false;
		if (header.p_type == PT_INTERP) {
			kind->has_interpreter = true;
			return read_interpreter(fd, &header, interpreter, len);
		}
	}
	return true;
}

bool elf_read(int fd, struct elf_kind *kind, char *interpreter, size_t len)
{
	Elf64_Ehdr elf = { 0 };

	/* The 32-bit header is shorter, and the same up to e_machine. */
	if (!read_all(fd, &elf, sizeof(Elf32_Ehdr), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	memset(kind, 0, sizeof(*kind));
	kind->class = elf.e_ident[EI_CLASS];
	kind->data = elf.e_ident[EI_DATA];
	if (kind->data != NATIVE_DATA)
		return true;
	kind->machine = elf.e_machine;
	if (kind->class != ELFCLASS64)
		return true;
	return read_all(fd, &elf, sizeof(elf), 0) && read_program_headers(fd, &elf, kind, interpreter, len);
}
