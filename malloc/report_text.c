/* SPDX-License-Identifier: MIT */
/* The report as text: one line a group, columns aligned, sizes with one unit letter. */
#include "report.h"
#include <memcg/memcg.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define AMOUNT_SIZE 16

/* "0", "812", "64.0M", "max"; a sign only for what can be negative. */
static const char *human(long bytes, char *text)
{
	static const char units[] = "KMGTPE";
	double amount = bytes < 0 ? -(double)bytes : (double)bytes;
	const char *sign = bytes < 0 ? "-" : "";
	size_t unit = 0;

	if (bytes == REPORT_MAX)
		return strcpy(text, "max");
	if (amount < 1024) {
		snprintf(text, AMOUNT_SIZE, "%s%.0f", sign, amount);
		return text;
	}
	amount /= 1024;
	while (amount >= 1023.95 && units[unit + 1]) { /* it would be printed as 1024.0 */
		amount /= 1024;
		unit++;
	}
	snprintf(text, AMOUNT_SIZE, "%s%.1f%c", sign, amount, units[unit]);
	return text;
}

/* The pass that finds how wide the first column is. */
static int widen(struct memcg *memcg, void *arg)
{
	static struct report_group group;
	int *width = arg;
	int len;

	report_read_group(memcg, &group);
	len = 2 * (int)group.depth + (int)strlen(group.name);
	if (len > *width)
		*width = len;
	return 0;
}

struct text_pass {
	struct report_out *out; /* the report */
	int width;              /* of the first column */
};

static int print_group(struct memcg *memcg, void *arg)
{
	const struct text_pass *pass = arg;
	static struct report_group group;
	char amount[4][AMOUNT_SIZE];
	int indent;

	report_read_group(memcg, &group);
	indent = 2 * (int)group.depth;
	report_print(pass->out, "%*s%-*s %9s %9s %9s %9s", indent, "", pass->width - indent, group.name,
		     human(group.current, amount[0]), human(group.peak, amount[1]), human(group.high, amount[2]),
		     human(group.max, amount[3]));
	for (int i = 0; i < REPORT_EVENTS; i++)
		report_print(pass->out, " %8ld", group.events[i]);
	report_print(pass->out, "\n");
	return 0;
}

void report_text(struct report_out *out, const struct report_process *process)
{
	struct text_pass pass = { .out = out, .width = (int)strlen("GROUP") };
	char amount[4][AMOUNT_SIZE];

	memcg_walk(NULL, widen, &pass.width);
	report_print(out, "memcg report of %s, process %d\n", program_invocation_short_name, process->pid);
	report_print(out, "%-*s %9s %9s %9s %9s", pass.width, "GROUP", "CURRENT", "PEAK", "HIGH", "MAX");
	for (int i = 0; i < REPORT_EVENTS; i++)
		report_print(out, " %8s", report_event_names[i]);
	report_print(out, "\n");
	memcg_walk(NULL, print_group, &pass);
	report_print(out, "resident %s, tracked %s, untracked %s; peak resident %s\n",
		     human(process->resident, amount[0]), human(process->tracked, amount[1]),
		     human(process->resident - process->tracked, amount[2]), human(process->peak_resident, amount[3]));
	if (!process->interposed)
		report_print(out, "note: the program defines a malloc of its own, which is not tracked\n");
}
