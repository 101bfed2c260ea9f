/* SPDX-License-Identifier: MIT */
/*
 * Replay files are read: a header, a "key value" line for each field, a line for each decision.
 *
 *	at T2 41: run T1
 *	at T1/irq 3: drain 0
 *	at main 0: next T2
 *
 * Nothing is guessed: each field is there once, each decision names threads and CPUs that
 * the test has, and what is wrong is said with its line and what was expected there.
 */
#include "explore/explore.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char sim_file_header[] = "memcg-sim replay 1";

enum {
	NR_ACTIONS = SIM_ACT_NEXT + 1
};

/* What follows the name of an action. */
static const struct form {
	bool thread;      /* a thread */
	bool cpu;         /* then a CPU */
	const char *text; /* as a message shows it */
} forms[NR_ACTIONS] = {
	[SIM_ACT_RUN] = { true, false, "run THREAD" },   [SIM_ACT_PLACE] = { true, true, "place THREAD CPU" },
	[SIM_ACT_PREEMPT] = { false, false, "preempt" }, [SIM_ACT_DRAIN] = { false, true, "drain CPU" },
	[SIM_ACT_IRQ] = { false, false, "irq" },         [SIM_ACT_NEXT] = { true, false, "next THREAD" },
};

static bool bad(const struct sim_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool bad(const struct sim_file *file, const char *format, ...)
{
	char what[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	sim_error("%s:%u: %s", file->path, file->line, what);
	return false;
}

static const char *shown(const char *word)
{
	return word ? word : "";
}

static bool small_number(const char *word, uint64_t most, uint64_t *number)
{
	return word && sim_number(word, 0, most, number);
}

/* "T2" */
static bool thread(const char *word, uint64_t *id)
{
	return word && word[0] == 'T' && small_number(word + 1, SIM_MAX_FIBRES - 1, id) && *id;
}

/* "main", "T2", "T2/irq" */
static bool context(char *word, uint8_t *ctx)
{
	static const char irq[] = "/irq";
	size_t len = word ? strlen(word) : 0;
	bool in_irq = len > strlen(irq) && strcmp(word + len - strlen(irq), irq) == 0;
	uint64_t id;

	*ctx = 0;
	if (word && strcmp(word, "main") == 0)
		return true;
	if (in_irq)
		word[len - strlen(irq)] = '\0';
	if (!thread(word, &id))
		return false;
	*ctx = (uint8_t)(id * 2 + in_irq);
	return true;
}

static bool add(struct sim_file *file, struct sim_logged decision)
{
	if (file->nr == SIM_LOG_MAX)
		return bad(file, "one decision more, at most %u were expected", SIM_LOG_MAX);
	if (file->nr == file->room) {
		file->room = file->room ? file->room * 2 : 64;
		file->decisions = realloc(file->decisions, file->room * sizeof(*file->decisions));
		file->lines = realloc(file->lines, file->room * sizeof(*file->lines));
		if (!file->decisions || !file->lines)
			abort();
	}
	file->lines[file->nr] = file->line;
	file->decisions[file->nr++] = decision;
	return true;
}

static bool end_of_line(const struct sim_file *file, char **rest)
{
	const char *more = strtok_r(NULL, " ", rest);

	return !more || bad(file, "'%s', the end of the line was expected", more);
}

/* "run T1" and its like. */
static bool read_action(const struct sim_file *file, struct sim_action *action, char **rest)
{
	const char *word = strtok_r(NULL, " ", rest);
	const struct form *form;
	uint64_t id = 0, cpu = 0;

	while (action->kind < NR_ACTIONS && (!word || strcmp(word, sim_action_names[action->kind]) != 0))
		action->kind++;
	if (action->kind == NR_ACTIONS)
		return bad(file, "'%s', one of run, place, preempt, drain, irq, next was expected", shown(word));
	form = &forms[action->kind];
	word = form->thread ? strtok_r(NULL, " ", rest) : NULL;
	if (form->thread && !thread(word, &id))
		return bad(file, "'%s', '%s' was expected, with a thread T1 to T%d", shown(word), form->text,
			   SIM_MAX_FIBRES - 1);
	word = form->cpu ? strtok_r(NULL, " ", rest) : NULL;
	if (form->cpu && !small_number(word, SIM_MAX_CPUS - 1, &cpu))
		return bad(file, "'%s', '%s' was expected, with a CPU 0 to %d", shown(word), form->text,
			   SIM_MAX_CPUS - 1);
	action->a = (uint8_t)(form->thread ? id : cpu);
	action->b = (uint8_t)(form->thread ? cpu : 0);
	return end_of_line(file, rest);
}

/* What follows "at": who, point, action. */
static bool read_decision(struct sim_file *file, char **rest)
{
	char *who = strtok_r(NULL, " ", rest), *point = strtok_r(NULL, " ", rest);
	size_t len = point ? strlen(point) : 0;
	struct sim_logged decision = { .n = 0 };
	uint64_t n;

	if (!context(who, &decision.ctx))
		return bad(file, "'%s', main or a thread T1 to T%d or its /irq was expected", shown(who),
			   SIM_MAX_FIBRES - 1);
	if (len && point[len - 1] == ':')
		point[len - 1] = '\0';
	else
		return bad(file, "'%s', a point was expected, such as 41:", shown(point));
	if (!small_number(point, UINT32_MAX - 1, &n))
		return bad(file, "'%s', a point 0 to %u was expected", point, UINT32_MAX - 1);
	decision.n = (uint32_t)n;
	return read_action(file, &decision.action, rest) && add(file, decision);
}

enum {
	TEST,
	SEED,
	MEMORY,
	CPUS,
	FAULT,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	[TEST] = "test", [SEED] = "seed", [MEMORY] = "memory", [CPUS] = "cpus", [FAULT] = "fault",
};

static bool set_field(struct sim_file *file, unsigned int field, const char *value)
{
	uint64_t number = 0;

	switch (field) {
	case TEST:
		file->test = sim_find_test(value);
		return file->test || bad(file, "test '%s', a test of --list was expected", value);
	case SEED:
		return sim_number(value, 0, UINT64_MAX, &file->seed) ||
		       bad(file, "seed '%s', 0 to %llu was expected", value, (unsigned long long)UINT64_MAX);
	case MEMORY:
		return sim_memory_find(value, &file->tso) || bad(file, "memory '%s', tso or sc was expected", value);
	case CPUS:
		if (!sim_number(value, 1, SIM_MAX_CPUS, &number))
			return bad(file, "cpus '%s', 1 to %d was expected", value, SIM_MAX_CPUS);
		file->cpus = (unsigned int)number;
		return true;
	default:
		return sim_fault_find(value, &file->fault) ||
		       bad(file, "fault '%s', one of %s was expected", value, sim_fault_choices());
	}
}

static bool read_words(struct sim_file *file, char *line)
{
	char *rest, *key = strtok_r(line, " ", &rest), *value;
	unsigned int field = 0;

	if (!key)
		return true;
	if (strcmp(key, "at") == 0)
		return read_decision(file, &rest);
	while (field < NR_FIELDS && strcmp(key, field_names[field]) != 0)
		field++;
	if (field == NR_FIELDS)
		return bad(file, "'%s', one of test, seed, memory, cpus, fault, at was expected", key);
	if (file->seen & 1U << field)
		return bad(file, "a second '%s', one was expected", key);
	file->seen |= 1U << field;
	value = strtok_r(NULL, " ", &rest);
	if (!value)
		return bad(file, "nothing after '%s', a value was expected", key);
	return set_field(file, field, value) && end_of_line(file, &rest);
}

static bool read_line(struct sim_file *file, char *line, size_t len)
{
	if (memchr(line, '\0', len))
		return bad(file, "a byte of value 0, text was expected");
	if (len && line[len - 1] == '\n')
		line[--len] = '\0';
	if (len && line[len - 1] == '\r')
		return bad(file, "the line ends in CR LF, LF alone was expected");
	if (file->line == 1)
		return strcmp(line, sim_file_header) == 0 ||
		       bad(file, "no replay file, '%s' was expected", sim_file_header);
	return line[0] == '#' || read_words(file, line);
}

static bool read_lines(struct sim_file *file, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	bool good = true;

	while (good && (len = getline(&line, &room, in)) >= 0) {
		file->line++;
		good = read_line(file, line, (size_t)len);
	}
	if (good && ferror(in)) {
		sim_error("%s: %s", file->path, strerror(errno));
		good = false;
	}
	free(line);
	return good;
}

/* Who and what a decision names must be there, in this test on these CPUs. */
static bool check_decision(struct sim_file *file, unsigned int i)
{
	const struct sim_logged *d = &file->decisions[i];
	const struct form *form = &forms[d->action.kind];
	unsigned int threads = 0, named = form->thread ? d->action.a : 0;
	unsigned int cpu = !form->cpu ? 0 : form->thread ? d->action.b : d->action.a;

	file->line = file->lines[i];
	while (file->test->threads[threads])
		threads++;
	if (d->ctx / 2U > named)
		named = d->ctx / 2U;
	if (named > threads)
		return bad(file, "T%u, T1 to T%u was expected: the threads of test %s", named, threads,
			   file->test->name);
	if (cpu >= file->cpus)
		return bad(file, "CPU %u, 0 to %u was expected: cpus is %u", cpu, file->cpus - 1, file->cpus);
	if (!d->ctx && (d->action.kind != SIM_ACT_NEXT || d->n))
		return bad(file, "a decision of main, 'at main 0: next THREAD' was expected");
	return true;
}

bool sim_file_read(struct sim_file *file)
{
	FILE *in = fopen(file->path, "r");
	bool good;

	if (!in) {
		sim_error("%s: %s", file->path, strerror(errno));
		return false;
	}
	good = read_lines(file, in);
	fclose(in);
	if (good && !file->line++)
		return bad(file, "no replay file, '%s' was expected", sim_file_header);
	for (unsigned int field = 0; good && field < NR_FIELDS; field++)
		if (!(file->seen & 1U << field))
			good = bad(file, "the end of the file, a line '%s VALUE' was expected", field_names[field]);
	for (unsigned int i = 0; good && i < file->nr; i++)
		good = check_decision(file, i);
	return good;
}
