/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON: one object on one line, exact bytes, groups parents first.
 * Limits are numbers or "max", as their files have them.
 */
#include "report.h"
#include <memcg/memcg.h>
#include <errno.h>
#include <string.h>

/* Length of the UTF-8 sequence that begins at s; 0 where there is none. */
static size_t utf8_length(const char *s)
{
	const unsigned char *b = (const unsigned char *)s;
	size_t len = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	}
	/* too long a form, a surrogate, beyond U+10FFFF */
	if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) || (b[0] == 0xf0 && b[1] < 0x90) ||
	    (b[0] == 0xf4 && b[1] > 0x8f))
		return 0;
	return len;
}

/* A name may be cut within a character: what is no UTF-8 becomes U+FFFD. */
static void print_string(struct report_out *out, const char *s)
{
	report_bytes(out, "\"", 1);
	while (*s) {
		size_t len = utf8_length(s);

		if (!len)
			report_print(out, "\\ufffd");
		else if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\')
			report_print(out, "\\u%04x", *s);
		else
			report_bytes(out, s, len);
		s += len ? len : 1;
	}
	report_bytes(out, "\"", 1);
}

static void print_amount(struct report_out *out, const char *key, long bytes)
{
	if (bytes == REPORT_MAX)
		report_print(out, ",\"%s\":\"max\"", key);
	else
		report_print(out, ",\"%s\":%ld", key, bytes);
}

struct json_pass {
	struct report_out *out; /* the report */
	bool first;             /* no comma yet */
};

static int print_group(struct memcg *memcg, void *arg)
{
	struct json_pass *pass = arg;
	struct report_out *out = pass->out;
	static struct report_group group;

	report_read_group(memcg, &group);
	report_print(out, "%s{\"path\":", pass->first ? "" : ",");
	pass->first = false;
	print_string(out, group.path);
	report_print(out, ",\"name\":");
	print_string(out, group.name);
	report_print(out, ",\"depth\":%u", group.depth);
	print_amount(out, "current", group.current);
	print_amount(out, "peak", group.peak);
	print_amount(out, "high", group.high);
	print_amount(out, "max", group.max);
	report_print(out, ",\"events\":{");
	for (int i = 0; i < REPORT_EVENTS; i++)
		report_print(out, "%s\"%s\":%ld", i ? "," : "", report_event_names[i], group.events[i]);
	report_print(out, "}}");
	return 0;
}

void report_json(struct report_out *out, const struct report_process *process)
{
	struct json_pass pass = { .out = out, .first = true };

	report_print(out, "{\"program\":");
	print_string(out, program_invocation_short_name);
	report_print(out, ",\"pid\":%d,\"groups\":[", process->pid);
	memcg_walk(NULL, print_group, &pass);
	report_print(out,
		     "],\"resident\":%ld,\"tracked\":%ld,\"untracked\":%ld,\"peak_resident\":%ld,\"interposed\":%s}\n",
		     process->resident, process->tracked, process->resident - process->tracked, process->peak_resident,
		     process->interposed ? "true" : "false");
}
