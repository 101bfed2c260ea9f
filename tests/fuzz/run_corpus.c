/* SPDX-License-Identifier: MIT */
/* run_corpus FOLDER...: a fuzz target over each file of the folders, in order of their names. */
#include <dirent.h>

#include "fuzz/fuzz.h"

static void run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	must(file && fseek(file, 0, SEEK_END) == 0);
	size = ftell(file);
	must(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
	data = malloc((size_t)size + !size);
	must(data && fread(data, 1, (size_t)size, file) == (size_t)size);
	fclose(file);
	printf("%s, %ld bytes\n", path, size);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

static int run_folder(const char *folder)
{
	struct dirent **names;
	int nr = scandir(folder, &names, NULL, alphasort), ran = 0, i;

	must(nr >= 0);
	for (i = 0; i < nr; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_name[0] != '.') {
			run_file(path);
			ran++;
		}
		free(names[i]);
	}
	free(names);
	return ran;
}

int main(int argc, char **argv)
{
	int i;

	/* An empty input belongs to every corpus. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (i = 1; i < argc; i++)
		must(run_folder(argv[i]) > 0);
	return argc > 1 ? 0 : 2;
}
