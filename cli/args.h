/* SPDX-License-Identifier: MIT */
/* Options and operands of the commands that talk to a process: one table of options, of which each command allows some. */
#ifndef MEMCG_CLI_ARGS_H
#define MEMCG_CLI_ARGS_H

#include <stdbool.h>

/* Which options a command has besides -p, --socket and --help. */
enum args_allowed {
	ARGS_JSON = 1 << 0,    /* --json */
	ARGS_COUNT = 1 << 1,   /* -n */
	ARGS_DELAY = 1 << 2,   /* -d */
	ARGS_BATCH = 1 << 3,   /* -b, --batch */
	ARGS_LOCAL = 1 << 4,   /* --local */
	ARGS_PARENTS = 1 << 5, /* --parents */
};

struct args_command {
	const char *name;     /* "get" */
	const char *operands; /* "GROUP FILE", for the help */
	const char *summary;  /* lines for the help, each with its newline */
	int least, most;      /* operands */
	unsigned int allowed; /* enum args_allowed */
};

struct args {
	const struct args_command *command; /* whose */
	const char *socket;                 /* --socket; NULL: found */
	long pid;                           /* -p; 0: the only one */
	long count;                         /* -n; 0: without end */
	double delay;                       /* -d: seconds */
	bool json, batch, local, parents;   /* as given */
	bool help;                          /* was asked for, and written */
	int nr;                             /* operands */
	char **operands;                    /* they */
};

/* 0, or the exit code after a line on stderr. With args->help all is done. */
int args_parse(const struct args_command *command, int argc, char **argv, struct args *args);

#endif
