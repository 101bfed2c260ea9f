/* SPDX-License-Identifier: MIT */
/*
 * Records of a running Linux 7.2, replayed against our files: which there are, how they open, what a fresh group
 * reads, and for each write its return, errno and the value afterwards, byte for byte. What differs on purpose
 * is named here case by case, and stands in docs/differences.md.
 */
#include "files/record.h"

#include <memcg/files.h>

#include "group/group.h"

static struct memcg *group;
static struct record record;
static char text[8192];

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options) };

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	return memcg_init(&options);
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "x", &group);
}

static int teardown(void **state)
{
	(void)state;
	if (!memcg_dying(group))
		assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	memcg_tick();
	return 0;
}

static const char *read_file(const char *file)
{
	ssize_t len = memcg_read(group, file, text, sizeof(text));

	assert_true(len >= 0 && len < (ssize_t)sizeof(text));
	return text;
}

/* Write tables. */

enum rule {
	SAME,     /* as recorded */
	MAX_ONLY, /* cannot be had: what would change it is -EOPNOTSUPP */
	FREEZE,   /* the same, of a switch */
	KILL,     /* the same, of a button that cannot be read */
	THREADED, /* always "threaded", where the kernel's group begins as a domain */
};

struct row {
	char bytes[256];     /* written */
	size_t len;          /* how many */
	long ret;            /* of write(2), or a negative errno */
	char back[256];      /* read afterwards */
	bool cannot_be_read; /* -EINVAL */
};

/* A line of a table: "bytes" TAB return TAB errno TAB "value", or read:EINVAL. */
static void parse_row(char *line, struct row *row)
{
	char name[16];
	int used;

	line += strspn(line, " ");
	row->len = record_string(&line, row->bytes);
	assert_int_equal(sscanf(line, "\t%ld\t%15[A-Z0-9]\t%n", &row->ret, name, &used), 2);
	if (row->ret < 0)
		row->ret = -record_errno(name);
	line += used;
	row->cannot_be_read = !strcmp(line, "read:EINVAL");
	if (!row->cannot_be_read)
		record_string(&line, row->back);
}

/* What we answer to what is recorded. */
static void apply_rule(enum rule rule, struct row *row)
{
	bool changes = row->ret > 0 && strcmp(row->back, rule == FREEZE ? "0\n" : "max\n") != 0;

	switch (rule) {
	case SAME:
		return;
	case MAX_ONLY:
	case FREEZE:
		if (changes)
			row->ret = -EOPNOTSUPP;
		strcpy(row->back, rule == FREEZE ? "0\n" : "max\n");
		return;
	case KILL:
		if (row->ret > 0)
			row->ret = -EOPNOTSUPP;
		return;
	case THREADED:
		strcpy(row->back, "threaded\n");
		return;
	}
}

static void replay_row(const char *file, const char *reset, struct row *row)
{
	ssize_t ret;

	if (*reset)
		assert_int_equal(memcg_write(group, file, reset, strlen(reset)), strlen(reset));
	ret = memcg_write(group, file, row->bytes, row->len);
	if (ret != row->ret)
		print_error("%s \"%s\": %zd, recorded %ld\n", file, row->bytes, ret, row->ret);
	assert_int_equal(ret, row->ret);
	if (row->cannot_be_read)
		assert_int_equal(memcg_read(group, file, text, sizeof(text)), -EINVAL);
	else
		assert_string_equal(read_file(file), row->back);
}

/* "reset to 12288 before each": what is written before each row; @reset is empty where nothing is. */
static bool parse_reset(const char *line, char *reset)
{
	const char *at = strstr(line, "reset to ");

	return at && sscanf(at, "reset to %15[a-z0-9]", reset) == 1;
}

/* "4096" padded by blanks, as recorded at the end of a table. */
static void replay_long(const char *file, enum rule rule, const char *line)
{
	static char bytes[65536];
	size_t len;
	long ret = record_write_return(line);

	assert_int_equal(sscanf(line, "write(\"4096\" padded by spaces to %zu bytes)", &len), 1);
	memset(bytes, ' ', sizeof(bytes));
	memcpy(bytes, "4096", 4);
	assert_true(len <= sizeof(bytes));
	assert_int_equal(memcg_write(group, file, bytes, len), ret > 0 && rule == MAX_ONLY ? -EOPNOTSUPP : ret);
}

