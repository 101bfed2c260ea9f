/* SPDX-License-Identifier: MIT */
/*
 * Writes of any bytes to any file of three groups, one of them destroyed, beside charges. What each file
 * must read is kept in a table of what was accepted.
 *
 * A record's first byte, modulo 64: below 48 a write, to file number % 16 of group number / 16; from 48 on a
 * may-sleep charge to group % 3, of the next byte + 1 pages, which all levels must admit exactly when it fits
 * (A3, A6), and which stays charged or is given back as the byte after that is odd or even.
 */
#include "fuzz/oracle.h"

#include <memcg/charge.h>
#include <memcg/files.h>

#include "base/compiler.h"

enum kind {
	AMOUNT,
	COUNT,
	PEAK,
	READ_ONLY,
	UNKNOWN
};

static const struct file {
	const char *name;
	enum kind kind;
	unsigned int field; /* what it sets */
} files[] = {
	{ "memory.max", AMOUNT, 0 },       { "memory.high", AMOUNT, 1 },
	{ "memory.low", AMOUNT, 2 },       { "memory.min", AMOUNT, 3 },
	{ "cgroup.max.depth", COUNT, 4 },  { "cgroup.max.descendants", COUNT, 5 },
	{ "memory.peak", PEAK, 0 },        { "memory.current", READ_ONLY, 0 },
	{ "memory.events", READ_ONLY, 0 }, { "memory.events.local", READ_ONLY, 0 },
	{ "memory.stat", READ_ONLY, 0 },   { "", UNKNOWN, 0 },
	{ "memory.ma", UNKNOWN, 0 },       { "memory.maxx", UNKNOWN, 0 },
	{ "../memory.max", UNKNOWN, 0 },   { "memory.max\n", UNKNOWN, 0 },
};

#define FIELDS 6
#define GROUPS 3 /* root, a, and a/b, which is destroyed */

static struct tenant {
	struct memcg *group;
	unsigned long fields[FIELDS]; /* pages, counts; ORACLE_MAX_PAGES and INT32_MAX are max */
	unsigned long live;           /* pages charged to it and below */
	unsigned long own;            /* pages charged to it */
	long current;                 /* memory.current when last read */
} tenants[GROUPS];

static const unsigned long field_defaults[FIELDS] = { ORACLE_MAX_PAGES, ORACLE_MAX_PAGES, 0, 0, INT32_MAX, INT32_MAX };

static void start(void)
{
	unsigned int i;

	fuzz_start();
	if (tenants[0].group)
		return;
	tenants[0].group = memcg_root();
	must(memcg_create(NULL, "a", &tenants[1].group) == 0);
	must(memcg_create(tenants[1].group, "b", &tenants[2].group) == 0);
	must(memcg_destroy(tenants[2].group) == 0);
	for (i = 0; i < GROUPS; i++)
		memcpy(tenants[i].fields, field_defaults, sizeof(field_defaults));
}

static void expect_text(const struct tenant *tenant, const struct file *file)
{
	unsigned long value = tenant->fields[file->field];
	char expected[32], back[32];
	ssize_t len;

	if (value == field_defaults[file->kind == AMOUNT ? 0 : 4])
		snprintf(expected, sizeof(expected), "max\n");
	else
		snprintf(expected, sizeof(expected), "%lu\n", file->kind == AMOUNT ? value * 4096 : value);
	len = memcg_read(tenant->group, file->name, back, sizeof(back));
	must(len == (ssize_t)strlen(expected) && strcmp(back, expected) == 0);
}

static long read_number(struct memcg *group, const char *file)
{
	char back[32];
	char *end;
	long value;

	must(memcg_read(group, file, back, sizeof(back)) > 1);
	value = strtol(back, &end, 10);
	must(end != back && *end == '\n' && !end[1]);
	return value;
}

/* All that can be read is what the table says. @drained: stock may have gone back since. */
static void expect_state(int drained)
{
	unsigned int i, f;

	for (i = 0; i < 2; i++) {
		struct tenant *tenant = &tenants[i];
		long current = read_number(tenant->group, "memory.current");

		for (f = 0; files[f].kind <= COUNT; f++)
			expect_text(tenant, &files[f]);
		must(current >= (long)tenant->live * 4096);
		must(drained ? current <= tenant->current : current == tenant->current);
		tenant->current = current;
		must(read_number(tenant->group, "memory.peak") >= current);
	}
}

