/* SPDX-License-Identifier: MIT */
/*
 * The memory and string functions that the code under test calls.
 *
 * sim/instrument.sh renames the calls (sim/redirect.syms). The memory functions are
 * made of accesses with points; others that write memory run after the CPU's stores
 * have drained, since libc is not instrumented. What only reads needs no care: memory
 * shows the CPU's own view while its fibre runs.
 */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>

enum {
	CHUNK = 64
};

void *sim_memcpy(void *to, const void *from, size_t size);
void *sim_memmove(void *to, const void *from, size_t size);
void *sim_memset(void *to, int byte, size_t size);
int sim_memcmp(const void *a, const void *b, size_t size);
int sim_snprintf(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int sim_vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
char *sim_strcpy(char *to, const char *from);
char *sim_strncpy(char *to, const char *from, size_t size);
size_t sim_strlen(const char *s);
int sim_strcmp(const char *a, const char *b);

static void read_chunk(const void *from, size_t size, uintptr_t pc)
{
	if (sim_touch((uintptr_t)from, size, SIM_READ, pc))
		sim_trace(SIM_READ, (uintptr_t)from, size, sim_peek((uintptr_t)from, size < 8 ? (unsigned int)size : 8),
			  pc);
}

static void write_chunk(void *to, size_t size, uintptr_t pc)
{
	if (sim_touch((uintptr_t)to, size, SIM_WRITE, pc))
		sim_announce((uintptr_t)to, size, sim.tso, pc);
}

static void copy(char *to, const char *from, size_t size, bool down, uintptr_t pc)
{
	for (size_t done = 0, piece; done < size; done += piece) {
		size_t at;

		piece = size - done < CHUNK ? size - done : CHUNK;
		at = down ? size - done - piece : done;
		read_chunk(from + at, piece, pc);
		write_chunk(to + at, piece, pc);
		memmove(to + at, from + at, piece);
	}
}

void *sim_memcpy(void *to, const void *from, size_t size)
{
	copy(to, from, size, false, SIM_PC);
	return to;
}

void *sim_memmove(void *to, const void *from, size_t size)
{
	copy(to, from, size, (uintptr_t)to > (uintptr_t)from, SIM_PC);
	return to;
}

void *sim_memset(void *to, int byte, size_t size)
{
	for (size_t done = 0, piece; done < size; done += piece) {
		piece = size - done < CHUNK ? size - done : CHUNK;
		write_chunk((char *)to + done, piece, SIM_PC);
		memset((char *)to + done, byte, piece);
	}
	return to;
}

int sim_memcmp(const void *a, const void *b, size_t size)
{
	if (size) {
		read_chunk(a, size, SIM_PC);
		read_chunk(b, size, SIM_PC);
	}
	return memcmp(a, b, size);
}

/* Code that is not instrumented is about to write [to, to + size). */
void sim_before_libc(void *to, size_t size, uintptr_t pc)
{
	sim_settle();
	if (sim.live)
		sim_buffer_drain(sim.current->cpu);
	if (size) {
		sim_memory_check((uintptr_t)to, size, true, pc);
		sim_written((uintptr_t)to, (unsigned int)size, true);
	}
}

int sim_vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	sim_before_libc(buf, size, SIM_PC);
	return vsnprintf(buf, size, fmt, args);
}

int sim_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	sim_before_libc(buf, size, SIM_PC);
	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return len;
}

char *sim_strcpy(char *to, const char *from)
{
	sim_before_libc(to, strlen(from) + 1, SIM_PC);
	return strcpy(to, from);
}

char *sim_strncpy(char *to, const char *from, size_t size)
{
	sim_before_libc(to, size, SIM_PC);
	return strncpy(to, from, size);
}

size_t sim_strlen(const char *s)
{
	size_t len = strlen(s);

	read_chunk(s, len + 1, SIM_PC);
	return len;
}

int sim_strcmp(const char *a, const char *b)
{
	read_chunk(a, strlen(a) + 1, SIM_PC);
	read_chunk(b, strlen(b) + 1, SIM_PC);
	return strcmp(a, b);
}
