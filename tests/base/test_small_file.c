/* SPDX-License-Identifier: MIT */
/* Small files whole, and the library's memory and clock hooks. */
#include "support/child.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/small_file.h"

static char folder[] = "/tmp/memcg-small-XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void put(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static void reads_whole(void **state)
{
	char buf[16];

	(void)state;
	put("4096\n", 5);
	assert_int_equal(small_file_read(path, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "4096\n");
	put("", 0);
	assert_int_equal(small_file_read(path, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

static void cuts_what_is_too_long(void **state)
{
	char buf[8];

	(void)state;
	put("0123456789", 10);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(small_file_read(path, buf, 5), 4);
	assert_string_equal(buf, "0123");
	assert_int_equal(buf[5], 'x');
	assert_int_equal(small_file_read(path, buf, 1), 0);
	assert_string_equal(buf, "");
}

static void keeps_errno_of_open_and_read(void **state)
{
	char buf[16];

	(void)state;
	assert_int_equal(small_file_read("/nonexistent/file", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(small_file_read(folder, buf, sizeof(buf)), -EISDIR);
	assert_string_equal(buf, "");
}

/* A pipe gives the text in pieces. */
static void joins_short_reads(void **state)
{
	char fifo[80], buf[16];
	pid_t pid;

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	pid = child_fork();
	if (!pid) {
		int fd = open(fifo, O_WRONLY);

		if (write(fd, "ab", 2) != 2 || usleep(1000) || write(fd, "cd", 2) != 2)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(small_file_read(fifo, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "abcd");
	assert_int_equal(child_wait(pid), 0);
	unlink(fifo);
}

static void memory_is_aligned_and_zeroed(void **state)
{
	size_t size;

	(void)state;
	for (size = 1; size < 1000; size += 37) {
		unsigned char *ptr = mem_zalloc(size);
		size_t i;

		assert_non_null(ptr);
		assert_int_equal((uintptr_t)ptr % PAIR_SIZE, 0);
		for (i = 0; i < size; i++)
			assert_int_equal(ptr[i], 0);
		memset(ptr, 0xff, size);
		mem_free(ptr);
	}
	mem_free(NULL);
}

static void clock_does_not_go_back(void **state)
{
	uint64_t last = clock_ns();
	unsigned int i;

	(void)state;
	for (i = 0; i < 70; i++) {
		uint64_t now;

		clock_pause(i, NULL);
		now = clock_ns();
		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_whole),
		cmocka_unit_test(cuts_what_is_too_long),
		cmocka_unit_test(keeps_errno_of_open_and_read),
		cmocka_unit_test(joins_short_reads),
		cmocka_unit_test(memory_is_aligned_and_zeroed),
		cmocka_unit_test(clock_does_not_go_back),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
