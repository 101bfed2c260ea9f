/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses, the same in every run: never the address itself.
 *
 * In this order: a range that the code named ("page_counter.usage"), with its heap object
 * ("@3") where it has one, since two groups have the same fields; a global by its symbol;
 * a heap object by the number of its allocation; a stack or thread-local by its fibre.
 */
#include "runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_NAMES = 1 << 16
};

static struct named {
	uintptr_t start;   /* first byte */
	size_t size;       /* bytes */
	const char *type;  /* structure */
	const char *field; /* field */
} * names;
static unsigned int nr_names;
static const Elf64_Sym *symbols; /* of the program; NULL: not read yet */
static size_t nr_symbols;
static const char *strings;

void sim_names_reset(void)
{
	nr_names = 0;
}

void sim_name(const volatile void *range, size_t size, const char *type, const char *field)
{
	if (!sim.trace)
		return;
	if (!names)
		names = malloc(MAX_NAMES * sizeof(*names));
	if (!names || nr_names == MAX_NAMES)
		return;
	names[nr_names++] = (struct named){ (uintptr_t)range, size, type, field };
}

static void read_symbols(void)
{
	static const Elf64_Sym none;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *image;
	const Elf64_Shdr *sections;
	struct stat st;

	symbols = &none;
	if (fd < 0 || fstat(fd, &st))
		return;
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return;
	sections = (const Elf64_Shdr *)(image + ((const Elf64_Ehdr *)image)->e_shoff);
	for (unsigned int i = 0; i < ((const Elf64_Ehdr *)image)->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
		nr_symbols = sections[i].sh_size / sizeof(*symbols);
		strings = image + sections[sections[i].sh_link].sh_offset;
	}
}

static bool symbol_of(uintptr_t addr, char *buf, size_t len)
{
	if (!symbols)
		read_symbols();
	for (size_t i = 0; i < nr_symbols; i++) {
		const Elf64_Sym *symbol = &symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || addr - symbol->st_value >= symbol->st_size)
			continue;
		if (addr == symbol->st_value)
			snprintf(buf, len, "%s", strings + symbol->st_name);
		else
			snprintf(buf, len, "%s+%zu", strings + symbol->st_name, (size_t)(addr - symbol->st_value));
		return true;
	}
	return false;
}

static bool stack_of(uintptr_t addr, char *buf, size_t len)
{
	uintptr_t start = (uintptr_t)sim_memory_region(0, 0);
	uintptr_t parked = sim.fibres[0].stack - start;
	char fibre[16];

	if (addr - start < parked) {
		sim_fibre_name((unsigned int)((addr - start) / (parked / SIM_MAX_FIBRES)), false, fibre, sizeof(fibre));
		snprintf(buf, len, "thread-local of %s", fibre);
		return true;
	}
	for (unsigned int i = 0; i < SIM_MAX_FIBRES; i++) {
		if (addr - sim.fibres[i].locals < SIM_THREAD_STATE) {
			sim_fibre_name(i, false, fibre, sizeof(fibre));
			snprintf(buf, len, "thread_state+%zu of %s", (size_t)(addr - sim.fibres[i].locals), fibre);
			return true;
		}
		if (!sim_on_stack(&sim.fibres[i], addr))
			continue;
		sim_fibre_name(i, false, fibre, sizeof(fibre));
		snprintf(buf, len, "stack of %s", fibre);
		return true;
	}
	return false;
}

static const struct named *named_range(uintptr_t addr)
{
	const struct named *best = NULL;

	for (unsigned int i = nr_names; i-- > 0;) /* the latest counts: addresses may be reused */
		if (addr - names[i].start < names[i].size && (!best || names[i].size < best->size))
			best = &names[i];
	return best;
}

void sim_name_of(uintptr_t addr, char *buf, size_t len)
{
	const struct named *named = named_range(addr);
	const struct sim_object *object = sim_memory_object(addr);
	int at;

	if (!addr) {
		snprintf(buf, len, "null");
	} else if (named) {
		at = snprintf(buf, len, "%s.%s", named->type, named->field);
		if (object && at > 0 && (size_t)at < len)
			at += snprintf(buf + at, len - (size_t)at, "@%u", object->serial);
		if (addr != named->start && at > 0 && (size_t)at < len)
			snprintf(buf + at, len - (size_t)at, "+%zu", (size_t)(addr - named->start));
	} else if (object && addr != object->base) {
		snprintf(buf, len, "object@%u+%zu", object->serial, (size_t)(addr - object->base));
	} else if (object) {
		snprintf(buf, len, "object@%u", object->serial);
	} else if (!symbol_of(addr, buf, len) && !stack_of(addr, buf, len)) {
		snprintf(buf, len, "memory of no known owner");
	}
}

/* A value: a number, or a pointer by name, with flags in its low byte. */
void sim_value_of(uint64_t value, char *buf, size_t len)
{
	const struct sim_object *object = sim_memory_object(value);
	const char *dead = object && object->state == SIM_OBJ_FREED ? "freed " : "";

	if (value == 0x0101010101010101ULL * SIM_POISON)
		snprintf(buf, len, "poison");
	else if (object && value - object->base < 256)
		snprintf(buf, len, value == object->base ? "%s&@%u" : "%s&@%u|%" PRIu64, dead, object->serial,
			 value - object->base);
	else if (object)
		snprintf(buf, len, "%s&@%u+%" PRIu64, dead, object->serial, value - object->base);
	else if (value >> 63 && -value < 1 << 20)
		snprintf(buf, len, "-%" PRIu64, -value);
	else if (value < 1 << 20)
		snprintf(buf, len, "%" PRIu64, value);
	else if (!symbol_of(value, buf, len))
		snprintf(buf, len, "%#" PRIx64, value);
}

void sim_fibre_name(unsigned int fibre, bool irq, char *buf, size_t len)
{
	if (fibre)
		snprintf(buf, len, irq ? "T%u/irq" : "T%u", fibre);
	else
		snprintf(buf, len, "main");
}