static unsigned int replay_table(const char *file, enum rule rule)
{
	char name[64], first_reset[16] = "", reset[16] = "";
	bool again = false;
	unsigned int rows = 0;
	char *line;

	snprintf(name, sizeof(name), "10-table-%s", file);
	record_open(&record, name);
	while ((line = record_line(&record))) {
		struct row row = { .len = 0 };

		if (!strncmp(line, "# case: ", 8) && parse_reset(line, first_reset))
			continue;
		if (!strncmp(line, "# --- ", 6)) {
			again = parse_reset(line, reset);
		} else if (!strncmp(line, "# input", 7)) {
			if (!again)
				strcpy(reset, first_reset);
			again = false;
		} else if (!strncmp(line, "write(", 6)) {
			replay_long(file, rule, line);
		} else if (!strncmp(line, "  \"", 3)) {
			parse_row(line, &row);
			apply_rule(rule, &row);
			replay_row(file, rule == SAME ? reset : "", &row);
			rows++;
		} else {
			/* the last line is what the long writes left */
			assert_true(*line == '#' || *line == '$' || !strcmp(line, "4096"));
		}
	}
	return rows;
}

static void writes(void **state)
{
	static const struct {
		const char *file;
		enum rule rule;
		unsigned int rows; /* of the record */
	} tables[] = {
		{ "memory.min", SAME, 70 },           { "memory.low", SAME, 70 },
		{ "memory.high", SAME, 70 },          { "memory.max", SAME, 70 },
		{ "memory.oom.group", SAME, 152 },    { "cgroup.max.depth", SAME, 75 },
		{ "memory.swap.max", MAX_ONLY, 70 },  { "cgroup.max.descendants", SAME, 75 },
		{ "memory.swap.high", MAX_ONLY, 70 }, { "memory.zswap.max", MAX_ONLY, 70 },
		{ "cgroup.freeze", FREEZE, 14 },      { "cgroup.kill", KILL, 14 },
		{ "cgroup.type", THREADED, 14 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < array_size(tables); i++)
		assert_int_equal(replay_table(tables[i].file, tables[i].rule), tables[i].rows);
}

/* Which files there are, with their modes. */

struct named {
	char name[64];
	unsigned int mode; /* permission bits */
};

struct list {
	struct named file[128];
	unsigned int nr;
};

static const struct named *find(const struct list *list, const char *name)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		if (!strcmp(list->file[i].name, name))
			return &list->file[i];
	}
	return NULL;
}

static void add(struct list *list, const char *name, unsigned int mode)
{
	if (find(list, name))
		return;
	assert_true(list->nr < array_size(list->file));
	snprintf(list->file[list->nr].name, sizeof(list->file[0].name), "%s", name);
	list->file[list->nr++].mode = mode;
}

static int add_ours(const char *file, unsigned int mode, void *arg)
{
	add(arg, file, mode);
	return 0;
}

/* Lines of ls -l: "-rw-r--r-- root root 0 memory.max". */
static void add_recorded(struct list *list, const char *name)
{
	const char *line;

	record_open(&record, name);
	while ((line = record_line(&record))) {
		static const char letters[] = "rwxrwxrwx";
		char perm[16], file[64];
		unsigned int mode = 0;
		int i;

		if (sscanf(line, "-%9[rwx-] root root 0 %63[a-z._]", perm, file) != 2)
			continue;
		for (i = 0; i < 9; i++)
			mode |= perm[i] == letters[i] ? 0400U >> i : 0;
		add(list, file, mode);
	}
}

/* The names in backquotes at the heads of rows below a heading of a document. */
static void add_documented(struct list *list, const char *path, const char *heading)
{
	bool inside = false;
	char *line;

	record_load(&record, path);
	while ((line = record_line(&record))) {
		char *at, *end;

		if (*line == '#')
			inside = strstr(line, heading) != NULL;
		if (!inside || strncmp(line, "| `", 3) != 0)
			continue;
		*strchr(line + 1, '|') = '\0';
		for (at = strchr(line, '`'); at; at = strchr(end + 1, '`')) {
			end = strchr(at + 1, '`');
			assert_non_null(end);
			*end = '\0';
			add(list, at + 1, 0);
		}
	}
}

