/* SPDX-License-Identifier: MIT */
/* The records in tests/files/linux-7.2/: a kernel's answers, read line by line. */
#ifndef FILES_RECORD_H
#define FILES_RECORD_H

#include <fcntl.h>

#include "support/child.h"

#define RECORD_FILE_MAX 65536

struct record {
	char text[RECORD_FILE_MAX]; /* the file */
	char *next;                 /* begin of the next line */
};

/* A file below the source root, whole. */
static inline void record_load(struct record *record, const char *path)
{
	char name[4096];
	ssize_t len;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", TEST_SOURCE_ROOT, path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", name, strerror(errno));
	len = read(fd, record->text, sizeof(record->text) - 1);
	close(fd);
	assert_true(len > 0 && len < (ssize_t)sizeof(record->text) - 1);
	record->text[len] = '\0';
	record->next = record->text;
}

static inline void record_open(struct record *record, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/files/linux-7.2/%s.txt", name);
	record_load(record, path);
}

/* The next line without its newline; NULL: no more. */
static inline char *record_line(struct record *record)
{
	char *line = record->next, *end;

	if (!*line)
		return NULL;
	end = strchr(line, '\n');
	record->next = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

static inline int record_errno(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{ "0", 0 },           { "EINVAL", EINVAL }, { "ERANGE", ERANGE }, { "E2BIG", E2BIG },
		{ "ENOENT", ENOENT }, { "EBUSY", EBUSY },   { "ESRCH", ESRCH },   { "EAGAIN", EAGAIN },
	};
	size_t i;

	for (i = 0; i < array_size(names); i++) {
		if (!strcmp(names[i].name, name))
			return names[i].number;
	}
	fail_msg("no such errno in records so far: %s", name);
	return 0;
}

/* A quoted string with C's escapes, at *@at; moves *@at behind it. Returns its length. */
static inline size_t record_string(char **at, char *out)
{
	char *in = *at, *begin = out;

	assert_int_equal(*in, '"');
	for (in++; *in != '"'; in++) {
		assert_true(*in);
		if (*in != '\\') {
			*out++ = *in;
			continue;
		}
		in++;
		if (*in == 'x') {
			const char digits[] = { in[1], in[2], '\0' };

			*out++ = (char)strtoul(digits, NULL, 16);
			in += 2;
		} else {
			assert_non_null(strchr("nt\\\"", *in));
			*out++ = *in == 'n' ? '\n' : *in == 't' ? '\t' : *in;
		}
	}
	*out = '\0';
	*at = in + 1;
	return (size_t)(out - begin);
}

/* What write(2) gave: its return, or a negative errno; from "write(...) = RET ERRNO". */
static inline long record_write_return(const char *line)
{
	const char *at = strstr(line, ") = ");
	char name[16];
	long ret;

	assert_non_null(at);
	assert_int_equal(sscanf(at, ") = %ld %15s", &ret, name), 2);
	return ret < 0 ? -record_errno(name) : ret;
}

#endif
