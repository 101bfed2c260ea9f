/* SPDX-License-Identifier: MIT */
/* The parsers of numbers against the oracle, and back through the printer. */
#include "fuzz/oracle.h"

#include "counter/page_counter.h"
#include "files/table.h"

static void check_pages(const char *text)
{
	unsigned long pages = 1234567, expected = 0, again = 0;
	char back[32];
	struct text out;
	int err = parse_pages(text, &pages);

	must(err == oracle_pages(text, &expected));
	if (err) {
		must(pages == 1234567);
		return;
	}
	must(pages == expected && pages <= PAGE_COUNTER_MAX);
	text_init(&out, back, sizeof(back));
	text_pages(&out, pages);
	must(out.len < sizeof(back) && out.len > 1 && back[out.len - 1] == '\n');
	back[out.len - 1] = '\0';
	must(parse_pages(back, &again) == 0 && again == pages);
}

static void check_int(const char *text)
{
	long value = 1234567, expected = 0;
	int err = parse_int(text, &value);

	must(err == oracle_int(text, &expected));
	must(value == (err ? 1234567 : expected));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of just this size, so that one byte too far is found. */
	char *text = malloc(size + 1);

	must(text);
	memcpy(text, data, size);
	text[size] = '\0';
	check_pages(text);
	check_int(text);
	free(text);
	return 0;
}
