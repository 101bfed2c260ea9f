/* SPDX-License-Identifier: MIT */
/* Open files: modes, peaks of their own, writes that do not wait, descriptors, and what destruction leaves. */
#include "support/child.h"

#include <fcntl.h>
#include <memcg/charge.h>
#include <memcg/files.h>
#include <poll.h>

#include "charge/drain.h"
#include "files/open.h"
#include "support/backing.h"

static struct memcg *parent, *child;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &backing_counted };

	(void)state;
	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	return memcg_init(&options);
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "parent", &parent) || memcg_create(parent, "child", &child);
}

static int teardown(void **state)
{
	(void)state;
	if (!memcg_dying(child))
		assert_int_equal(memcg_destroy(child), 0);
	memcg_put(child);
	assert_int_equal(memcg_destroy(parent), 0);
	memcg_put(parent);
	memcg_tick();
	assert_int_equal(memcg_root()->css.nr_dying, 0); /* no open file was forgotten */
	return 0;
}

static struct memcg_file *open_file(const char *name, int flags)
{
	struct memcg_file *file = NULL;

	assert_int_equal(memcg_file_open(child, name, flags, &file), 0);
	assert_non_null(file);
	return file;
}

static char text[8192];

static const char *read_open(struct memcg_file *file)
{
	ssize_t len = memcg_file_read(file, text, sizeof(text));

	assert_true(len > 0 && len < (ssize_t)sizeof(text));
	assert_int_equal(strlen(text), len);
	return text;
}

static unsigned long pages_of(struct memcg_file *file)
{
	return strtoul(read_open(file), NULL, 10) / MEMCG_PAGE_SIZE;
}

static void modes(void **state)
{
	struct memcg_file *reads = open_file("memory.max", O_RDONLY), *writes = open_file("memory.max", O_WRONLY);
	struct memcg_file *both = open_file("memory.max", O_RDWR | O_CLOEXEC | O_APPEND | O_TRUNC | O_CREAT);

	(void)state;
	assert_string_equal(read_open(reads), "max\n"); /* opening by O_TRUNC changed nothing */
	assert_int_equal(memcg_file_write(reads, "4096", 4), -EBADF);
	assert_int_equal(memcg_file_read(writes, text, sizeof(text)), -EBADF);
	assert_int_equal(memcg_file_write(writes, " 8192\n", 6), 6);
	assert_string_equal(read_open(reads), "8192\n");
	assert_string_equal(read_open(reads), "8192\n"); /* again from the beginning */
	assert_int_equal(memcg_file_write(both, "1M", 2), 2);
	assert_string_equal(read_open(both), "1048576\n");
	assert_int_equal(memcg_file_write(both, "1MB", 3), -EINVAL);
	assert_int_equal(memcg_file_write(both, "", 0), 0);
	assert_int_equal(memcg_file_write(both, NULL, 0), 0);
	assert_int_equal(memcg_file_write(both, NULL, 1), -EINVAL);
	assert_int_equal(memcg_file_read(both, NULL, 1), -EINVAL);
	assert_int_equal(memcg_file_read(both, NULL, 0), 8);
	assert_int_equal(memcg_file_write(both, text, 4097), -E2BIG);
	assert_string_equal(read_open(both), "1048576\n");
	memcg_file_close(reads);
	memcg_file_close(writes);
	memcg_file_close(both);
	memcg_file_close(NULL);
}

static void refused_opens(void **state)
{
	struct memcg_file *file = NULL;
	long live = backing_live;

	(void)state;
	assert_int_equal(memcg_file_open(child, "memory.max", O_RDWR, NULL), -EINVAL);
	assert_int_equal(memcg_file_open(child, NULL, O_RDWR, &file), -EINVAL);
	assert_int_equal(memcg_file_open(memcg_unaccounted(), "memory.max", O_RDWR, &file), -EINVAL);
	assert_int_equal(memcg_file_open(child, "memory.max", O_ACCMODE, &file), -EINVAL);
	assert_int_equal(memcg_file_open(child, "memory.max", O_RDWR | O_EXCL, &file), -EINVAL);
	assert_int_equal(memcg_file_open(child, "foo", O_WRONLY, &file), -ENOENT);
	assert_int_equal(memcg_file_open(child, "foo", O_WRONLY | O_CREAT, &file), -EACCES);
	backing_left = 0;
	assert_int_equal(memcg_file_open(child, "memory.max", O_RDWR, &file), -ENOMEM);
	backing_left = 1L << 60;
	assert_null(file);
	assert_int_equal(backing_live, live);
	assert_int_equal(memcg_file_read(NULL, text, 1), -EINVAL);
	assert_int_equal(memcg_file_write(NULL, "1", 1), -EINVAL);
	assert_int_equal(memcg_file_poll_fd(NULL), -EINVAL);
	/* NULL is the root */
	assert_int_equal(memcg_file_open(NULL, "cgroup.type", O_RDONLY, &file), 0);
	assert_string_equal(read_open(file), "domain threaded\n");
	memcg_file_close(file);
}

