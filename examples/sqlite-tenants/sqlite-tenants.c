/* SPDX-License-Identifier: MIT */
/*
 * SQL scripts as tenants of one process: a thread, a database in memory, a group below "tenants" and a limit for each.
 *
 * SQLite allocates by functions that the program gives it, and here they charge the calling thread's group. So
 * a connection's pages, its statements and what they sort are the tenant's. When the group refuses, the statement ends
 * with SQLITE_NOMEM and is rolled back; the connection stays usable, and the others do not notice.
 * Exit status: 0: each script ended, or was refused by its own group; 1: another end; 2: could not start.
 */
#include <err.h>
#include <errno.h>
#include <memcg/files.h>
#include <memcg/heap.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tenant {
	const char *script;       /* its file */
	struct memcg *group;      /* who pays; main's reference */
	pthread_t thread;         /* where the script runs; main joins it before it reads what follows */
	char *text;               /* what it printed and how it ended, in memory that is nobody's */
	size_t text_len;          /* of it */
	int status;               /* an SQLite result code */
	struct memcg_refusal why; /* who refused, if the status is SQLITE_NOMEM */
};

static const char *max = "8M"; /* --max: memory.max of each tenant */

/* What SQLite asks for memory. Exact: nothing is refused because pages wait in another CPU's stock. */
static void *sql_malloc(int size)
{
	return memcg_heap_alloc(NULL, MEMCG_HEAP_HEADER, (size_t)size, MEMCG_MAY_SLEEP);
}

static void *sql_realloc(void *ptr, int size)
{
	return memcg_heap_realloc(NULL, ptr, (size_t)size, MEMCG_MAY_SLEEP);
}

static int sql_size(void *ptr)
{
	return (int)memcg_heap_size(ptr);
}

static int sql_roundup(int size)
{
	return (size + 7) & ~7;
}

static int sql_init(void *arg)
{
	return SQLITE_OK;
}

static void sql_shutdown(void *arg)
{
}

static const sqlite3_mem_methods methods = {
	sql_malloc, memcg_free, sql_realloc, sql_size, sql_roundup, sql_init, sql_shutdown, NULL,
};

/* A row of a result, columns divided by '|'. */
static int print_row(void *out, int nr, char **values, char **names)
{
	fputs("  ", out);
	for (int i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
	fputc('\n', out);
	return 0;
}

/* The whole file; NULL with errno. */
static char *read_script(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t len = 0;

	if (!file)
		return NULL;
	errno = EIO; /* a folder, or nothing in it */
	if (getdelim(&text, &len, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void *tenant_thread(void *arg)
{
	struct tenant *tenant = arg;
	FILE *out = open_memstream(&tenant->text, &tenant->text_len);
	char *script = read_script(tenant->script), *message = NULL;
	sqlite3 *db = NULL;

	tenant->status = SQLITE_CANTOPEN;
	if (!script)
		fprintf(out, "  cannot read %s: %s\n", tenant->script, strerror(errno));
	if (script && !memcg_attach(tenant->group)) {
		tenant->status = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
		if (tenant->status == SQLITE_OK)
			tenant->status = sqlite3_exec(db, script, print_row, out, &message);
		if (tenant->status == SQLITE_NOMEM)
			tenant->why = *memcg_last_refusal();
		fprintf(out, "  %s\n",
			tenant->status == SQLITE_OK ? "done" :
			message                     ? message :
						      sqlite3_errstr(tenant->status));
		sqlite3_free(message);
		sqlite3_close(db);
	}
	free(script);
	fclose(out);
	return NULL;
}

/* The group has the name of the script's file, without what is behind its dot; the second of a name is "name.2". */
static void tenant_start(struct tenant *tenant, const char *script, struct memcg *parent)
{
	const char *slash = strrchr(script, '/'), *base = slash ? slash + 1 : script;
	char name[2 * MEMCG_NAME_MAX];
	ssize_t ret = -EEXIST;

	tenant->script = script;
	for (int i = 1; ret == -EEXIST; i++) {
		snprintf(name, sizeof(name), i > 1 ? "%.*s.%d" : "%.*s", (int)strcspn(base, "."), base, i);
		ret = memcg_create(parent, name, &tenant->group);
	}
	if (!ret)
		ret = memcg_write(tenant->group, "memory.max", max, strlen(max));
	if (ret >= 0)
		ret = -pthread_create(&tenant->thread, NULL, tenant_thread, tenant);
	if (ret < 0)
		errx(2, "%s, max %s: %s", script, max, strerror((int)-ret));
}

/* The number behind a key in a file, "" for a file that is one number. */
static unsigned long file_number(struct memcg *group, const char *file, const char *key)
{
	char text[512] = "";
	const char *at = memcg_read(group, file, text, sizeof(text)) > 0 ? strstr(text, key) : NULL;

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* 0: it ended as it may, and left nothing. A limit of 0 takes back what CPUs hold in stock for the group. */
static int tenant_end(struct tenant *tenant)
{
	int refused = tenant->status == SQLITE_NOMEM && tenant->why.group == tenant->group;
	char path[2 * MEMCG_NAME_MAX] = "";
	unsigned long left;

	memcg_path(tenant->group, path, sizeof(path));
	printf("%s\n%s", path, tenant->text ? tenant->text : "  no memory\n");
	if (refused)
		printf("  refused by %s of %s\n", tenant->why.file, path);
	memcg_write(tenant->group, "memory.max", "0", 1);
	left = file_number(tenant->group, "memory.current", "");
	printf("  memory.peak %lu, memory.events max %lu, at last memory.current %lu\n",
	       file_number(tenant->group, "memory.peak", ""), file_number(tenant->group, "memory.events", "\nmax "),
	       left);
	free(tenant->text);
	if (memcg_destroy(tenant->group))
		left = 1;
	memcg_put(tenant->group);
	return left || (tenant->status != SQLITE_OK && !refused);
}

int main(int argc, char **argv)
{
	struct tenant *tenants = calloc((size_t)argc, sizeof(*tenants));
	int first = argc > 2 && !strcmp(argv[1], "--max") ? 3 : 1, nr = argc - first, status = 0;
	struct memcg *parent;

	max = first == 3 ? argv[2] : max;
	if (nr < 1 || *argv[first] == '-' || !*max || !tenants)
		errx(2, "usage: sqlite-tenants [--max SIZE] SCRIPT...");
	/* What all connections share is allocated here, and is the root's. */
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) || sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) ||
	    sqlite3_initialize() || memcg_create(NULL, "tenants", &parent))
		errx(2, "cannot start SQLite, or a group for the tenants");
	for (int i = 0; i < nr; i++)
		tenant_start(&tenants[i], argv[first + i], parent);
	for (int i = 0; i < nr; i++) {
		pthread_join(tenants[i].thread, NULL);
		status |= tenant_end(&tenants[i]);
	}
	status |= memcg_destroy(parent) != 0;
	memcg_put(parent);
	sqlite3_shutdown();
	free(tenants);
	return status;
}
