/* SPDX-License-Identifier: MIT */
/* The command `memcg`: a table of subcommands. Each has a file of its own. */
#ifndef MEMCG_CLI_H
#define MEMCG_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes as env(1) and timeout(1) have them. */
enum cli_exit {
	CLI_OK = 0,
	CLI_WRONG = 2,       /* a command that talks to a process: wrong usage, or the process said no */
	CLI_FAILED = 125,    /* the command itself, before the program ran */
	CLI_NOT_RUN = 126,   /* the program was found and cannot be run, or not confined */
	CLI_NOT_FOUND = 127, /* the program, or its interpreter, was not found */
	CLI_SIGNALLED = 128, /* plus the signal that killed the program, where it does not kill the command */
};

struct cli_command {
	const char *name;                  /* as given after "memcg" */
	const char *summary;               /* one line of "memcg --help" */
	int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
};

/* main.c: one line on stderr, "memcg: ..."; returns CLI_FAILED. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2))); /* the same; returns CLI_WRONG */
int cli_help(const char *text);                                               /* to stdout; returns the exit code */
int cli_flush(void); /* what was printed is written: 0, or CLI_WRONG and a line */

/* program.c: what is executed. Both print their error and return its exit code, or 0. */
int program_find(const char *name, char *path, size_t len);
int program_check(const char *name, const char *path, const char *library);

/* library.c: the preload library, 0 or an exit code as above. */
int library_find(char *path, size_t len);
int library_preload(const char *path);

/* child.c: the program as a child of ours. */
int child_run(const char *path, char **argv);

/* The commands, each with a file of its own; make.c has mkdir and rmdir. */
int run_command(int argc, char **argv);
int ls_command(int argc, char **argv);
int tree_command(int argc, char **argv);
int get_command(int argc, char **argv);
int set_command(int argc, char **argv);
int mkdir_command(int argc, char **argv);
int rmdir_command(int argc, char **argv);
int events_command(int argc, char **argv);
int top_command(int argc, char **argv);

#endif
