/* SPDX-License-Identifier: MIT */
/* The options of memcg-sim explore, and names of what they choose. */
#include "explore/explore.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] = "Usage: memcg-sim explore (--test NAME | --all | --list | --replay FILE) [OPTION]...\n"
			    "Runs the library's own code on simulated CPUs under many schedules.\n"
			    "\n"
			    "  --test NAME          one test\n"
			    "  --all                every test, and exhaustive searches of the smallest\n"
			    "  --list               names of the tests\n"
			    "  --replay FILE        the schedule of a failure, with its steps\n"
			    "  --schedules N        schedules of each test (default 1000)\n"
			    "  --seed S             number that all choices follow from (default 1)\n"
			    "  --scheduler NAME     random, pct, exhaustive, or mix (default)\n"
			    "  --memory NAME        tso (default) or sc\n"
			    "  --cpus N             simulated CPUs, 1 to 16 (default: the test's)\n"
			    "  --bound N            decisions of an exhaustive search (default: the test's)\n"
			    "  --fault NAME         plant a fault in the library\n"
			    "  --output DIR         folder of replay files (default .)\n"
			    "  --jobs N             processes (default: CPUs of this machine)\n"
			    "  --full               print private steps too\n"
			    "  --help               this text\n"
			    "\n"
			    "Exit status: 0 no failure, 1 a failure, 2 a wrong option.\n";

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
	OPT_HELP
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

static const char *const scheduler_names[] = {
	[SIM_SCHED_MIX] = "mix",       [SIM_SCHED_RANDOM] = "random",
	[SIM_SCHED_PCT] = "pct",       [SIM_SCHED_EXHAUSTIVE] = "exhaustive",
	[SIM_SCHED_REPLAY] = "replay",
};

static const char *const fault_names[] = { [FAULT_NONE] = "none",
#define X(id, name) [FAULT_##id] = (name),
					   SIM_FAULTS(X)
#undef X
};

enum {
	NR_FAULTS = sizeof(fault_names) / sizeof(fault_names[0])
};

const char *sim_scheduler_name(enum sim_scheduler scheduler)
{
	return scheduler_names[scheduler];
}

const char *sim_fault_name(enum sim_fault fault)
{
	return fault_names[fault];
}

bool sim_fault_find(const char *name, enum sim_fault *fault)
{
	for (unsigned int i = 0; i < NR_FAULTS; i++) {
		if (strcmp(name, fault_names[i]) != 0)
			continue;
		*fault = (enum sim_fault)i;
		return true;
	}
	return false;
}

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value >= least && *value <= most;
}

static bool set_choice(int option, const char *arg, struct sim_options *opts)
{
	if (option == OPT_MEMORY) {
		opts->tso = strcmp(arg, "tso") == 0;
		return opts->tso || strcmp(arg, "sc") == 0;
	}
	if (option == OPT_FAULT)
		return sim_fault_find(arg, &opts->fault);
	for (unsigned int i = SIM_SCHED_MIX; i <= SIM_SCHED_EXHAUSTIVE; i++)
		if (strcmp(arg, scheduler_names[i]) == 0) {
			opts->scheduler = (enum sim_scheduler)i;
			return true;
		}
	return false;
}

static bool set_number(int option, const char *arg, struct sim_options *opts)
{
	uint64_t value;

	if (!number(arg, option == OPT_SEED ? 0 : 1,
		    option == OPT_CPUS  ? SIM_MAX_CPUS :
		    option == OPT_JOBS  ? 64 :
		    option == OPT_BOUND ? 1000 :
					  UINT64_MAX,
		    &value))
		return false;
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
	return true;
}

static bool set_option(int option, const char *arg, struct sim_options *opts)
{
	switch (option) {
	case OPT_TEST:
		opts->test = arg;
		return true;
	case OPT_REPLAY:
		opts->replay = arg;
		return true;
	case OPT_OUTPUT:
		opts->output = arg;
		return true;
	case OPT_ALL:
		opts->all = true;
		return true;
	case OPT_LIST:
		opts->list = true;
		return true;
	case OPT_FULL:
		opts->full = true;
		return true;
	case OPT_SCHEDULER:
	case OPT_MEMORY:
	case OPT_FAULT:
		return set_choice(option, arg, opts);
	default:
		return set_number(option, arg, opts);
	}
}

static int complain(const char *what, const char *arg)
{
	fprintf(stderr, "memcg-sim: %s%s%s\n", what, arg ? " " : "", arg ? arg : "");
	return 2;
}

/* -1: go on; else the exit code. */
int sim_options_parse(int argc, char **argv, struct sim_options *opts)
{
	int option;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	*opts = (struct sim_options){ .schedules = 1000,
				      .seed = 1,
				      .tso = true,
				      .output = ".",
				      .jobs = online > 0 ? (unsigned int)online : 1 };
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (option == ':' || option == '?')
			return complain(option == ':' ? "missing value for" : "unknown option", argv[optind - 1]);
		if (!set_option(option, optarg, opts))
			return complain("bad value:", optarg);
	}
	if (optind < argc)
		return complain("unexpected argument", argv[optind]);
	if (!!opts->test + !!opts->replay + opts->all + opts->list != 1)
		return complain("one of --test, --all, --list, --replay is needed (see --help)", NULL);
	if (opts->test && !sim_find_test(opts->test))
		return complain("no such test:", opts->test);
	return -1;
}
