/* SPDX-License-Identifier: MIT */
/*
 * What a connection is answered, and what it cannot do to others: slow ones, silent ones, ones that read nothing,
 * too many, garbage. Deadlines are shortened, and waited for; none of these tests measures time.
 */
#include "support/child.h"

#include <memcg/files.h>
#include <pthread.h>

#include "control/server.h"
#include "group/group.h"
#include "support/control.h"

static const char *runtime_dir;
static char path[128];
static struct memcg *tenants, *one;

static void start(unsigned int flags)
{
	const struct memcg_control_options options = { .size = sizeof(options), .flags = flags };

	assert_int_equal(memcg_control_start(&options), 0);
	assert_true(memcg_control_path(path, sizeof(path)) > 0);
}

static int setup_all(void **state)
{
	const struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };

	(void)state;
	runtime_dir = peer_runtime_dir();
	return memcg_init(&options);
}

static int teardown_all(void **state)
{
	(void)state;
	peer_runtime_dir_end(runtime_dir);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	control_bounds = (struct control_bounds){ .clients = 8,
						  .request_ms = 60000,
						  .send_ms = 60000,
						  .idle_ms = 60000,
						  .quiet_ms = 1,
						  .look_ms = 5000 };
	assert_int_equal(memcg_create(NULL, "tenants", &tenants), 0);
	assert_int_equal(memcg_create(tenants, "a b", &one), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	memcg_control_stop();
	assert_int_equal(memcg_destroy(one), 0);
	assert_int_equal(memcg_destroy(tenants), 0);
	memcg_put(one);
	memcg_put(tenants);
	return 0;
}

static void answers(void **state)
{
	int fd;

	(void)state;
	start(0);
	fd = peer_open(path);
	peer_check(fd, "list /\n", "tenants\n");
	peer_check(fd, "list tenants\n", "a b\n");
	peer_check(fd, "list tenants/a b\n", "");
	peer_check(fd, "read memory.max tenants/a b\n", "max\n");
	peer_check(fd, "write memory.max 3 tenants/a b\n64M", "");
	peer_check(fd, "read memory.max tenants/a b\n", "67108864\n");
	peer_check(fd, "write memory.max 4 /tenants//a b/\nmax\n", "");
	peer_check(fd, "write memory.max 0 tenants\n", "");
	peer_check(fd, "mkdir tenants/new\n", "");
	peer_check(fd, "mkdir /tenants/new/below/\n", "");
	peer_check(fd, "list tenants\n", "a b\nnew\n");
	peer_check(fd, "rmdir tenants/new/below\n", "");
	peer_check(fd, "rmdir tenants/new\n", "");
	peer_check(fd, "mkdir top\n", "");
	peer_check(fd, "rmdir top\n", "");
	close(fd);
}

static void errors(void **state)
{
	int fd;

	(void)state;
	start(0);
	fd = peer_open(path);
	peer_check_error(fd, "nonsense\n", "error EINVAL request");
	peer_check_error(fd, "read memory.max none\n", "error ENOENT group");
	peer_check_error(fd, "read memory.none tenants\n", "error ENOENT file");
	peer_check_error(fd, "write memory.max 3 none\n64M", "error ENOENT group");
	peer_check_error(fd, "write memory.none 3 tenants\n64M", "error ENOENT file");
	peer_check_error(fd, "write memory.max 2 tenants\nxx", "error EINVAL value");
	peer_check_error(fd, "write cgroup.max.depth 2 tenants\n-1", "error ERANGE value");
	peer_check_error(fd, "list none\n", "error ENOENT group");
	peer_check_error(fd, "tree none\n", "error ENOENT group");
	peer_check_error(fd, "files none\n", "error ENOENT group");
	peer_check_error(fd, "watch memory.events none\n", "error ENOENT group");
	peer_check_error(fd, "watch memory.none tenants\n", "error ENOENT file");
	peer_check_error(fd, "mkdir tenants/a b\n", "error EEXIST name");
	peer_check_error(fd, "mkdir none/x\n", "error ENOENT group");
	peer_check_error(fd, "mkdir tenants/..\n", "error EINVAL name");
	peer_check_error(fd, "mkdir /\n", "error EEXIST name");
	peer_check_error(fd, "mkdir \n", "error EEXIST name");
	peer_check_error(fd, "rmdir /\n", "error EBUSY group");
	peer_check_error(fd, "rmdir tenants\n", "error EBUSY group");
	peer_check_error(fd, "rmdir none\n", "error ENOENT group");
	peer_check(fd, "list tenants\n", "a b\n");
	close(fd);
}

static void names_that_are_too_long(void **state)
{
	char request[400];
	int fd;

	(void)state;
	start(0);
	fd = peer_open(path);
	snprintf(request, sizeof(request), "mkdir tenants/%0255d\n", 0);
	peer_check(fd, request, "");
	snprintf(request, sizeof(request), "rmdir tenants/%0255d\n", 0);
	peer_check(fd, request, "");
	snprintf(request, sizeof(request), "mkdir tenants/%0256d\n", 0);
	peer_check_error(fd, request, "error ENAMETOOLONG name");
	close(fd);
}

/* A table: a line of column names, then the groups, parents first. */
static void tree(void **state)
{
	char line[1024];
	int fd;

	(void)state;
	start(0);
	assert_int_equal(memcg_charge(one, 3, MEMCG_FORCE), 0);
	fd = peer_open(path);
	peer_ask(fd, "tree tenants\n");
	assert_true(peer_line(fd, line, sizeof(line)));
	assert_int_equal(strncmp(line, "ok ", 3), 0);
	assert_true(peer_line(fd, line, sizeof(line)));
	assert_string_equal(line,
			    "depth children threads current peak min low high max events.low events.high "
			    "events.max events.oom events.oom_kill events.oom_group_kill events.sock_throttled name");
	assert_true(peer_line(fd, line, sizeof(line)));
	assert_int_equal(strncmp(line, "0 1 0 ", 6), 0);
	assert_string_equal(strrchr(line, ' '), " tenants");
	assert_true(peer_line(fd, line, sizeof(line)));
	assert_int_equal(strncmp(line, "1 0 0 ", 6), 0);
	assert_non_null(strstr(line, " 0 0 max max 0 0 0 0 0 0 0 a b"));
	assert_true(strtol(line + 6, NULL, 10) >= 3 * 4096);
	memcg_uncharge(one, 3);
	peer_check(fd, "list tenants\n", "a b\n");
	close(fd);
}

/* All that an answer of pieces brings; their number. */
static int read_pieces(int fd, char *all, size_t room)
{
	size_t len = 0;
	int nr = 0;
	bool last = false;

	while (!last) {
		char line[64];
		size_t piece;

		must(peer_line(fd, line, sizeof(line)));
		last = !strncmp(line, "ok ", 3);
		must(last || !strncmp(line, "more ", 5));
		piece = (size_t)strtoul(strchr(line, ' '), NULL, 10);
		must(len + piece < room);
		peer_bytes(fd, all + len, piece);
		len += piece;
		nr++;
	}
	return nr;
}

#define MANY 3000

/* In pieces: each group once, in order, whatever else is asked for meanwhile. */
static void large_tree(void **state)
{
	static char all[1 << 20];
	static struct memcg *many[MANY];
	int fd, other, i;
	char *at = all;

	(void)state;
	start(0);
	for (i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "group%04d", i);
		assert_int_equal(memcg_create(one, name, &many[i]), 0);
	}
	fd = peer_open(path);
	other = peer_open(path);
	peer_ask(fd, "tree tenants/a b\nlist tenants\n");
	peer_check(other, "list tenants\n", "a b\n");
	assert_true(read_pieces(fd, all, sizeof(all)) > 10);
	peer_expect(fd, "a b\n");
	for (i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), " group%04d\n", i);
		at = strstr(at, name);
		assert_non_null(at);
		at += strlen(name) - 1;
	}
	assert_null(strstr(at, "group"));
	peer_ask(other, "list tenants/a b\n");
	assert_true(read_pieces(other, all, sizeof(all)) > 1);
	assert_int_equal(strlen(all), MANY * strlen("group0000\n"));
	for (i = 0; i < MANY; i++) {
		assert_int_equal(memcg_destroy(many[i]), 0);
		memcg_put(many[i]);
	}
	close(fd);
	close(other);
}

