/* SPDX-License-Identifier: MIT */
/*
 * The socket's life: where it is made, fork, exec, exit, other users, programs that close what they do not know, and no
 * threads. Each case is a process of its own.
 */
#include "support/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <memcg/charge.h>
#include <memcg/files.h>
#include <poll.h>
#include <sys/mman.h>

#include "control/server.h"
#include "group/group.h"
#include "support/control.h"
#include "support/machine.h"

#ifdef SANITIZE_THREAD
#define TSAN 1
#else
#define TSAN 0
#endif

static const char *runtime_dir;
static char path[128];

static int setup_all(void **state)
{
	(void)state;
	runtime_dir = peer_runtime_dir();
	snprintf(path, sizeof(path), "%s/memcg", runtime_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	return 0;
}

static int teardown_all(void **state)
{
	(void)state;
	peer_runtime_dir_end(runtime_dir);
	return 0;
}

static void init(unsigned int flags)
{
	const struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX | flags };

	must(memcg_init(&options) == 0);
}

static int start_at(const char *where)
{
	const struct memcg_control_options options = { .size = sizeof(options), .path = where };

	return memcg_control_start(&options);
}

static void start(unsigned int flags)
{
	init(flags);
	must(memcg_control_start(NULL) == 0);
	must(memcg_control_path(path, sizeof(path)) > 0);
}

static const char *path_of(pid_t pid)
{
	static char other[128];

	snprintf(other, sizeof(other), "%s/memcg/%d", runtime_dir, (int)pid);
	return other;
}

static bool is_there(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0;
}

/* Until a process has opened its socket. */
static void wait_for_socket(const char *file)
{
	int i;

	for (i = 0; i < 2000 && !is_there(file); i++)
		usleep(5000);
	must(is_there(file));
}

/* Sanitized processes end by _exit(): the name is not taken away by itself. */
__attribute__((noreturn)) static void end(void)
{
	if (SANITIZED)
		memcg_control_unlink();
	child_end(0);
}

/* A process that goes on until it is told to end. */
struct process {
	pid_t pid;
	int in; /* what it reads; closed, it ends */
};

static struct process process_start(void (*body)(void))
{
	struct process process;
	int fds[2];

	must(pipe2(fds, O_CLOEXEC) == 0);
	process.pid = child_fork();
	if (!process.pid) {
		char byte;

		close(fds[1]);
		body();
		must(read(fds[0], &byte, 1) == 0);
		end();
	}
	close(fds[0]);
	process.in = fds[1];
	return process;
}

static void process_end(struct process process)
{
	close(process.in);
	must(child_wait(process.pid) == 0);
}

/* --- fork --- */

static void make_group(void)
{
	struct memcg *group;

	must(memcg_create(NULL, "of-the-child", &group) == 0);
	memcg_put(group);
}

static void attach(void)
{
	must(memcg_attach(NULL) == 0);
}

static void charge_much(void)
{
	must(memcg_charge(NULL, 1000, MEMCG_MAY_SLEEP) == 0);
	memcg_uncharge(NULL, 1000);
}

static void charge_bytes(void)
{
	struct memcg_objcg *objcg = memcg_objcg_get(NULL);

	must(memcg_charge_bytes(objcg, 1 << 22, MEMCG_MAY_SLEEP) == 0);
	memcg_uncharge_bytes(objcg, 1 << 22);
	memcg_objcg_put(objcg);
}

static void nothing(void)
{
}

/* The socket is opened first, the group made then. */
static void expect_own_group(const char *other)
{
	char line[64] = "";
	int fd = peer_open(other), i;

	for (i = 0; i < 2000 && strcmp(line, "ok 13") != 0; i++) {
		peer_ask(fd, "list /\n");
		must(peer_line(fd, line, sizeof(line)));
		usleep(1000);
	}
	peer_expect_line(fd, "of-the-child");
	close(fd);
}

/* Whatever it does first: it has a socket, where its own tree is; the parent's is as it was. */
static void fork_children(const void *arg)
{
	static void (*const wake[])(void) = { make_group, attach, charge_much, charge_bytes, memcg_tick };
	size_t i;
	int fd;

	(void)arg;
	start(0);
	fd = peer_open(path);
	for (i = 0; i < array_size(wake); i++) {
		struct process process = process_start(wake[i]);
		const char *other = path_of(process.pid);

		wait_for_socket(other);
		must(peer_pid(other) == process.pid);
		must(peer_pid(path) == getpid());
		peer_check(fd, "list /\n", "");
		if (!i)
			expect_own_group(other);
		process_end(process);
		must(!is_there(path_of(process.pid)));
	}
	close(fd);
}

