/* SPDX-License-Identifier: MIT */
/*
 * memcg run: the preload library and what it is to do, handed to a program in its
 * environment. An option that is not given leaves the environment's own value, so that a run
 * within a run keeps the outer limits.
 */
#include "cli.h"
#include "run_list.h"
#include "run_size.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct run_options {
	const char *max;     /* --max; NULL: not given */
	const char *high;    /* --high; NULL: not given */
	const char *report;  /* --report; NULL: not given */
	char *set;           /* --set, a line each; NULL: not given */
	char *map;           /* --map, a line each; NULL: not given */
	bool by_thread_name; /* --by-thread-name */
	bool mmap;           /* --mmap */
	bool no_control;     /* --no-control */
	bool help;           /* --help */
};

static const char help_text[] = "Usage: memcg run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
				"Run PROGRAM with its heap charged to a memory cgroup of its own.\n"
				"\n"
				"      --max SIZE         limit: beyond it malloc() fails with ENOMEM;\n"
				"                         default: the limit of the kernel's cgroup we are in\n"
				"      --high SIZE        written to memory.high\n"
				"      --report FORMAT    text or json: write the groups to stderr at exit\n"
				"      --set GROUP/FILE=VALUE\n"
				"                         written at start, as in a/memory.max=64M; the group is\n"
				"                         made; may be given again, for others\n"
				"      --by-thread-name   a group for each thread name\n"
				"      --map PATTERN=GROUP\n"
				"                         a group for the threads whose names match; the first\n"
				"                         that matches counts; may be given again\n"
				"      --mmap             charge anonymous private mappings too, by their size\n"
				"      --no-control       without the control socket of memcg ls, set, top ...\n"
				"  -h, --help             this text\n"
				"\n"
				"SIZE is a number of bytes with an optional K, M, G, T, P or E, or max.\n"
				"\n"
				"Exit status: PROGRAM's own, also when a signal killed it; 125 when memcg\n"
				"itself failed; 126 when PROGRAM cannot be run or confined (static, setuid,\n"
				"another machine); 127 when it was not found.\n";

/* Beyond the characters of short ones. */
enum run_option {
	OPTION_MAX = 256,
	OPTION_HIGH,
	OPTION_REPORT,
	OPTION_SET,
	OPTION_BY_THREAD_NAME,
	OPTION_MAP,
	OPTION_MMAP,
	OPTION_NO_CONTROL,
	OPTION_HELP
};

/* In the order of their numbers. */
static const struct option long_options[] = {
	{ "max", required_argument, NULL, OPTION_MAX },
	{ "high", required_argument, NULL, OPTION_HIGH },
	{ "report", required_argument, NULL, OPTION_REPORT },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "by-thread-name", no_argument, NULL, OPTION_BY_THREAD_NAME },
	{ "map", required_argument, NULL, OPTION_MAP },
	{ "mmap", no_argument, NULL, OPTION_MMAP },
	{ "no-control", no_argument, NULL, OPTION_NO_CONTROL },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static const char *name_of(int option)
{
	return long_options[option - OPTION_MAX].name;
}

static int take_size(int option, const char **size)
{
	*size = optarg;
	return run_size_is_valid(optarg) ? CLI_OK : cli_error("run: --%s: '%s' is not a size", name_of(option), optarg);
}

static int take_report(const char **report)
{
	*report = optarg;
	if (!strcmp(optarg, "text") || !strcmp(optarg, "json"))
		return CLI_OK;
	return cli_error("run: --report: '%s' is neither text nor json", optarg);
}

/* One more line of those that may be given again. */
static int add_line(int option, char **list)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "\n" : "", optarg) < 0)
		return cli_error("%s", strerror(ENOMEM));
	free(*list);
	*list = longer;
	if (strlen(longer) >= RUN_LIST_BYTES)
		return cli_error("run: --%s: more than %d bytes in all", name_of(option), RUN_LIST_BYTES - 1);
	return CLI_OK;
}

static bool is_limit(const struct run_part *file)
{
	static const char *const limits[] = { "memory.min", "memory.low", "memory.high", "memory.max" };

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (file->len == strlen(limits[i]) && !memcmp(file->text, limits[i], file->len))
			return true;
	}
	return false;
}

static int take_setting(char **list)
{
	struct run_setting setting;

	if (!run_setting_parse(optarg, strlen(optarg), &setting))
		return cli_error("run: --set: '%s' is not GROUP/FILE=VALUE", optarg);
	if (is_limit(&setting.file) && !run_size_is_valid(setting.value.text))
		return cli_error("run: --set: '%s' is not a size, in '%s'", setting.value.text, optarg);
	return add_line(OPTION_SET, list);
}

static int take_rule(char **list)
{
	struct run_rule rule;

	if (!run_rule_parse(optarg, strlen(optarg), &rule))
		return cli_error("run: --map: '%s' is not PATTERN=GROUP", optarg);
	return add_line(OPTION_MAP, list);
}

