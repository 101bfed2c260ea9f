/* SPDX-License-Identifier: MIT */
/* memcg-sim: the library's own code on simulated CPUs. */
#include "explore/explore.h"

#include <stdio.h>

#include "lines/lines.h"

static const char usage[] = "Usage: memcg-sim COMMAND [OPTION]...\n"
			    "\n"
			    "  explore     run tests under many schedules (see memcg-sim explore --help)\n"
			    "  flush       count the cache lines that a flush of statistics writes\n"
			    "  selftest    show that the simulator finds what it should, and only that\n"
			    "\n"
			    "  -h, --help  this text\n";

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int explore(int argc, char **argv)
{
	struct sim_options opts;
	int code = sim_options_parse(argc, argv, &opts);

	if (code >= 0)
		return code;
	sim_init();
	return sim_finish(sim_explore(&opts));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	bool flush = strcmp(name, "flush") == 0, selftest = strcmp(name, "selftest") == 0;

	if (argc < 2)
		return sim_error("no command given; see memcg-sim --help");
	if (strcmp(name, "explore") == 0)
		return explore(argc - 1, argv + 1);
	if (is_help(name) || ((flush || selftest) && argc > 2 && is_help(argv[2]))) {
		fputs(usage, stdout);
		return sim_finish(0);
	}
	if (!flush && !selftest)
		return sim_error("%s '%s' is not known; see memcg-sim --help", *name == '-' ? "option" : "command",
				 name);
	if (argc > 2)
		return sim_error("%s: unexpected word '%s'; it takes none", name, argv[2]);
	sim_init();
	return sim_finish(flush ? sim_flush() : sim_selftest());
}