/* Nor does the child keep its parent's clients and watches: they end with the parent's. */
static void fork_keeps_nothing(const void *arg)
{
	struct process process;
	struct memcg *group;
	int fd;

	(void)arg;
	start(0);
	must(memcg_create(NULL, "watched", &group) == 0);
	fd = peer_open(path);
	peer_check(fd, "watch memory.events watched\n", "0\n");
	peer_ask(fd, "list wat");
	process = process_start(make_group);
	wait_for_socket(path_of(process.pid));
	must(memcg_control_stop() == 0);
	peer_expect_end(fd);
	close(fd);
	process_end(process);
}

/* Who only forks to do something else makes no socket, and takes nobody's away. */
static void fork_and_nothing(const void *arg)
{
	struct process process;

	(void)arg;
	start(0);
	process = process_start(nothing);
	process_end(process);
	must(!is_there(path_of(process.pid)));
	must(peer_pid(path) == getpid());
}

static void grandchild(void)
{
	struct process process = process_start(make_group);

	wait_for_socket(path_of(process.pid));
	must(!is_there(path_of(getpid())));
	process_end(process);
}

static void fork_of_fork(const void *arg)
{
	struct process process;

	(void)arg;
	start(0);
	process = process_start(grandchild);
	process_end(process);
}

static void stop_in_child(void)
{
	must(memcg_control_stop() == 0);
	make_group();
	must(!is_there(path_of(getpid())));
	must(memcg_control_stop() == -ENOENT);
	must(memcg_control_start(NULL) == 0);
	must(is_there(path_of(getpid())));
}

static void fork_and_stop(const void *arg)
{
	(void)arg;
	start(0);
	process_end(process_start(stop_in_child));
	must(peer_pid(path) == getpid());
}

/* A name that was given is the parent's: the child's has its number behind it. */
static void fork_with_path(const void *arg)
{
	char where[64], other[96];
	struct process process;

	(void)arg;
	snprintf(where, sizeof(where), "%s/given", runtime_dir);
	init(0);
	must(start_at(where) == 0);
	process = process_start(make_group);
	snprintf(other, sizeof(other), "%s.%d", where, (int)process.pid);
	wait_for_socket(other);
	must(peer_pid(other) == process.pid);
	must(peer_pid(where) == getpid());
	process_end(process);
	must(!is_there(other));
	must(memcg_control_stop() == 0);
}

/* --- exec, exit --- */

static void exec_sleep(void)
{
	start(0);
	execlp("cat", "cat", NULL);
}

/* Descriptors do not go on to the new program: who asks is refused, not kept waiting. */
static void exec_closes(const void *arg)
{
	int in[2], i, fd = 0;
	pid_t pid;

	(void)arg;
	must(pipe2(in, O_CLOEXEC) == 0);
	pid = child_fork();
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		exec_sleep();
		_exit(1);
	}
	close(in[0]);
	wait_for_socket(path_of(pid));
	for (i = 0; i < 2000 && fd >= 0; i++) {
		fd = peer_try(path_of(pid));
		if (fd >= 0)
			close(fd);
		usleep(5000);
	}
	must(fd == -ECONNREFUSED);
	close(in[1]);
	must(child_wait(pid) == 0);
	unlink(path_of(pid));
}

static void start_only(const void *arg)
{
	(void)arg;
	start(0);
	exit(0);
}

static void start_and_end(const void *arg)
{
	start(0);
	must(is_there(path));
	if (arg)
		memcg_control_unlink();
	_exit(0);
}

/* The child of a vfork() is another process, with this one's memory. */
static void unlink_in_vfork(const void *arg)
{
	pid_t pid;

	(void)arg;
	start(0);
	pid = vfork();
	if (!pid) {
		memcg_control_unlink();
		_exit(0);
	}
	must(child_wait(pid) == 0);
	must(peer_pid(path) == getpid());
}

/* The directory, which only this test uses, is empty again. */
static void is_empty(void **state)
{
	char directory[64];

	(void)state;
	snprintf(directory, sizeof(directory), "%s/memcg", runtime_dir);
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(mkdir(directory, 0700), 0);
}

static void exit_cases(void **state)
{
	assert_int_equal(child_run(start_only, NULL), 0);
	is_empty(state);
	assert_int_equal(child_run(start_and_end, "unlink"), 0);
	is_empty(state);
}