/* The walk stands on a group that goes, and on one below which all go. */
static void tree_that_goes(void **state)
{
	static char all[1 << 20];
	static struct memcg *many[MANY];
	int fd, i;

	(void)state;
	start(0);
	for (i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "group%04d", i);
		assert_int_equal(memcg_create(one, name, &many[i]), 0);
	}
	fd = peer_open(path);
	peer_ask(fd, "tree /\n");
	for (i = 0; i < MANY; i++) {
		assert_int_equal(memcg_destroy(many[i]), 0);
		memcg_put(many[i]);
	}
	assert_true(read_pieces(fd, all, sizeof(all)) >= 1);
	assert_non_null(strstr(all, " a b\n"));
	peer_ask(fd, "tree /\n");
	assert_int_equal(read_pieces(fd, all, sizeof(all)), 1);
	assert_null(strstr(all, " group"));
	close(fd);
}

static void byte_by_byte(void **state)
{
	const char *requests = "write memory.max 3 tenants/a b\n64Mread memory.max tenants/a b\nlist tenants\n";
	size_t i;
	int fd;

	(void)state;
	start(0);
	fd = peer_open(path);
	for (i = 0; i < strlen(requests); i++) {
		peer_send(fd, requests + i, 1);
		usleep(100);
	}
	peer_expect(fd, "");
	peer_expect(fd, "67108864\n");
	peer_expect(fd, "a b\n");
	assert_int_equal(memcg_write(one, "memory.max", "max", 3), 3);
	close(fd);
}