/* The text that a file's write gets: up to a NUL, without white space around it. */
static char *stripped(const char *bytes, size_t len)
{
	static const char blanks[] = " \t\n\v\f\r";
	size_t text = strnlen(bytes, len);
	char *copy;

	while (text && strchr(blanks, bytes[text - 1]))
		text--;
	copy = strndup(bytes, text);
	must(copy);
	memmove(copy, copy + strspn(copy, blanks), strlen(copy + strspn(copy, blanks)) + 1);
	return copy;
}

/* What the write of @text must return but for success; @value: what it sets. */
static int expected_error(const struct file *file, const char *text, unsigned long *value)
{
	long count;
	int err;

	switch (file->kind) {
	case AMOUNT:
		return oracle_pages(text, value);
	case COUNT:
		*value = INT32_MAX;
		if (strcmp(text, "max") == 0)
			return 0;
		err = oracle_int(text, &count);
		if (!err && (count < 0 || count > INT32_MAX))
			err = -ERANGE;
		*value = err ? 0 : (unsigned long)count;
		return err;
	default:
		return 0;
	}
}

static void write_once(struct tenant *tenant, const struct file *file, const char *bytes, size_t len)
{
	ssize_t ret = memcg_write(tenant->group, file->name, bytes, len);
	unsigned long value = 0;
	ssize_t expected;

	if (file->kind == UNKNOWN) {
		expected = -ENOENT;
	} else if (tenant == &tenants[2]) {
		expected = -ENODEV;
	} else if (file->kind == READ_ONLY) {
		expected = -EINVAL;
	} else if (len > 4096) {
		expected = -E2BIG;
	} else {
		char *text = stripped(bytes, len);
		int err = len ? expected_error(file, text, &value) : 0;

		free(text);
		expected = err ? err : (ssize_t)len;
		if (expected > 0 && file->kind <= COUNT)
			tenant->fields[file->field] = value;
	}
	must(ret == expected);
	expect_state(ret > 0 && file == &files[0]);
	if (tenant == &tenants[2]) {
		char back[8];

		must(memcg_read(tenant->group, file->name, back, sizeof(back)) == expected);
	}
}

/* Destroyed, a/b has no limit of its own. */
static void charge_once(unsigned int nr, unsigned long pages, int stays)
{
	struct tenant *tenant = &tenants[nr];
	unsigned int i;
	int fits = 1;

	for (i = 0; i <= nr; i++) {
		if (tenants[i].live + pages > tenants[i].fields[0])
			fits = 0;
	}
	must(memcg_charge(tenant->group, pages, MEMCG_MAY_SLEEP) == (fits ? 0 : -ENOMEM));
	if (fits && !stays)
		memcg_uncharge(tenant->group, pages);
	for (i = 0; fits && stays && i <= nr; i++)
		tenants[i].live += pages;
	tenant->own += fits && stays ? pages : 0;
	for (i = 0; i < 2; i++) {
		tenants[i].current = read_number(tenants[i].group, "memory.current");
		must(!fits || i > nr || (unsigned long)tenants[i].current / 4096 <= tenants[i].fields[0]);
	}
	expect_state(0);
}

static void reset(void)
{
	unsigned int i;

	for (i = 0; i < GROUPS; i++) {
		struct tenant *tenant = &tenants[i];
		unsigned int f;

		if (tenant->own)
			memcg_uncharge(tenant->group, tenant->own);
		for (f = 0; i < 2 && files[f].kind <= COUNT; f++) {
			const char *text = field_defaults[files[f].field] ? "max" : "0";

			must(memcg_write(tenant->group, files[f].name, text, strlen(text)) == (ssize_t)strlen(text));
		}
		memcpy(tenant->fields, field_defaults, sizeof(field_defaults));
		tenant->live = 0;
		tenant->own = 0;
	}
	for (i = 0; i < 2; i++)
		tenants[i].current = read_number(tenants[i].group, "memory.current");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t first;
	size_t len;
	char *bytes;

	start();
	reset();
	while ((bytes = fuzz_record(&data, &size, &first, &len))) {
		unsigned int what = first % 64;

		if (what < 48)
			write_once(&tenants[what / 16], &files[what % 16], bytes, len);
		else
			charge_once(what % GROUPS, (len > 0 ? (uint8_t)bytes[0] : 0) + 1UL, len > 1 ? bytes[1] & 1 : 0);
		free(bytes);
	}
	return 0;
}
