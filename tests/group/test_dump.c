/* SPDX-License-Identifier: MIT */
/*
 * memcg_dump(): what it writes, and that it allocates nothing and takes no lock (B2): under a filter that allows
 * no system call but write(2), from inside a refusal, from a handler that interrupted whatever it was.
 */
#include "support/machine.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "charge/drain.h"
#include "charge/try_charge.h"
#include "group/group.h"
#include "support/backing.h"

static void start(void)
{
	struct memcg_options options = { .size = sizeof(options), .backing = &backing_counted };

	options.flags = MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS;
	must(memcg_init(&options) == 0);
}

static struct memcg *a, *b, *c;

static void build(void)
{
	start();
	must(memcg_create(NULL, "a", &a) == 0);
	must(memcg_create(a, "b", &b) == 0);
	must(memcg_create(NULL, "c", &c) == 0);
	page_counter_set_max(&a->memory, 1000);
	must(memcg_charge(b, 300, 0) == 0);
	must(memcg_charge(c, 200, 0) == 0);
	must(memcg_charge(b, 701, 0) == -ENOMEM);
	must(memcg_charge(b, 701, MEMCG_FORCE) == 0);
	memcg_uncharge(b, 701);
}

static int out; /* a file in memory */

static char *dumped(struct memcg *top, unsigned int nr)
{
	static char text[1 << 18];
	ssize_t len;

	if (!out)
		out = memfd_create("dump", 0);
	must(ftruncate(out, 0) == 0);
	must(lseek(out, 0, SEEK_SET) == 0);
	must(memcg_dump(out, top, nr) == 0);
	len = pread(out, text, sizeof(text) - 1, 0);
	must(len > 0);
	text[len] = '\0';
	return text;
}

static void what_it_writes(const void *arg)
{
	char *text;

	(void)arg;
	build();
	text = dumped(NULL, 0);
	must(!strcmp(text, "/ current=2048000 peak=4919296 max=max stock_room=0 forced=0 refused=0\n"
			   "  a current=1228800 peak=4100096 max=4096000 stock_room=0 forced=4096 refused=1\n"
			   "    b current=1228800 peak=4100096 max=max stock_room=0 forced=0 refused=0\n"
			   "  c current=819200 peak=819200 max=max stock_room=0 forced=0 refused=0\n"));
	text = dumped(a, 0);
	must(!strncmp(text, "a current=", 10) && strstr(text, "\n  b current=") && !strstr(text, "c current"));
	text = dumped(NULL, 2);
	must(strstr(text, "largest:\n  a current=1228800\n  a/b current=1228800\n"));
	must(!strstr(text, "  c current=819200\n"));
	text = dumped(NULL, 100);
	must(strstr(text, "largest:\n  a current=1228800\n  a/b current=1228800\n  c current=819200\n"));
	text = dumped(c, 100);
	must(!strcmp(strchr(text, '\n'), "\nlargest:\n"));
}

static void tree_and_largest(void **state)
{
	(void)state;
	child_expect_ok(child_run(what_it_writes, NULL));
}

/* Names of 255 bytes, 63 deep: each line is one, and is cut where it must be. */
static void long_paths(const void *arg)
{
	struct memcg *group = NULL;
	char name[256], *line, *text;
	int i, lines = 0;

	(void)arg;
	start();
	memset(name, 'n', 255);
	name[255] = '\0';
	for (i = 0; i < MEMCG_DEPTH_MAX; i++)
		must(memcg_create(group, name, &group) == 0);
	must(memcg_charge(group, 200, 0) == 0);
	text = dumped(NULL, 1000);
	for (line = text; *line; line = strchr(line, '\n') + 1) {
		must(strchr(line, '\n') && strchr(line, '\n') - line < 1024);
		lines++;
	}
	must(lines == 1 + MEMCG_DEPTH_MAX + 1 + MEMCG_DEPTH_MAX);
	must(strstr(text, "current=819200"));
}

static void long_lines_are_cut(void **state)
{
	(void)state;
	child_expect_ok(child_run(long_paths, NULL));
}

