/* SPDX-License-Identifier: MIT */
/* explore's own parts: options, policies, shrinking, reports. */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include "explore/test.h"
#include "runtime/runtime.h"

enum sim_scheduler {
	SIM_SCHED_MIX,
	SIM_SCHED_RANDOM,
	SIM_SCHED_PCT,
	SIM_SCHED_EXHAUSTIVE,
	SIM_SCHED_REPLAY
};

struct sim_options {
	const char *test;             /* --test; NULL: none */
	const char *replay;           /* --replay */
	const char *output;           /* --output: folder of replay files; NULL: none is written */
	uint64_t schedules;           /* --schedules */
	uint64_t seed;                /* --seed */
	enum sim_scheduler scheduler; /* --scheduler */
	bool tso;                     /* --memory */
	bool own_memory;              /* --memory was given: goes before a replay file's */
	bool all, list, full;         /* --all, --list, --full: private steps in reports too */
	bool quiet;                   /* no output: selftest */
	unsigned int cpus;            /* --cpus; 0: the test's */
	unsigned int jobs;            /* --jobs; 0: as many as CPUs */
	int bound;                    /* --bound; 0: the test's */
	enum sim_fault fault;         /* --fault */
};

/* A schedule is known by its seed and scheduler; what went otherwise than by default, by its decisions. */
struct sim_schedule {
	const struct sim_test *test;    /* what runs */
	const struct sim_options *opts; /* how */
	enum sim_scheduler scheduler;   /* who decides */
	uint64_t index;                 /* number of the schedule */
	uint64_t seed;                  /* of this schedule */
	bool learning;                  /* one of the first: decisions at every point */
};

struct sim_result {                  /* of a test */
	uint64_t schedules;          /* run, up to the first failure */
	uint64_t exhaustive;         /* of them by exhaustive search */
	bool failed;                 /* one failed */
	bool finished;               /* the exhaustive search saw all */
	struct sim_schedule failing; /* which one */
};

/* schedule.c */
void sim_schedule_init(struct sim_schedule *s, const struct sim_test *test, const struct sim_options *opts,
		       uint64_t index);
void sim_schedule_run(const struct sim_schedule *s, const struct sim_policy *policy, bool trace, struct sim_run *run);
bool sim_schedule_execute(const struct sim_schedule *s); /* by its own scheduler; true: no failure */
bool sim_schedule_replay(const struct sim_schedule *s, const struct sim_logged *log, unsigned int nr, bool trace);

/* the schedulers */
extern const struct sim_policy sim_random_policy;
extern const struct sim_policy sim_pct_policy;
extern const struct sim_policy sim_exhaustive_policy;
extern const struct sim_policy sim_replay_policy;
void sim_random_config(uint64_t seed);
void sim_pct_config(uint64_t seed, uint64_t length);

enum sim_fate { /* of a decision that was replayed */
	SIM_NOT_REACHED,
	SIM_REFUSED,
	SIM_CARRIED_OUT
};
void sim_replay_config(const struct sim_logged *log, unsigned int nr);
enum sim_fate sim_replay_fate(unsigned int i); /* of the last replay; @i counts from 0 */

bool sim_exhaustive_search(struct sim_schedule *s, int bound, uint64_t most, struct sim_result *result);

/* search.c: many schedules of one test, in several processes */
void sim_search(const struct sim_test *test, const struct sim_options *opts, struct sim_result *result);

/* shrink.c */
unsigned int sim_shrink(const struct sim_schedule *s, struct sim_logged *log, unsigned int nr);

/* A replay file. */
struct sim_file {
	const char *path;             /* where it is */
	const struct sim_test *test;  /* what runs */
	uint64_t seed;                /* of the schedule */
	bool tso;                     /* memory */
	unsigned int cpus;            /* how many */
	enum sim_fault fault;         /* that is planted */
	struct sim_logged *decisions; /* in the order of the file */
	unsigned int *lines;          /* where each stands */
	unsigned int nr;              /* how many */
	unsigned int room;            /* for how many */
	unsigned int line;            /* that is being read */
	unsigned int seen;            /* fields that were read, a bit each */
};
extern const char sim_file_header[]; /* its first line */
extern const char *const sim_action_names[];
bool sim_file_read(struct sim_file *file); /* false: was said on standard error; the path is given */

/* report.c, file.c */
void sim_report(const struct sim_schedule *s);
bool sim_file_write(const char *path, const struct sim_schedule *s, const struct sim_logged *log, unsigned int nr);
int sim_file_replay(const char *path, struct sim_options *opts);
void sim_print_failure(const struct sim_schedule *s);
void sim_print_steps(const struct sim_schedule *s);
void sim_describe_action(struct sim_action action, char *buf, size_t len);

/* explore.c */
int sim_explore(const struct sim_options *opts);
const struct sim_test *sim_find_test(const char *name);

/* options.c */
int sim_options_parse(int argc, char **argv, struct sim_options *opts); /* -1: go on; else the exit code */
bool sim_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* names.c; the find functions: false if there is no such name */
const char *sim_fault_name(enum sim_fault fault);
bool sim_fault_find(const char *name, enum sim_fault *fault);
const char *sim_fault_choices(void);
void sim_fault_table(void); /* prints them, each with a test that finds it */
const char *sim_scheduler_name(enum sim_scheduler scheduler);
bool sim_scheduler_find(const char *name, enum sim_scheduler *scheduler);
bool sim_memory_find(const char *name, bool *tso);

/* error.c */
int sim_error(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line; 2 */
int sim_finish(int code); /* @code, or 2 when standard output could not be written */

/* selftest.c */
int sim_selftest(void);
bool sim_litmus_fails(const struct sim_test *test); /* by design */

#endif