/* Each of ours is the kernel's, with its mode; what the kernel has beyond is what docs say, no more and no less. */
static void list_of_files(void **state)
{
	static struct list ours, recorded, lacking;
	unsigned int i, missing = 0;

	(void)state;
	add_recorded(&recorded, "03-ls-fresh-child");
	assert_int_equal(recorded.nr, 33);
	add_recorded(&recorded, "02-ls-root"); /* io.stat is in the root alone */
	assert_int_equal(recorded.nr, 34);
	assert_int_equal(memcg_file_list(add_ours, &ours), 0);
	add_documented(&lacking, "docs/files.md", "Files of the kernel's that are not here");
	for (i = 0; i < ours.nr; i++) {
		const struct named *theirs = find(&recorded, ours.file[i].name);

		/* That kernel was built for one node. */
		if (!strcmp(ours.file[i].name, "memory.numa_stat"))
			continue;
		if (!theirs)
			fail_msg("%s is not in the record", ours.file[i].name);
		assert_int_equal(ours.file[i].mode, theirs->mode);
		assert_null(find(&lacking, ours.file[i].name));
	}
	for (i = 0; i < recorded.nr; i++) {
		if (find(&ours, recorded.file[i].name))
			continue;
		missing++;
		if (!find(&lacking, recorded.file[i].name))
			fail_msg("docs/files.md does not say that %s is lacking", recorded.file[i].name);
	}
	assert_int_equal(lacking.nr, missing);
}

/* Flags as in the record: "O_WRONLY|O_CREAT|O_TRUNC". */
static int parse_flags(char *names)
{
	static const struct {
		const char *name;
		int flag;
	} known[] = {
		{ "O_RDONLY", O_RDONLY }, { "O_WRONLY", O_WRONLY }, { "O_RDWR", O_RDWR },
		{ "O_TRUNC", O_TRUNC },   { "O_APPEND", O_APPEND }, { "O_CREAT", O_CREAT },
	};
	char *name, *rest = names;
	int flags = 0;
	size_t i;

	while ((name = strsep(&rest, "|"))) {
		for (i = 0; i < array_size(known) && strcmp(known[i].name, name) != 0; i++)
			;
		assert_true(i < array_size(known));
		flags |= known[i].flag;
	}
	return flags;
}

static void open_as_recorded(const char *name, char *flags, const char *result)
{
	struct memcg_file *file;

	assert_string_equal(result, "ok");
	assert_int_equal(memcg_file_open(group, name, parse_flags(flags), &file), 0);
	memcg_file_close(file);
}

static void open_modes(void **state)
{
	unsigned int opened = 0;
	char *line;

	(void)state;
	record_open(&record, "05-open-modes");
	while ((line = record_line(&record))) {
		char *word, *rest = line, *name = strsep(&rest, " ");

		if (!rest || strncmp(rest, "mode=", 5) != 0 || memcg_read(group, name, text, sizeof(text)) == -ENOENT)
			continue;
		while ((word = strsep(&rest, " "))) {
			char *result = strchr(word, ':');

			if (!result)
				continue;
			*result++ = '\0';
			open_as_recorded(name, word, result);
			opened++;
		}
	}
	assert_true(opened >= 29 * 6);
}

/* Contents. */

/* Where ours differ: 0 they do not. */
static const char *our_content(const char *file)
{
	if (!strcmp(file, "cgroup.type"))
		return "threaded\n";
	if (!strcmp(file, "cgroup.subtree_control"))
		return "memory\n";
	return NULL;
}

static void next_key(const char **at, char *key)
{
	assert_int_equal(sscanf(*at, "%63s", key), 1);
	*at = strchr(*at, '\n') + 1;
}

/* The recorded keys are among ours, in their order. */
static void keys_in_order(const char *recorded, const char *ours)
{
	char key[64], other[64];

	while (*recorded) {
		next_key(&recorded, key);
		do {
			if (!*ours)
				fail_msg("%s is not there, or not in order", key);
			next_key(&ours, other);
		} while (strcmp(key, other) != 0);
	}
}

/* Ours are among the recorded ones, and each line is the same: the kernel has more controllers. */
static void lines_among(const char *ours, const char *recorded)
{
	for (; *ours; ours = strchr(ours, '\n') + 1) {
		size_t len = (size_t)(strchr(ours, '\n') - ours) + 1;

		while (strncmp(recorded, ours, len) != 0) {
			recorded = strchr(recorded, '\n');
			if (!recorded)
				fail_msg("not recorded, or not in order: %.*s", (int)len, ours);
			recorded++;
		}
	}
}

static void same_content(const char *file, const char *recorded)
{
	const char *ours = our_content(file);

	if (strstr(recorded, ": Invalid argument\n")) {
		assert_int_equal(memcg_read(group, file, text, sizeof(text)), -EINVAL);
		return;
	}
	read_file(file);
	if (!strcmp(file, "memory.stat"))
		keys_in_order(recorded, text);
	else if (!strcmp(file, "cgroup.stat"))
		lines_among(text, recorded);
	else
		assert_string_equal(text, ours ? ours : recorded);
}