/* One that contradicts itself is a mistake, so no option is given twice, but for those that add something. */
static bool is_given(int option, const struct run_options *options)
{
	switch (option) {
	case OPTION_MAX:
		return options->max;
	case OPTION_HIGH:
		return options->high;
	case OPTION_REPORT:
		return options->report;
	case OPTION_BY_THREAD_NAME:
		return options->by_thread_name;
	case OPTION_MMAP:
		return options->mmap;
	case OPTION_NO_CONTROL:
		return options->no_control;
	default:
		return false;
	}
}

static int take_option(int option, struct run_options *options)
{
	if (is_given(option, options))
		return cli_error("run: --%s is given twice", name_of(option));
	switch (option) {
	case OPTION_MAX:
		return take_size(option, &options->max);
	case OPTION_HIGH:
		return take_size(option, &options->high);
	case OPTION_REPORT:
		return take_report(&options->report);
	case OPTION_SET:
		return take_setting(&options->set);
	case OPTION_BY_THREAD_NAME:
		options->by_thread_name = true;
		return CLI_OK;
	case OPTION_MAP:
		return take_rule(&options->map);
	case OPTION_MMAP:
		options->mmap = true;
		return CLI_OK;
	case OPTION_NO_CONTROL:
		options->no_control = true;
		return CLI_OK;
	default:
		options->help = true;
		return CLI_OK;
	}
}

/* What optopt has: a known long one, which takes no value; or a short one: in a cluster, optind has not moved on. */
static int wrong_option(const char *word)
{
	if (optopt >= OPTION_MAX)
		return cli_error("run: --%s takes no value", name_of(optopt));
	if (optopt)
		return cli_error("run: option '-%c' is not known; see memcg run --help", optopt);
	return cli_error("run: option '%s' is not known; see memcg run --help", word);
}

static int parse(int argc, char **argv, struct run_options *options)
{
	int option, ret;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
		if (option == ':')
			return cli_error("run: --%s needs a value", name_of(optopt));
		if (option == '?')
			return wrong_option(argv[optind - 1]);
		ret = take_option(option, options);
		if (ret || options->help)
			return ret;
	}
	return optind < argc ? CLI_OK : cli_error("run: no program given; see memcg run --help");
}

/* High up, where neither shells nor programs look, and not closed at exec. */
static int report_fd(void)
{
	static const int places[] = { 1000, 250, 60, 10, STDERR_FILENO + 1 };
	int fd = -1;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++)
		fd = fcntl(STDERR_FILENO, F_DUPFD, places[i]);
	return fd;
}

/* With the file's identity: the program may close the descriptor and open another file as it. */
static int set_report(const char *format)
{
	struct stat st;
	char value[80];
	int fd = report_fd();

	if (fd < 0 || fstat(fd, &st))
		return cli_error("run: --report: standard error: %s", strerror(errno));
	snprintf(value, sizeof(value), "%d:%lu:%lu", fd, (unsigned long)st.st_dev, (unsigned long)st.st_ino);
	if (setenv("MEMCG_RUN_REPORT", format, 1) || setenv("MEMCG_RUN_REPORT_FD", value, 1))
		return cli_error("%s", strerror(errno));
	return CLI_OK;
}

static int set_environment(const struct run_options *options)
{
	const struct {
		const char *name;
		const char *value; /* NULL: the environment's own stays */
	} variables[] = {
		{ "MEMCG_RUN_MAX", options->max },
		{ "MEMCG_RUN_HIGH", options->high },
		{ "MEMCG_RUN_SET", options->set },
		{ "MEMCG_RUN_BY_THREAD_NAME", options->by_thread_name ? "1" : NULL },
		{ "MEMCG_RUN_MAP", options->map },
		{ "MEMCG_RUN_MMAP", options->mmap ? "1" : NULL },
		{ "MEMCG_RUN_CONTROL", options->no_control ? "0" : "1" },
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (variables[i].value && setenv(variables[i].name, variables[i].value, 1))
			return cli_error("%s", strerror(errno));
	}
	if (options->report)
		return set_report(options->report);
	unsetenv("MEMCG_RUN_REPORT"); /* an outer run's: it reports its own program */
	return CLI_OK;
}

int run_command(int argc, char **argv)
{
	struct run_options options = { 0 };
	char program[PATH_MAX], library[PATH_MAX];
	int ret = parse(argc, argv, &options);

	if (ret)
		return ret;
	if (options.help)
		return cli_help(help_text);
	argv += optind;
	ret = library_find(library, sizeof(library));
	if (!ret)
		ret = program_find(argv[0], program, sizeof(program));
	if (!ret)
		ret = program_check(argv[0], program, library);
	if (!ret)
		ret = library_preload(library);
	if (!ret)
		ret = set_environment(&options);
	return ret ? ret : child_run(program, argv);
}
