/* SPDX-License-Identifier: MIT */
/* Requests: parsed in place, when they are whole. */
#include "control/request.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	bool file;  /* FILE follows */
	bool value; /* LENGTH follows */
} verbs[] = {
	[VERB_READ] = { "read", true, false },    [VERB_WRITE] = { "write", true, true },
	[VERB_WATCH] = { "watch", true, false },  [VERB_LIST] = { "list", false, false },
	[VERB_TREE] = { "tree", false, false },   [VERB_FILES] = { "files", false, false },
	[VERB_MKDIR] = { "mkdir", false, false }, [VERB_RMDIR] = { "rmdir", false, false },
};

/* A part of a line. */
struct word {
	char *begin; /* its first byte */
	size_t len;  /* up to the blank behind it */
};

static struct request_result wrong(size_t used, int err, const char *what)
{
	return (struct request_result){ .state = REQUEST_WRONG, .used = used, .err = err, .what = what };
}

static struct request_result lost(int err, const char *what)
{
	return (struct request_result){ .state = REQUEST_LOST, .err = err, .what = what };
}

/* Up to the next blank of the line, which @at then is behind. False: no blank follows, or the word is empty. */
static bool next_word(char **at, const char *end, struct word *word)
{
	char *blank = memchr(*at, ' ', (size_t)(end - *at));

	if (!blank || blank == *at)
		return false;
	*word = (struct word){ .begin = *at, .len = (size_t)(blank - *at) };
	*at = blank + 1;
	return true;
}

static bool find_verb(const struct word *word, enum control_verb *verb)
{
	size_t i;

	for (i = 0; i < array_size(verbs); i++) {
		if (strlen(verbs[i].name) == word->len && !memcmp(verbs[i].name, word->begin, word->len)) {
			*verb = (enum control_verb)i;
			return true;
		}
	}
	return false;
}

/* Decimal digits, no more than say 9999. */
static bool find_length(const struct word *word, size_t *length)
{
	size_t i;

	if (word->len > 4)
		return false;
	*length = 0;
	for (i = 0; i < word->len; i++) {
		if (word->begin[i] < '0' || word->begin[i] > '9')
			return false;
		*length = *length * 10 + (size_t)(word->begin[i] - '0');
	}
	return true;
}

/* The line is whole, from @buf to @end, where its newline is. */
static struct request_result parse_line(char *buf, char *end, size_t len, struct control_request *request)
{
	size_t used = (size_t)(end - buf) + 1;
	struct word word, file = { NULL, 0 };
	char *at = buf;

	if (memchr(buf, '\0', (size_t)(end - buf)))
		return lost(-EINVAL, "request");
	if (!next_word(&at, end, &word) || !find_verb(&word, &request->verb))
		return wrong(used, -EINVAL, "request");
	if (verbs[request->verb].file && (!next_word(&at, end, &file) || file.len > REQUEST_FILE_MAX))
		return verbs[request->verb].value ? lost(-EINVAL, "request") : wrong(used, -EINVAL, "request");
	request->value_len = 0;
	if (verbs[request->verb].value) {
		if (!next_word(&at, end, &word) || !find_length(&word, &request->value_len))
			return lost(-EINVAL, "request");
		if (request->value_len > REQUEST_VALUE_MAX)
			return lost(-E2BIG, "value");
		if (request->value_len > len - used)
			return (struct request_result){ .state = REQUEST_MORE };
	}
	if (file.begin)
		file.begin[file.len] = '\0';
	*end = '\0';
	request->file = file.begin;
	request->group = at;
	request->value = end + 1;
	return (struct request_result){ .state = REQUEST_READY, .used = used + request->value_len };
}

struct request_result request_parse(char *buf, size_t len, struct control_request *request)
{
	size_t look = len < REQUEST_LINE_MAX + 1 ? len : REQUEST_LINE_MAX + 1;
	char *end = memchr(buf, '\n', look);

	if (end)
		return parse_line(buf, end, len, request);
	if (len > REQUEST_LINE_MAX)
		return lost(-E2BIG, "request");
	return (struct request_result){ .state = REQUEST_MORE };
}