/* Blocks: a line "--- $CG/x/FILE", then what the file read. */
static unsigned int replay_contents(const char *name, const char *prefix, void (*block)(const char *, const char *))
{
	char file[64] = "", content[8192] = "", *line;
	unsigned int nr = 0;

	record_open(&record, name);
	do {
		line = record_line(&record);
		if (line && strncmp(line, "--- ", 4) != 0) {
			if (*file)
				snprintf(content + strlen(content), sizeof(content) - strlen(content), "%s\n", line);
			continue;
		}
		if (*file && memcg_read(group, file, text, sizeof(text)) != -ENOENT) {
			block(file, content);
			nr++;
		}
		*content = *file = '\0';
		if (line && !strncmp(line + 4, prefix, strlen(prefix)))
			snprintf(file, sizeof(file), "%s", line + 4 + strlen(prefix));
	} while (line);
	return nr;
}

static void fresh_contents(void **state)
{
	(void)state;
	assert_int_equal(replay_contents("04-fresh-content", "$CG/x/", same_content), 29);
}

/* The root has what the kernel's has. Its own numbers are not the record's; its keys are. */
static void root_content(const char *file, const char *recorded)
{
	assert_true(memcg_read(NULL, file, text, sizeof(text)) > 0);
	if (!strcmp(file, "memory.stat"))
		keys_in_order(recorded, text);
	else if (!strcmp(file, "cgroup.controllers"))
		assert_non_null(strstr(recorded, "memory"));
	else if (strcmp(file, "cgroup.threads") != 0 && strcmp(file, "cgroup.stat") != 0)
		assert_string_equal(text, recorded);
}

static void root_contents(void **state)
{
	(void)state;
	assert_int_equal(replay_contents("02-ls-root", "$CG/", root_content), 8);
	/* the kernel's root has none; a listed difference */
	assert_int_equal(memcg_write(NULL, "memory.max", "max", 3), 3);
}

/* Pairs of lines: "$ cgt w $CG/x/FILE 0", then what write(2) gave; or "$ cat $CG/x/FILE", then -EINVAL. */
static void read_only_files(void **state)
{
	unsigned int nr = 0;
	char *line;

	(void)state;
	record_open(&record, "11-table-readonly-files");
	while ((line = record_line(&record))) {
		char file[64], bytes[64];

		if (sscanf(line, "$ cgt w $CG/x/%63s %63s", file, bytes) == 2) {
			long ret = record_write_return(record_line(&record));

			assert_int_equal(memcg_write(group, file, bytes, strlen(bytes)), ret);
			nr++;
		} else if (sscanf(line, "$ cat $CG/x/%63s", file) == 1) {
			assert_non_null(strstr(record_line(&record), "Invalid argument"));
			if (memcg_read(group, file, text, sizeof(text)) == -ENOENT)
				continue;
			assert_int_equal(memcg_read(group, file, text, sizeof(text)), -EINVAL);
			nr++;
		}
	}
	assert_int_equal(nr, 12);
}

/* The commands of the recording program, run on our tree, with the lines that they print. */

static struct memcg *open_group(const char *path)
{
	struct memcg *found = NULL;

	return memcg_open(path, &found) ? NULL : found;
}

static void print_result(char *out, const char *what, int err)
{
	sprintf(out, "%s = %s\n", what, !err ? "0" : err == -EAGAIN ? "EAGAIN" : "another");
}

static void run_mkdir(const char *path, char *out)
{
	char above[64];
	struct memcg *parent, *made = NULL;
	int err;

	snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = '\0';
	parent = open_group(above);
	err = parent ? memcg_create(parent, strrchr(path, '/') + 1, &made) : -ENOENT;
	memcg_put(made);
	memcg_put(parent);
	print_result(out, "mkdir", err);
}

static void run_write(const char *path, const char *value, char *out)
{
	char above[64];
	const char *file = strrchr(path, '/') + 1;
	struct memcg *target;

	snprintf(above, sizeof(above), "%.*s", (int)(file - path - 1), path);
	target = open_group(above);
	assert_non_null(target);
	sprintf(out, "write(\"%s\") = %zd 0\n", value, memcg_write(target, file, value, strlen(value)));
	memcg_put(target);
}

