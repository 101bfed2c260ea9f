/* SPDX-License-Identifier: MIT */
/*
 * sqlite   100000 inserts in memory: one transaction of as many statements
 * python   data/churn.py with PYTHONMALLOC=malloc, so that every object is a malloc
 * lua      data/churn.lua
 *
 * The scripts are compiled in and given as stdin: the program needs no file beside it.
 */
#include "programs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench_data.h"
#include "spawn.h"

#define INSERTS 100000

static int installed(const char *const *argv)
{
	struct spawn s = { .argv = argv, .input = -1 };

	return !spawn_run(&s);
}

static FILE *open_input(struct program *p)
{
	int fd;

	p->input = memfd_create("memcg-bench-input", MFD_CLOEXEC);
	fd = p->input < 0 ? -1 : dup(p->input);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int close_input(FILE *f)
{
	int bad;

	if (!f)
		return -EIO;
	bad = ferror(f);
	return fclose(f) || bad ? -EIO : 0;
}

/* Four columns and an index, as an ordinary table has them; the numbers are a fixed sequence. */
static int find_sqlite(struct program *p, unsigned int inserts)
{
	static const char *const version[] = { "sqlite3", "-version", NULL };
	unsigned int i, x = 1;
	FILE *f;

	if (!installed(version))
		return -ENOENT;
	f = open_input(p);
	if (f)
		fputs("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL);\n"
		      "CREATE INDEX ta ON t(a);\nBEGIN;\n",
		      f);
	for (i = 0; f && i < inserts; i++) {
		x = x * 1664525U + 1013904223U;
		fprintf(f, "INSERT INTO t(a, b, c) VALUES(%u, 'row %u of the table', %u.5);\n", x >> 8, i, x >> 20);
	}
	if (f)
		fputs("COMMIT;\nSELECT count(*), sum(a) FROM t;\n", f);
	p->argv[0] = "sqlite3";
	p->argv[1] = "-batch";
	p->argv[2] = ":memory:";
	return close_input(f);
}

static int put_script(struct program *p, unsigned int rounds, const char *assign, const char *text)
{
	FILE *f = open_input(p);

	if (f) {
		fprintf(f, assign, rounds);
		fputs(text, f);
	}
	return close_input(f);
}

/* A python3 in PATH may be a shell script that chooses one: what it chose is what is measured. */
static int find_python(struct program *p, unsigned int rounds)
{
	static const char *const who[] = { "python3", "-c", "import sys; print(sys.executable)", NULL };
	struct spawn s = { .argv = who, .input = -1, .output = p->path, .output_len = sizeof(p->path) };

	if (spawn_run(&s))
		return -ENOENT;
	p->path[strcspn(p->path, "\n")] = '\0';
	p->argv[0] = p->path;
	p->argv[1] = "-S";
	p->argv[2] = "-";
	p->env = "PYTHONMALLOC=malloc";
	return put_script(p, rounds, "ROUNDS = %u\n", bench_data_churn_py);
}

static int find_lua(struct program *p, unsigned int rounds)
{
	static const char *const names[] = { "lua5.4", "lua" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const version[] = { names[i], "-v", NULL };

		if (!installed(version))
			continue;
		p->argv[0] = names[i];
		p->argv[1] = "-";
		return put_script(p, rounds, "ROUNDS = %u\n", bench_data_churn_lua);
	}
	return -ENOENT;
}

int program_find(const struct bench *b, const char *name, struct program *p)
{
	bool quick = b->opt.quick;

	*p = (struct program){ .input = -1 };
	if (!strcmp(name, "sqlite"))
		return find_sqlite(p, quick ? INSERTS / 4 : INSERTS);
	if (!strcmp(name, "python"))
		return find_python(p, quick ? 8 : 30);
	return find_lua(p, quick ? 6 : 16);
}

void program_release(struct program *p)
{
	if (p->input >= 0)
		close(p->input);
}
