/* SPDX-License-Identifier: MIT */
/* The child of bench malloc: a loop that measures itself, with whatever malloc the process was given. */
#ifndef BENCH_MALLOC_LOOP_H
#define BENCH_MALLOC_LOOP_H

#define MALLOC_LOOP_COMMAND "malloc-loop" /* not in --help: memcg-bench runs itself with it */

/* What the loops are called in keys; NULL after the last. */
extern const char *const malloc_loop_names[];

/* PATTERN MILLISECONDS: prints whether the library is in the process, and ns per operation. Exit status. */
int malloc_loop_main(int argc, char **argv);

#endif