/* --- places --- */

/* What a dead process of the same number left is replaced, but nothing that lives, and nothing that is no socket. */
static void place_is_taken(const void *arg)
{
	char where[64];
	struct stat st;
	pid_t pid;
	int fd;

	(void)arg;
	snprintf(where, sizeof(where), "%s/given", runtime_dir);
	init(0);
	pid = child_fork();
	if (!pid) {
		must(start_at(where) == 0);
		_exit(0); /* and leaves it */
	}
	must(child_wait(pid) == 0);
	must(is_there(where));
	must(start_at(where) == 0);
	must(peer_pid(where) == getpid());
	pid = child_fork();
	if (!pid) {
		must(memcg_control_stop() == 0);
		must(start_at(where) == -EADDRINUSE);
		_exit(0);
	}
	must(child_wait(pid) == 0);
	must(memcg_control_stop() == 0);
	must(!is_there(where));

	fd = open(where, O_CREAT | O_WRONLY, 0600);
	must(fd >= 0 && write(fd, "mine", 4) == 4);
	close(fd);
	must(start_at(where) == -EADDRINUSE);
	must(stat(where, &st) == 0 && st.st_size == 4);
	unlink(where);
	must(start_at("/none/such") == -ENOENT);
	must(memcg_control_path(where, sizeof(where)) == -ENOENT);
}

static void place_is_replaced(const void *arg)
{
	char where[64];
	int fd;

	(void)arg;
	snprintf(where, sizeof(where), "%s/given", runtime_dir);
	init(0);
	must(start_at(where) == 0);
	must(unlink(where) == 0);
	fd = open(where, O_CREAT | O_WRONLY, 0600);
	must(fd >= 0);
	close(fd);
	must(memcg_control_stop() == 0);
	must(is_there(where)); /* not ours */
	unlink(where);
}

static void long_paths(const void *arg)
{
	char where[200];

	(void)arg;
	memset(where, 'x', sizeof(where));
	memcpy(where, "/tmp/", 5);
	where[104] = '\0';
	init(0);
	must(start_at(where) == -ENAMETOOLONG);
	where[sizeof(where) - 1] = 'x';
	where[104] = 'x';
	where[sizeof(where) - 1] = '\0';
	must(start_at(where) == -ENAMETOOLONG);
	where[103] = '\0';
	must(start_at(where) == 0);
	must(peer_pid(where) == getpid());
	unlink(where);
}

/* Which directory is used: the first of those that are the user's own, and safe. Where the next one is: not this one. */
static bool uses(const char *directory)
{
	const struct memcg_control_options options = { .size = sizeof(options) };
	char file[256];
	size_t len = strlen(directory);

	must(memcg_control_start(&options) == 0);
	must(memcg_control_path(file, sizeof(file)) > 0);
	must(memcg_control_stop() == 0);
	return !strncmp(file, directory, len) && file[len] == '/';
}

static void unsafe_directories(const void *arg)
{
	char base[] = "/tmp/memcg-test-XXXXXX", directory[64], target[64];

	(void)arg;
	init(0);
	must(mkdtemp(base));
	must(setenv("XDG_RUNTIME_DIR", base, 1) == 0);
	snprintf(directory, sizeof(directory), "%s/memcg", base);
	snprintf(target, sizeof(target), "%s/target", base);
	must(uses(directory));
	must(chmod(directory, 0750) == 0);
	must(!uses(directory));
	must(chmod(directory, 0700) == 0);
	must(uses(directory));
	must(chmod(base, 0770) == 0);
	must(!uses(directory));
	must(chmod(base, 01777) == 0);
	must(uses(directory));
	must(chmod(base, 0700) == 0);
	must(rmdir(directory) == 0);

	must(mkdir(target, 0700) == 0);
	must(symlink(target, directory) == 0);
	must(!uses(directory));
	must(unlink(directory) == 0);
	must(rmdir(target) == 0);

	if (!getuid()) {
		must(mkdir(directory, 0700) == 0);
		must(chown(directory, 65534, 65534) == 0);
		must(!uses(directory));
		must(rmdir(directory) == 0);
	}
	must(setenv("XDG_RUNTIME_DIR", "relative", 1) == 0);
	must(!uses("relative/memcg"));
	must(rmdir(base) == 0);
}

