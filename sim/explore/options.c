/* SPDX-License-Identifier: MIT */
/* The options of memcg-sim explore. */
#include "explore/explore.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] = "Usage: memcg-sim explore (--test NAME | --all | --list | --replay FILE) [OPTION]...\n"
			    "Runs the library's own code on simulated CPUs under many schedules.\n"
			    "\n"
			    "  --test NAME          one test\n"
			    "  --all                every test, and exhaustive searches of the smallest\n"
			    "  --list               names of the tests, and of the simulator's own\n"
			    "  --replay FILE        the schedule of a failure, with its steps; takes --memory and\n"
			    "                       --full, the rest is in the file\n"
			    "  --schedules N        schedules of each test (default 1000)\n"
			    "  --seed S             number that all choices follow from (default 1)\n"
			    "  --scheduler NAME     random, pct, exhaustive, or mix (default)\n"
			    "  --memory NAME        tso (default) or sc\n"
			    "  --cpus N             simulated CPUs, 1 to 16 (default: the test's)\n"
			    "  --bound N            adds an exhaustive search of at most N decisions, 1 to 1000\n"
			    "                       (default of exhaustive: the test's)\n"
			    "  --fault NAME         plant a fault in the library (see below)\n"
			    "  --output DIR         folder of replay files (default .)\n"
			    "  --jobs N             processes, 1 to 64 (default: CPUs of this machine)\n"
			    "  --full               print private steps too\n"
			    "  -h, --help           this text\n"
			    "\n"
			    "Exit status: 0 no failure, 1 a failure, 2 a wrong option or file, or output\n"
			    "that cannot be written.\n"
			    "\n"
			    "Faults, each with a test that finds it:\n";

enum {
	OPT_TEST = 1,
	OPT_ALL,
	OPT_LIST,
	OPT_REPLAY,
	OPT_SCHEDULES,
	OPT_SEED,
	OPT_SCHEDULER,
	OPT_MEMORY,
	OPT_CPUS,
	OPT_BOUND,
	OPT_FAULT,
	OPT_OUTPUT,
	OPT_JOBS,
	OPT_FULL,
	OPT_HELP = 'h'
};

static const struct option long_options[] = {
	{ "test", required_argument, NULL, OPT_TEST },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "replay", required_argument, NULL, OPT_REPLAY },
	{ "schedules", required_argument, NULL, OPT_SCHEDULES },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "scheduler", required_argument, NULL, OPT_SCHEDULER },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "bound", required_argument, NULL, OPT_BOUND },
	{ "fault", required_argument, NULL, OPT_FAULT },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "full", no_argument, NULL, OPT_FULL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static const struct range {
	uint64_t least; /* smallest value */
	uint64_t most;  /* largest */
} ranges[] = {
	[OPT_SCHEDULES] = { 1, UINT64_MAX }, [OPT_SEED] = { 0, UINT64_MAX }, [OPT_CPUS] = { 1, SIM_MAX_CPUS },
	[OPT_BOUND] = { 1, 1000 },           [OPT_JOBS] = { 1, 64 },
};

static const char *option_name(int option)
{
	const struct option *o = long_options;

	while (o->name && o->val != option)
		o++;
	return o->name ? o->name : "";
}

bool sim_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value >= least && *value <= most;
}

static int set_choice(int option, const char *arg, struct sim_options *opts)
{
	bool known = option == OPT_MEMORY ? sim_memory_find(arg, &opts->tso) :
		     option == OPT_FAULT  ? sim_fault_find(arg, &opts->fault) :
					    sim_scheduler_find(arg, &opts->scheduler);

	if (known)
		return 0;
	return sim_error("--%s: '%s' is not one of %s", option_name(option), arg,
			 option == OPT_MEMORY ? "tso, sc" :
			 option == OPT_FAULT  ? sim_fault_choices() :
						"mix, random, pct, exhaustive");
}

