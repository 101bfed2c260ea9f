/* SPDX-License-Identifier: MIT */
/* memcg-sim: the library's own code on simulated CPUs. */
#include "explore/explore.h"

#include <stdio.h>

#include "lines/lines.h"

static const char usage[] = "Usage: memcg-sim COMMAND [OPTION]...\n"
			    "\n"
			    "  explore     run tests under many schedules (see memcg-sim explore --help)\n"
			    "  flush       count the cache lines that a flush of statistics writes\n"
			    "  selftest    show that the simulator finds what it should, and only that\n";

int main(int argc, char **argv)
{
	struct sim_options opts;
	int code;

	if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc >= 2 && strcmp(argv[1], "explore") == 0) {
		code = sim_options_parse(argc - 1, argv + 1, &opts);
		if (code >= 0)
			return code;
		sim_init();
		return sim_explore(&opts);
	}
	if (argc == 2 && strcmp(argv[1], "flush") == 0) {
		sim_init();
		return sim_flush();
	}
	if (argc == 2 && strcmp(argv[1], "selftest") == 0) {
		sim_init();
		return sim_selftest();
	}
	fputs(usage, stderr);
	return 2;
}
