/* SPDX-License-Identifier: MIT */
/* Keys and values; the two forms differ in nothing but punctuation. */
#include "output.h"

#include <errno.h>
#include <stdarg.h>

#define KEY_MAX 160

void output_begin(struct output *out, FILE *to, bool json)
{
	out->to = to;
	out->json = json;
	out->any = false;
	if (json)
		fputc('{', to);
}

int output_end(struct output *out)
{
	if (out->json)
		fputs("\n}\n", out->to);
	if (fflush(out->to) || ferror(out->to))
		return errno ? -errno : -EIO;
	return 0;
}

/* Keys are ours and need no escapes. Lines are flushed: a long bench shows what it has. */
static void put(struct output *out, const char *key, const char *suffix, const char *value)
{
	if (out->json)
		fprintf(out->to, "%s\n\t\"%s%s\": %s", out->any ? "," : "", key, suffix, value);
	else
		fprintf(out->to, "%s%s=%s\n", key, suffix, value);
	out->any = true;
	if (!out->json)
		fflush(out->to);
}

static void put_real(struct output *out, const char *key, const char *suffix, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.4f", value);
	put(out, key, suffix, text);
}

#define FORMAT_KEY(key, fmt)                             \
	do {                                             \
		va_list args_;                           \
		va_start(args_, fmt);                    \
		vsnprintf(key, sizeof(key), fmt, args_); \
		va_end(args_);                           \
	} while (0)

void output_real(struct output *out, double value, const char *fmt, ...)
{
	char key[KEY_MAX];

	FORMAT_KEY(key, fmt);
	put_real(out, key, "", value);
}

void output_count(struct output *out, unsigned long value, const char *fmt, ...)
{
	char key[KEY_MAX], text[32];

	FORMAT_KEY(key, fmt);
	snprintf(text, sizeof(text), "%lu", value);
	put(out, key, "", text);
}

/* @value holds what a bench says itself: quotes and backslashes are replaced, not escaped. */
void output_text(struct output *out, const char *value, const char *fmt, ...)
{
	char key[KEY_MAX], text[256];
	size_t n = 0;

	FORMAT_KEY(key, fmt);
	if (out->json)
		text[n++] = '"';
	for (; *value && n < sizeof(text) - 2; value++)
		text[n++] = *value == '"' || *value == '\\' || (unsigned char)*value < ' ' ? '_' : *value;
	if (out->json)
		text[n++] = '"';
	text[n] = '\0';
	put(out, key, "", text);
}

void output_estimate(struct output *out, const struct estimate *e, const char *fmt, ...)
{
	char key[KEY_MAX];

	FORMAT_KEY(key, fmt);
	put_real(out, key, "", e->median);
	put_real(out, key, ".ci_low", e->low);
	put_real(out, key, ".ci_high", e->high);
}