/* What cannot be done fails when it is done, not when the file is opened. */
static void one_way_files(void **state)
{
	struct memcg_file *current = open_file("memory.current", O_RDWR), *kill = open_file("cgroup.kill", O_RDWR);

	(void)state;
	assert_int_equal(memcg_file_write(current, "0", 1), -EINVAL);
	assert_int_equal(memcg_file_read(kill, text, sizeof(text)), -EINVAL);
	assert_int_equal(memcg_file_write(kill, "1", 1), -EOPNOTSUPP);
	memcg_file_close(current);
	memcg_file_close(kill);
}

/* Usage is exactly @pages: no stock. */
static void use(unsigned long pages)
{
	static unsigned long used;

	if (pages > used)
		assert_int_equal(memcg_charge(child, pages - used, 0), 0);
	else if (pages < used)
		memcg_uncharge(child, used - pages);
	used = pages;
	drain_stock(memcg_root());
}

static void put(struct memcg_file *file, const char *bytes)
{
	assert_int_equal(memcg_file_write(file, bytes, strlen(bytes)), strlen(bytes));
}

/* The kernel's selftest of memory.peak, in pages: 1000 in use, reset, 500 more. */
static void peaks(void **state)
{
	struct memcg_file *one = open_file("memory.peak", O_RDWR), *two = open_file("memory.peak", O_RDWR);
	struct memcg_file *never = open_file("memory.peak", O_RDWR), *late;

	(void)state;
	assert_string_equal(read_open(one), "0\n");
	use(1000);
	assert_int_equal(pages_of(one), 1000);
	use(100);
	put(one, "reset");
	put(two, "\n"); /* any text, only not none */
	assert_int_equal(memcg_file_write(never, "", 0), 0);
	assert_int_equal(pages_of(one), 100);
	assert_int_equal(pages_of(two), 100);
	assert_int_equal(pages_of(never), 1000); /* the lifetime peak */
	memcg_file_close(two);
	late = open_file("memory.peak", O_RDWR);
	assert_int_equal(pages_of(late), 1000);
	use(20);
	put(late, "x");
	assert_int_equal(pages_of(late), 20);
	assert_int_equal(pages_of(one), 100); /* its own reset found 100 */
	use(500);
	use(0);
	assert_int_equal(pages_of(late), 500);
	assert_int_equal(pages_of(one), 500);
	assert_int_equal(pages_of(never), 1000);
	memcg_file_close(one);
	use(2000);
	use(0);
	assert_int_equal(pages_of(late), 2000);
	assert_int_equal(pages_of(never), 2000);
	memcg_file_close(never);
	memcg_file_close(late);
}

/* As the kernel's: what a watcher saw from the common mark alone is lost when another resets; the usage then is not. */
static void reset_hides_from_others(void **state)
{
	struct memcg_file *one = open_file("memory.peak", O_RDWR), *two = open_file("memory.peak", O_RDWR);

	(void)state;
	use(10);
	put(one, "r");
	use(80);
	use(30);
	assert_int_equal(pages_of(one), 80);
	put(two, "r");
	assert_int_equal(pages_of(one), 30);
	assert_int_equal(pages_of(two), 30);
	use(0);
	put(two, "r");
	assert_int_equal(pages_of(two), 0);
	assert_int_equal(pages_of(one), 30);
	memcg_file_close(two);
	memcg_file_close(one);
}