static void directories(void **state)
{
	char buf[128], wanted[128];

	(void)state;
	snprintf(wanted, sizeof(wanted), "%s/memcg", runtime_dir);
	assert_int_equal(memcg_control_directory(geteuid(), 0, buf, sizeof(buf)), strlen(wanted));
	assert_string_equal(buf, wanted);
	assert_int_equal(memcg_control_directory(4711, 0, buf, sizeof(buf)), strlen("/run/user/4711/memcg"));
	assert_string_equal(buf, "/run/user/4711/memcg");
	assert_true(memcg_control_directory(4711, 1, buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "/tmp/memcg-4711");
	assert_int_equal(memcg_control_directory(4711, 2, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(memcg_control_directory(4711, 0, buf, 5), -ENAMETOOLONG);
}

/* --- others --- */

static uid_t nobody(void)
{
	return 65534;
}

static void connect_as_nobody(const void *arg)
{
	int fd;

	must(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	fd = peer_try(arg);
	must(fd >= 0);
	peer_expect_line(fd, "error EPERM client");
	peer_expect_end(fd);
	close(fd);
}

/* Root is served always, whoever we are; so without root it is us who are somebody else. */
static void other_user(const void *arg)
{
	char where[64];
	int fd;

	(void)arg;
	snprintf(where, sizeof(where), "%s/given", runtime_dir);
	init(0);
	if (geteuid()) {
		server_user = nobody;
		must(start_at(where) == 0);
		fd = peer_try(where);
		must(fd >= 0);
		peer_expect_line(fd, "error EPERM client");
		peer_expect_end(fd);
		close(fd);
	} else {
		must(start_at(where) == 0);
		/* A file system's rights do not keep him out here: the server does. */
		must(chmod(where, 0777) == 0 && chmod(runtime_dir, 0711) == 0);
		must(child_run(connect_as_nobody, where) == 0);
		must(memcg_control_stop() == 0);
		server_user = nobody;
		must(start_at(where) == 0);
		must(peer_pid(where) == getpid());
	}
	must(memcg_control_stop() == 0);
}

#define PIPES 8

/* As a program that has its own idea of who has which number. Its files are not read, written or closed. */
static void closed_by_the_program(const void *arg)
{
	static int pipes[PIPES][2];
	char line[128], byte;
	int i, fd = -1;

	(void)arg;
	start(0);
	must(peer_pid(path) == getpid());
	usleep(100000); /* it waits again */
	for (i = 0; i < PIPES; i++) {
		must(pipe2(pipes[i], O_NONBLOCK) == 0);
		must(write(pipes[i][1], "x", 1) == 1);
		must(dup2(pipes[i][0], 600 + i) == 600 + i);
	}
	/* Connections that come meanwhile are cut off, or find the new socket. */
	for (i = 0; i < 500 && fd < 0; i++) {
		fd = peer_try(path);
		if (fd >= 0 && !peer_line(fd, line, sizeof(line))) {
			close(fd);
			fd = -1;
		}
		usleep(10000);
	}
	must(fd >= 0);
	peer_check(fd, "list /\n", "");
	must(memcg_control_stop() == 0);
	for (i = 0; i < PIPES; i++) {
		must(read(600 + i, &byte, 1) == 1 && byte == 'x');
		must(read(600 + i, &byte, 1) < 0 && errno == EAGAIN);
	}
}

/* The bell is closed too: the thread looks by itself. */
static void closed_and_stopped(const void *arg)
{
	(void)arg;
	control_bounds.look_ms = 200;
	start(0);
	usleep(50000); /* it waits for something by now */
	must(syscall(SYS_close_range, 3, ~0U, 0) == 0);
	must(memcg_control_stop() == 0);
	must(!is_there(path));
	must(memcg_control_start(NULL) == 0);
	must(peer_pid(path) == getpid());
	must(syscall(SYS_close_range, 3, ~0U, 0) == 0);
	usleep(500000); /* and opens again what nobody has asked for yet */
	must(peer_pid(path) == getpid());
}

/* Without threads memcg_tick() serves; it never waits. */
static void served_by_ticks(const void *arg)
{
	struct memcg *group;
	char text[64];
	int i, status;
	pid_t pid;

	(void)arg;
	start(MEMCG_INIT_NO_THREADS);
	must(memcg_create(NULL, "group", &group) == 0);
	memcg_tick();
	pid = child_fork();
	if (!pid) {
		int fd = peer_open(path);

		peer_check(fd, "list /\n", "group\n");
		peer_check(fd, "watch memory.events group\n", "0\n");
		peer_check(fd, "write memory.max 2 group\n1M", "");
		must(peer_line(fd, text, sizeof(text)) && !strncmp(text, "event 0 ", 8));
		_exit(0);
	}
	for (i = 0; i < 4000; i++) {
		memcg_tick();
		must(memcg_read(group, "memory.max", text, sizeof(text)) > 0);
		if (strcmp(text, "max\n") != 0)
			must(memcg_charge(group, 1000, 0) == -ENOMEM);
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		usleep(2000);
	}
	must(i < 4000 && status == 0);
	must(memcg_control_stop() == 0);
	must(!is_there(path));
}

/* 0: there is none. */
static unsigned long thread_named(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	unsigned long tid = 0;

	must(tasks);
	while (!tid && (task = readdir(tasks))) {
		char file[300], text[32] = "";
		int fd;

		snprintf(file, sizeof(file), "/proc/self/task/%s/comm", task->d_name);
		fd = open(file, O_RDONLY);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && !strcmp(text, name))
			tid = strtoul(task->d_name, NULL, 10);
		close(fd);
	}
	closedir(tasks);
	return tid;
}

/* The library's thread belongs to no group, blocks all signals, and cannot be moved. */
static void the_thread(const void *arg)
{
	char file[64], text[4096], value[32];
	const char *blocked;
	unsigned long tid;
	struct memcg *group;
	int fd, i;

	(void)arg;
	start(0);
	must(memcg_create(NULL, "group", &group) == 0);
	fd = peer_open(path);
	peer_check_error(fd, "write cgroup.threads 1 group\n0", "error EINVAL value");
	peer_check_error(fd, "write cgroup.threads 3 group\n 0\n", "error EINVAL value");
	tid = thread_named("memcg/control\n");
	must(tid);
	snprintf(file, sizeof(file), "/proc/self/task/%lu/status", tid);
	i = open(file, O_RDONLY);
	must(i >= 0 && read(i, text, sizeof(text) - 1) > 0);
	close(i);
	blocked = strstr(text, "\nSigBlk:\t");
	must(blocked && (strtoull(blocked + 9, NULL, 16) & machine_signals()) == machine_signals());
	snprintf(value, sizeof(value), "%lu", tid);
	must(memcg_write(group, "cgroup.threads", value, strlen(value)) == -EINVAL);
	snprintf(file, sizeof(file), "write cgroup.threads %zu group\n%s", strlen(value), value);
	peer_check_error(fd, file, "error EINVAL value");
	must(memcg_destroy(group) == 0);
	close(fd);
}

/* poll() takes no descriptor then: the thread rests, instead of asking again and again. */
static void no_descriptors(const void *arg)
{
	const struct rlimit none = { 0, 0 };
	struct timespec before, after;

	(void)arg;
	start(0);
	must(peer_pid(path) == getpid());
	must(setrlimit(RLIMIT_NOFILE, &none) == 0);
	usleep(100000);
	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before) == 0);
	usleep(500000);
	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after) == 0);
	must(after.tv_sec == before.tv_sec && after.tv_nsec - before.tv_nsec < 200000000);
}