/* All that was asked is answered, in order; then the end. */
static void half_closed(void **state)
{
	int fd, i;

	(void)state;
	start(0);
	fd = peer_open(path);
	for (i = 0; i < 200; i++)
		peer_ask(fd, i % 2 ? "list tenants\n" : "nonsense\n");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (i = 0; i < 200; i++) {
		if (i % 2)
			peer_expect(fd, "a b\n");
		else
			peer_expect_line(fd, "error EINVAL request");
	}
	peer_expect_end(fd);
	close(fd);

	/* With a request that is not whole: said. */
	fd = peer_open(path);
	peer_ask(fd, "list tenants\nlist ten");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	peer_expect(fd, "a b\n");
	peer_expect_line(fd, "error EINVAL request");
	peer_expect_end(fd);
	close(fd);

	/* Without any. */
	fd = peer_open(path);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	peer_expect_end(fd);
	close(fd);
}

static void lines_without_end(void **state)
{
	static char line[REQUEST_LINE_MAX + 1000];
	int fd;

	(void)state;
	start(0);
	fd = peer_open(path);
	memset(line, 'x', sizeof(line));
	peer_send(fd, line, sizeof(line));
	peer_expect_line(fd, "error E2BIG request");
	peer_expect_end(fd);
	close(fd);
	fd = peer_open(path);
	peer_check_error(fd, "write memory.max 9999 tenants\n", "error E2BIG value");
	peer_expect_end(fd);
	close(fd);
	fd = peer_open(path);
	peer_send(fd, "list a\0b\n", 9);
	peer_expect_line(fd, "error EINVAL request");
	peer_expect_end(fd);
	close(fd);
}