static void write_errors(const void *arg)
{
	int fds[2], read_only = open("/dev/null", O_RDONLY);

	(void)arg;
	build();
	signal(SIGPIPE, SIG_IGN);
	errno = 1234;
	must(memcg_dump(-1, NULL, 3) == -EBADF);
	must(memcg_dump(read_only, NULL, 3) == -EBADF);
	must(memcg_dump(open("/dev/full", O_WRONLY), NULL, 0) == -ENOSPC);
	must(errno == 1234 || errno == ENOSPC); /* open's, never the dump's own */
	must(pipe(fds) == 0);
	close(fds[0]);
	errno = 1234;
	must(memcg_dump(fds[1], NULL, 0) == -EPIPE);
	must(errno == 1234);
	must(memcg_destroy(c) == 0); /* no read section is left open behind an error */
	memcg_put(c);
	memcg_uncharge(c, 200);
	memcg_tick();
	must(memcg_root()->css.nr_dying == 0);
}

static void errors_of_write(void **state)
{
	(void)state;
	child_expect_ok(child_run(write_errors, NULL));
}

static void allow_write_only(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { .len = array_size(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(CHILD_SKIP);
}

static unsigned long reclaim_dumps(struct memcg *over, unsigned long nr)
{
	(void)nr;
	must(memcg_dump(out, over, 5) == 0);
	return 0;
}

/* B2: the refusal and the dump, by the hooks, by the C library's own account, and by the kernel's. */
static void allocates_nothing(const void *arg)
{
	size_t before;
	long calls;
	int i;

	(void)arg;
	build();
	out = open("/dev/null", O_WRONLY);
	must(memcg_dump(out, NULL, 5) == 0);
	calls = backing_calls;
	before = mallinfo2().uordblks;
	for (i = 0; i < 100; i++) {
		must(memcg_charge(b, 5000, 0) == -ENOMEM);
		must(memcg_dump(out, NULL, 5) == 0);
	}
	must(backing_calls == calls);
	must(mallinfo2().uordblks == before);
	charge_reclaim = reclaim_dumps; /* from inside a refusal: the drain and the retries too */
	must(memcg_charge(b, 5000, MEMCG_MAY_SLEEP) == -ENOMEM);
	must(backing_calls == calls);
	must(mallinfo2().uordblks == before);
	charge_reclaim = NULL;
	if (machine_own_calls_only()) {
		allow_write_only();
		for (i = 0; i < 100; i++) {
			must(memcg_charge(b, 5000, 0) == -ENOMEM);
			must(memcg_dump(out, NULL, 5) == 0);
		}
	}
	_exit(0);
}

static void refusal_and_dump_allocate_nothing(void **state)
{
	(void)state;
	child_expect_ok(child_run(allocates_nothing, NULL));
}

static uint32_t dumps; /* of handlers; atomic */

static void dump_in_handler(int sig)
{
	int saved = errno;

	(void)sig;
	must(memcg_dump(out, NULL, 3) == 0);
	must(errno == saved);
	__atomic_fetch_add(&dumps, 1, __ATOMIC_RELAXED);
}

/* A handler that interrupts charges, drains, creations and destructions of its own thread. */
static void from_handlers(const void *arg)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	struct sigaction action = { .sa_handler = dump_in_handler, .sa_flags = SA_RESTART };
	unsigned long i;

	(void)arg;
	build();
	out = open("/dev/null", O_WRONLY);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (i = 0; load_relaxed(&dumps) < 200; i++) {
		struct memcg *group;

		must(memcg_create(a, "short", &group) == 0);
		must(memcg_charge(group, i % 50 + 1, 0) == 0);
		must(memcg_charge(group, 900, MEMCG_MAY_SLEEP) == -ENOMEM);
		memcg_uncharge(group, i % 50 + 1);
		must(memcg_destroy(group) == 0);
		memcg_put(group);
		if (i % 16 == 0)
			memcg_tick();
	}
	_exit(0);
}

static void from_a_handler(void **state)
{
	(void)state;
	child_expect_ok(child_run(from_handlers, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_and_largest), cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(errors_of_write),  cmocka_unit_test(refusal_and_dump_allocate_nothing),
		cmocka_unit_test(from_a_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