static void run_command(const char *command, char *out)
{
	char path[64], value[64];
	struct memcg *target;

	*out = '\0';
	command += strspn(command, " ");
	if (sscanf(command, "cgt w $CG/%63s %63s", path, value) == 2) {
		run_write(path, value, out);
	} else if (sscanf(command, "cgt mkdir $CG/%63s", path) == 1) {
		run_mkdir(path, out);
	} else {
		assert_int_equal(sscanf(command, "rmdir $CG/%63s", path), 1);
		target = open_group(path);
		assert_non_null(target);
		assert_int_equal(memcg_destroy(target), 0);
		memcg_put(target);
	}
}

/* Limits on the shape of the tree: lines of commands, then what they printed. */
static void shape_limits(void **state)
{
	char *line, *command, *rest;
	unsigned int lines = 0;

	(void)state;
	record_open(&record, "12-delegation-errors");
	while ((line = record_line(&record))) {
		char printed[512] = "";

		if (strncmp(line, "$ cgt ", 6) != 0)
			continue;
		rest = line + 2;
		while ((command = strsep(&rest, ";")))
			run_command(command, printed + strlen(printed));
		assert_true(*printed);
		assert_memory_equal(record.next, printed, strlen(printed));
		record.next += strlen(printed);
		lines++;
	}
	assert_int_equal(lines, 2);
}

/* A file that was open when its group was removed: recorded is "No such device". */
static void removed_group(void **state)
{
	struct memcg_file *current, *max;
	char *line;

	(void)state;
	record_open(&record, "12-delegation-errors");
	do {
		line = record_line(&record);
	} while (strcmp(line, "cat: -: No such device") != 0);
	assert_int_equal(memcg_file_open(group, "memory.current", O_RDONLY, &current), 0);
	assert_int_equal(memcg_file_open(group, "memory.max", O_RDWR, &max), 0);
	assert_int_equal(memcg_destroy(group), 0);
	assert_int_equal(memcg_file_read(current, text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_file_write(max, "4096\n", 5), -ENODEV);
	memcg_file_close(current);
	memcg_file_close(max);
}

/* "$ cgt join $CG/s PID", then what the write gave: for tids the same. Recorded of cgroup.procs. */
static void joins(void **state)
{
	unsigned int nr = 0;
	char *line;

	(void)state;
	record_open(&record, "01-subtree-control");
	while ((line = record_line(&record))) {
		char tid[16] = "";
		long ret;

		if (sscanf(line, "$ cgt join $CG/s %15s", tid) != 1)
			continue;
		ret = record_write_return(record_line(&record));
		if (!strcmp(tid, "''"))
			*tid = '\0';
		/* pid 2 is a thread of the kernel's there, and none of ours here */
		if (!strcmp(tid, "2"))
			ret = -ESRCH;
		assert_int_equal(memcg_write(group, "cgroup.threads", tid, strlen(tid)), ret);
		nr++;
	}
	assert_int_equal(nr, 5);
}

/* What the recorded writes to cgroup.subtree_control are here: memory alone, and always on. */
static long our_control(const char *bytes, long recorded)
{
	const char *on = strstr(bytes, "+memory"), *off = strstr(bytes, "-memory");

	if (strstr(bytes, "pids"))
		return -EINVAL;
	if (recorded != -EINVAL && off && (!on || on < off))
		return -EOPNOTSUPP;
	return recorded == -ENOENT ? (long)strlen(bytes) : recorded;
}

static void controllers(void **state)
{
	char bytes[64], *line;
	unsigned int nr = 0;

	(void)state;
	record_open(&record, "01-subtree-control");
	while ((line = record_line(&record))) {
		bool ours = strstr(line, "cgroup.subtree_control") != NULL && !strncmp(line, "$ cgt w ", 8);

		if (!ours)
			continue;
		/* an argument with a newline goes on in the next line */
		while (strncmp(line, "write(", 6) != 0 && line)
			line = record_line(&record);
		if (strstr(line, "EBUSY"))
			continue;
		line += strlen("write(");
		record_string(&line, bytes);
		assert_int_equal(memcg_write(group, "cgroup.subtree_control", bytes, strlen(bytes)),
				 our_control(bytes, record_write_return(line - 1)));
		nr++;
	}
	assert_int_equal(nr, 15);
	assert_string_equal(read_file("cgroup.subtree_control"), "memory\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(writes),        CASE(list_of_files),   CASE(open_modes),   CASE(fresh_contents),
		CASE(root_contents), CASE(read_only_files), CASE(shape_limits), CASE(removed_group),
		CASE(joins),         CASE(controllers),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
