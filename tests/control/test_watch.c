/* SPDX-License-Identifier: MIT */
/* Watches: changes are pushed, also between and behind other answers; a group that goes ends them; they are bounded. */
#include "support/child.h"

#include <memcg/files.h>

#include "control/server.h"
#include "group/group.h"
#include "support/control.h"

static const char *runtime_dir;
static char path[128];
static struct memcg *group;

static int setup_all(void **state)
{
	const struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };

	(void)state;
	runtime_dir = peer_runtime_dir();
	control_bounds.idle_ms = 200; /* who watches is not idle */
	control_bounds.send_ms = 200; /* from when there is something to send */
	return memcg_init(&options) || memcg_control_start(NULL) || memcg_control_path(path, sizeof(path)) < 0;
}

static int teardown_all(void **state)
{
	(void)state;
	memcg_control_stop();
	peer_runtime_dir_end(runtime_dir);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return memcg_create(NULL, "watched", &group) || memcg_write(group, "memory.max", "1M", 2) != 2;
}

static int teardown(void **state)
{
	(void)state;
	if (!memcg_dying(group))
		assert_int_equal(memcg_destroy(group), 0);
	memcg_put(group);
	return 0;
}

/* A refused charge: one more max event. */
static void raise_event(void)
{
	assert_int_equal(memcg_charge(group, 1000, 0), -ENOMEM);
}

/* A push of watch @number, with this many max events; older ones are passed over. */
static void expect_event(int fd, int number, unsigned long max)
{
	char line[64], head[32], text[1024];
	unsigned long seen;

	do {
		assert_true(peer_line(fd, line, sizeof(line)));
		snprintf(head, sizeof(head), "event %d ", number);
		assert_int_equal(strncmp(line, head, strlen(head)), 0);
		peer_bytes(fd, text, strtoul(line + strlen(head), NULL, 10));
		assert_non_null(strstr(text, "\nmax "));
		seen = strtoul(strstr(text, "\nmax ") + 5, NULL, 10);
		assert_true(seen <= max);
	} while (seen < max);
}

static void pushes(void **state)
{
	unsigned long i;
	int fd;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	usleep(400000); /* longer than an idle client may be */
	for (i = 1; i <= 20; i++) {
		raise_event();
		expect_event(fd, 0, i);
	}
	close(fd);
}

/* Many at once are few pushes, and the last one is not lost. */
static void storm(void **state)
{
	int fd, i;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	for (i = 0; i < 20000; i++)
		raise_event();
	expect_event(fd, 0, 20000);
	close(fd);
}

/* Two watches: two pushes, in whatever order. */
static void two_files(void **state)
{
	char line[64], text[1024];
	unsigned int seen = 0, i;
	int fd;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events.local watched\n", "0\n");
	peer_check(fd, "watch memory.events watched\n", "1\n");
	peer_check_error(fd, "watch memory.max watched\n", "error EOPNOTSUPP file");
	raise_event();
	for (i = 0; i < 2; i++) {
		assert_true(peer_line(fd, line, sizeof(line)));
		assert_int_equal(strncmp(line, "event ", 6), 0);
		seen |= 1U << (line[6] - '0');
		peer_bytes(fd, text, strtoul(line + 8, NULL, 10));
		assert_non_null(strstr(text, "\nmax 1\n"));
	}
	assert_int_equal(seen, 3);
	close(fd);
}

static void other_requests_meanwhile(void **state)
{
	int fd, i;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	for (i = 0; i < 50; i++)
		peer_check(fd, "read memory.max watched\n", "1048576\n");
	raise_event();
	expect_event(fd, 0, 1);
	peer_check(fd, "read memory.max watched\n", "1048576\n");
	close(fd);
}

/* Half closed, it goes on being told; closed, it is forgotten. */
static void half_closed(void **state)
{
	int fd;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	raise_event();
	expect_event(fd, 0, 1);
	assert_int_equal(memcg_destroy(group), 0);
	peer_expect_line(fd, "gone 0");
	peer_expect_end(fd);
	close(fd);
}

static void group_goes(void **state)
{
	char first[64], second[64];
	int fd;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	peer_check(fd, "watch cgroup.events watched\n", "1\n");
	assert_int_equal(memcg_destroy(group), 0);
	assert_true(peer_line(fd, first, sizeof(first)));
	assert_true(peer_line(fd, second, sizeof(second)));
	assert_int_equal(strncmp(first, "gone ", 5) || strncmp(second, "gone ", 5), 0);
	assert_int_equal(first[5] + second[5], '0' + '1');
	peer_check_error(fd, "watch memory.events watched\n", "error ENOENT group");
	/* Its numbers are free again. */
	peer_check(fd, "watch memory.events /\n", "0\n");
	close(fd);
}

static void too_many(void **state)
{
	char number[8];
	unsigned int i;
	int fd;

	(void)state;
	fd = peer_open(path);
	for (i = 0; i < CONTROL_WATCHES; i++) {
		snprintf(number, sizeof(number), "%u\n", i);
		peer_check(fd, "watch memory.events watched\n", number);
	}
	peer_check_error(fd, "watch memory.events watched\n", "error EMFILE request");
	peer_check(fd, "read memory.max watched\n", "1048576\n");
	close(fd);
}

/* Who reads none of what is pushed to him is told the newest when he does: nothing piles up. */
static void reads_late(void **state)
{
	int fd, i;

	(void)state;
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	for (i = 0; i < 100; i++) {
		raise_event();
		usleep(1000);
	}
	expect_event(fd, 0, 100);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WATCHED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		WATCHED(pushes),      WATCHED(storm),      WATCHED(two_files), WATCHED(other_requests_meanwhile),
		WATCHED(half_closed), WATCHED(group_goes), WATCHED(too_many),  WATCHED(reads_late),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