static int set_number(int option, const char *arg, struct sim_options *opts)
{
	const struct range *range = &ranges[option];
	uint64_t value;

	if (!sim_number(arg, range->least, range->most, &value))
		return sim_error("--%s: '%s' is not %" PRIu64 " to %" PRIu64, option_name(option), arg, range->least,
				 range->most);
	if (option == OPT_SCHEDULES)
		opts->schedules = value;
	else if (option == OPT_SEED)
		opts->seed = value;
	else if (option == OPT_CPUS)
		opts->cpus = (unsigned int)value;
	else if (option == OPT_JOBS)
		opts->jobs = (unsigned int)value;
	else
		opts->bound = (int)value;
	return 0;
}

static int set_output(const char *arg, struct sim_options *opts)
{
	struct stat st;

	opts->output = arg;
	if (!*arg)
		return sim_error("--output: '' is no folder");
	if (stat(arg, &st))
		return sim_error("--output: '%s': %s", arg, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return sim_error("--output: '%s' is no folder", arg);
	if (access(arg, W_OK | X_OK))
		return sim_error("--output: '%s' cannot be written to: %s", arg, strerror(errno));
	return 0;
}

/* 0, or the exit code. */
static int set_option(int option, const char *arg, struct sim_options *opts)
{
	switch (option) {
	case OPT_TEST:
		opts->test = arg;
		return sim_find_test(arg) ? 0 : sim_error("--test: '%s' is no test; see --list", arg);
	case OPT_REPLAY:
		opts->replay = arg;
		return 0;
	case OPT_OUTPUT:
		return set_output(arg, opts);
	case OPT_ALL:
		opts->all = true;
		return 0;
	case OPT_LIST:
		opts->list = true;
		return 0;
	case OPT_FULL:
		opts->full = true;
		return 0;
	case OPT_SCHEDULER:
	case OPT_MEMORY:
	case OPT_FAULT:
		return set_choice(option, arg, opts);
	default:
		return set_number(option, arg, opts);
	}
}

static int help(void)
{
	fputs(usage, stdout);
	sim_fault_table();
	return sim_finish(0);
}

/* What getopt_long() could not take, known by ':' or '?'. */
static int complain(int option, const char *word)
{
	if (option == ':')
		return sim_error("--%s: its value is missing", option_name(optopt));
	if (optopt && optopt <= OPT_FULL)
		return sim_error("--%s takes no value", option_name(optopt));
	if (optopt == OPT_HELP)
		return sim_error("--help takes no value");
	if (optopt)
		return sim_error("unknown option '-%c'; see --help", optopt);
	return sim_error("unknown option '%s'; see --help", word);
}

/* The options that were given, a bit each, go together. */
static int check_together(unsigned int given, const struct sim_options *opts)
{
	const unsigned int bits = 1U << OPT_TEST | 1U << OPT_ALL | 1U << OPT_LIST | 1U << OPT_REPLAY;
	unsigned int nr = (unsigned int)__builtin_popcount(given & bits), allowed = ~0U;

	if (nr != 1)
		return sim_error("%s of --test, --all, --list, --replay; see --help",
				 nr ? "only one" : "one is needed");
	if (opts->replay)
		allowed = 1U << OPT_REPLAY | 1U << OPT_MEMORY | 1U << OPT_FULL;
	else if (opts->list)
		allowed = 1U << OPT_LIST;
	for (int option = OPT_TEST; option <= OPT_FULL; option++)
		if (given & ~allowed & 1U << option)
			return sim_error("--%s cannot be combined with --%s", option_name(option),
					 opts->replay ? "replay" : "list");
	return -1;
}

/* -1: go on; else the exit code. */
int sim_options_parse(int argc, char **argv, struct sim_options *opts)
{
	int option, code;
	unsigned int given = 0;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	*opts = (struct sim_options){ .schedules = 1000,
				      .seed = 1,
				      .tso = true,
				      .output = ".",
				      .jobs = online > 0 ? (unsigned int)online : 1 };
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return help();
		if (option == ':' || option == '?')
			return complain(option, argv[optind - 1]);
		code = set_option(option, optarg, opts);
		if (code)
			return code;
		given |= 1U << option;
	}
	if (optind < argc)
		return sim_error("unexpected word '%s'; see --help", argv[optind]);
	opts->own_memory = given & 1U << OPT_MEMORY;
	return check_together(given, opts);
}