static ssize_t send_garbage(int fd, unsigned int *seed)
{
	static const char *const words[] = { "list ", "read ", "write ", "memory.max ", "4 ",
					     "/",     "\n",    "\n",     "tree /\n" };
	const char *word = words[(size_t)rand_r(seed) % array_size(words)];
	char bytes[64];
	size_t len, i;

	if (rand_r(seed) % 2)
		return send(fd, word, strlen(word), MSG_NOSIGNAL | MSG_DONTWAIT);
	len = (size_t)rand_r(seed) % sizeof(bytes);
	for (i = 0; i < len; i++)
		bytes[i] = (char)rand_r(seed);
	return send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Random bytes, in random parts, some of it requests: whoever comes after is served. */
static void garbage(void **state)
{
	unsigned int seed = 1, i, j;
	int other;

	(void)state;
	start(0);
	for (i = 0; i < 50; i++) {
		int fd = peer_open(path);

		/* It may have been told to go already. */
		for (j = 0; j < 200 && send_garbage(fd, &seed) >= 0; j++)
			;
		close(fd);
	}
	other = peer_open(path);
	peer_check(other, "list tenants\n", "a b\n");
	close(other);
}

/* One that begins a request and does not end it holds up nobody, and is told to go. */
static void slow_request(void **state)
{
	int slow, other, i;

	(void)state;
	control_bounds.request_ms = 200;
	start(0);
	slow = peer_open(path);
	other = peer_open(path);
	peer_ask(slow, "list ten");
	for (i = 0; i < 100; i++)
		peer_check(other, "list tenants\n", "a b\n");
	peer_expect_line(slow, "error ETIMEDOUT request");
	peer_expect_end(slow);
	close(slow);

	/* Nor does it help to send a byte now and then. */
	slow = peer_open(path);
	for (i = 0; i < 20000; i++) {
		if (send(slow, "x", 1, MSG_NOSIGNAL) < 0)
			break;
		usleep(5000);
	}
	assert_true(i < 20000);
	close(slow);
	peer_check(other, "list tenants\n", "a b\n");
	close(other);
}

static void silent(void **state)
{
	int fd;

	(void)state;
	control_bounds.idle_ms = 100;
	start(0);
	fd = peer_open(path);
	peer_expect_line(fd, "error ETIMEDOUT client");
	peer_expect_end(fd);
	close(fd);
	fd = peer_open(path);
	peer_check(fd, "list tenants\n", "a b\n");
	peer_expect_line(fd, "error ETIMEDOUT client");
	peer_expect_end(fd);
	close(fd);
}

/* Asks and asks, and takes no answer: what waits for it is bounded, the others are served, then it is let go. */
static void never_reads(void **state)
{
	int fd, other, i, sent = 0;

	(void)state;
	control_bounds.send_ms = 500;
	start(0);
	fd = peer_open(path);
	other = peer_open(path);
	for (i = 0; i < 1000000; i++) {
		ssize_t n = send(fd, "read memory.stat /\n", 19, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			break;
		sent += n == 19;
		if (n < 0) {
			peer_check(other, "list tenants\n", "a b\n");
			usleep(1000);
		}
	}
	assert_true(i < 1000000);
	assert_true(sent > 10);
	peer_check(other, "list tenants\n", "a b\n");
	close(fd);
	close(other);
}

static void too_many(void **state)
{
	int fds[8], fd, i;

	(void)state;
	start(0);
	for (i = 0; i < 8; i++)
		fds[i] = peer_open(path);
	fd = peer_try(path);
	assert_true(fd >= 0);
	peer_expect_line(fd, "error EAGAIN client");
	peer_expect_end(fd);
	close(fd);
	for (i = 0; i < 8; i++)
		peer_check(fds[i], "list tenants\n", "a b\n");
	close(fds[3]);
	/* The place is free when the server has seen it. */
	for (i = 0; i < 2000; i++) {
		char line[64];

		fd = peer_try(path);
		assert_true(fd >= 0 && peer_line(fd, line, sizeof(line)));
		if (!strncmp(line, "memcg-control", 13))
			break;
		close(fd);
		usleep(10000);
	}
	peer_check(fd, "list tenants\n", "a b\n");
	close(fd);
	for (i = 0; i < 8; i++) {
		if (i != 3)
			close(fds[i]);
	}
}

static void read_only(void **state)
{
	int fd;

	(void)state;
	start(MEMCG_CONTROL_READ_ONLY);
	fd = peer_open(path);
	peer_check(fd, "read memory.max tenants\n", "max\n");
	peer_check_error(fd, "write memory.max 2 tenants\n1M", "error EROFS request");
	peer_check_error(fd, "mkdir x\n", "error EROFS request");
	peer_check_error(fd, "rmdir tenants/a b\n", "error EROFS request");
	peer_check(fd, "read memory.max tenants\n", "max\n");
	peer_check(fd, "list /\n", "tenants\n");
	close(fd);
}

static void start_and_stop(void **state)
{
	const struct memcg_control_options bad_size = { .size = 1 },
					   bad_flags = { .size = sizeof(bad_flags), .flags = 64 },
					   bad_path = { .size = sizeof(bad_path), .path = "" };
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(memcg_control_start(&bad_size), -EINVAL);
	assert_int_equal(memcg_control_start(&bad_flags), -EINVAL);
	assert_int_equal(memcg_control_start(&bad_path), -EINVAL);
	assert_int_equal(memcg_control_path(path, sizeof(path)), -ENOENT);
	assert_int_equal(memcg_control_stop(), -ENOENT);
	start(0);
	assert_int_equal(memcg_control_start(NULL), -EALREADY);
	assert_int_equal(memcg_control_path(path, 5), -ENAMETOOLONG);
	assert_true(memcg_control_path(path, sizeof(path)) > 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 077, 0);
	fd = peer_open(path);
	assert_int_equal(memcg_control_stop(), 0);
	peer_expect_end(fd);
	close(fd);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(memcg_control_stop(), -ENOENT);
	start(0);
	fd = peer_open(path);
	peer_check(fd, "list tenants\n", "a b\n");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SERVED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		SERVED(answers),        SERVED(errors),       SERVED(names_that_are_too_long),
		SERVED(tree),           SERVED(large_tree),   SERVED(tree_that_goes),
		SERVED(byte_by_byte),   SERVED(half_closed),  SERVED(lines_without_end),
		SERVED(garbage),        SERVED(slow_request), SERVED(silent),
		SERVED(never_reads),    SERVED(too_many),     SERVED(read_only),
		SERVED(start_and_stop),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