struct life_case {
	void (*body)(const void *arg); /* in a process of its own */
	bool not_everywhere;           /* threads after a fork, descriptors that others close */
};

static void in_child(const void *arg)
{
	const struct life_case *life = arg;

	life->body(NULL);
	end();
}

static void run_case(void **state)
{
	const struct life_case *life = *state;

	if (life->not_everywhere && (TSAN || EMULATED))
		skip();
	child_expect_ok(child_run(in_child, life));
}

int main(void)
{
#define CASE(name, forks)                                        \
	{                                                        \
#name, run_case, NULL, NULL, &(struct life_case) \
		{                                                \
			name, forks                              \
		}                                                \
	}
	const struct CMUnitTest tests[] = {
		CASE(fork_children, true),         CASE(fork_keeps_nothing, true), CASE(fork_and_nothing, false),
		CASE(fork_of_fork, true),          CASE(fork_and_stop, true),      CASE(fork_with_path, true),
		CASE(exec_closes, false),          CASE(unlink_in_vfork, false),   cmocka_unit_test(exit_cases),
		CASE(place_is_taken, false),       CASE(place_is_replaced, false), CASE(long_paths, false),
		CASE(unsafe_directories, false),   cmocka_unit_test(directories),  CASE(other_user, false),
		CASE(closed_by_the_program, true), CASE(closed_and_stopped, true), CASE(served_by_ticks, false),
		CASE(the_thread, false),           CASE(no_descriptors, true),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