/* A refused charge leaves no trace in any peak (A4); a peak is that of the subtree. */
static void peaks_and_refusals(void **state)
{
	struct memcg_file *file = open_file("memory.peak", O_RDWR), *above;

	(void)state;
	assert_int_equal(memcg_file_open(parent, "memory.peak", O_RDWR, &above), 0);
	use(50);
	use(5);
	put(file, "r");
	put(above, "r");
	assert_int_equal(memcg_write(parent, "memory.max", "40960", 5), 5);
	assert_int_equal(memcg_charge(child, 6, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(pages_of(file), 5);
	assert_int_equal(pages_of(above), 5);
	assert_int_equal(memcg_charge(child, 6, MEMCG_FORCE), 0);
	memcg_uncharge(child, 6);
	assert_int_equal(pages_of(file), 11);
	assert_int_equal(pages_of(above), 11);
	use(0);
	memcg_file_close(above);
	memcg_file_close(file);
}

/* O_NONBLOCK: in force at once, and nothing is drained for it. */
static void write_without_waiting(void **state)
{
	struct memcg_file *now = open_file("memory.max", O_WRONLY | O_NONBLOCK),
			  *waits = open_file("memory.max", O_WRONLY);

	(void)state;
	assert_int_equal(memcg_charge(child, 1, 0), 0);
	if (!child->memory.room) /* only this variant of the stock keeps accounts of it */
		skip();
	put(now, "8192");
	assert_true(child->memory.room > 0);
	assert_true(page_counter_read(&child->memory) > 2); /* with stock: more than the limit */
	assert_int_equal(memcg_charge(child, 1, 0), 0);     /* which serves what it can */
	memcg_uncharge(child, 1);
	assert_int_equal(memcg_charge(child, MEMCG_STOCK_HIGH, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_string_equal((memcg_read(child, "memory.max", text, sizeof(text)), text), "8192\n");
	put(now, "max");
	assert_int_equal(memcg_charge(child, 1, 0), 0);
	put(waits, "8192");
	assert_int_equal(child->memory.room, 0);
	assert_int_equal(page_counter_read(&child->memory), 2);
	memcg_uncharge(child, 2);
	assert_int_equal(memcg_file_write(now, "8192x", 5), -EINVAL);
	memcg_file_close(now);
	memcg_file_close(waits);
}

static bool readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static void polling(void **state)
{
	struct memcg_file *file = open_file("memory.events", O_RDONLY), *max = open_file("memory.max", O_RDWR);
	int fd = memcg_file_poll_fd(file);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(memcg_file_poll_fd(file), fd); /* the same */
	assert_int_equal(memcg_file_poll_fd(max), -EOPNOTSUPP);
	assert_false(readable(fd));
	put(max, "0");
	assert_int_equal(memcg_charge(child, 1, 0), -ENOMEM);
	assert_true(readable(fd));
	assert_non_null(strstr(read_open(file), "max 1\n"));
	assert_false(readable(fd));
	memcg_file_close(file);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was the file's */
	memcg_file_close(max);
}

static void after_destroy(void **state)
{
	struct memcg_file *peak = open_file("memory.peak", O_RDWR), *events = open_file("memory.events", O_RDWR);
	struct memcg_file *watches = open_file("memory.peak", O_RDWR), *file = NULL;
	int fd = memcg_file_poll_fd(events);

	(void)state;
	put(watches, "r");
	assert_int_equal(memcg_destroy(child), 0);
	assert_true(readable(fd));
	memcg_tick();
	assert_int_equal(memcg_file_read(events, text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_file_write(events, "0", 1), -ENODEV);
	assert_int_equal(memcg_file_read(peak, text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_file_write(peak, "r", 1), -ENODEV);
	assert_int_equal(memcg_file_read(watches, text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_file_poll_fd(events), fd); /* was asked for in time */
	assert_int_equal(memcg_file_open(child, "memory.peak", O_RDWR, &file), -ENODEV);
	assert_int_equal(memcg_root()->css.nr_dying, 1); /* the open files keep its memory */
	memcg_file_close(watches);
	memcg_file_close(events);
	memcg_file_close(peak);
	file = NULL;
	assert_int_equal(memcg_file_open(parent, "cgroup.events", O_RDONLY, &file), 0);
	memcg_file_close(file);
}

static void descriptor_of_destroyed(void **state)
{
	struct memcg_file *events = open_file("cgroup.events", O_RDONLY);

	(void)state;
	assert_int_equal(memcg_destroy(child), 0);
	assert_int_equal(memcg_file_poll_fd(events), -ENODEV);
	memcg_file_close(events);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(modes),
		CASE(refused_opens),
		CASE(one_way_files),
		CASE(peaks),
		CASE(reset_hides_from_others),
		CASE(peaks_and_refusals),
		CASE(write_without_waiting),
		CASE(polling),
		CASE(after_destroy),
		CASE(descriptor_of_destroyed),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
