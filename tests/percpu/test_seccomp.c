/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel or the C library gives less: membarrier(2) refused by a filter, before the start and
 * after it (trap 10), and no restartable sequences. And T22: no system call per operation, in
 * any form: a filter that allows none but the end of the process watches.
 */
#include "support/machine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <memcg/files.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "percpu/area.h"

#define STMT(code, k) ((struct sock_filter)BPF_STMT(code, k))
#define JUMP(code, k, t, f) ((struct sock_filter)BPF_JUMP(code, k, t, f))
#define LOAD(field) STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RET(what) STMT(BPF_RET | BPF_K, what)

static void install(struct sock_filter *filter, size_t nr)
{
	const struct sock_fprog prog = { .len = (unsigned short)nr, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(CHILD_SKIP);
}

/* Each membarrier call fails by @err. */
static void refuse_membarrier(int err)
{
	struct sock_filter filter[] = {
		LOAD(nr),
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		RET(SECCOMP_RET_ERRNO | (unsigned int)err),
		RET(SECCOMP_RET_ALLOW),
	};

	install(filter, array_size(filter));
}

/* The commands for restartable sequences only. */
static void refuse_rseq_fence(void)
{
	struct sock_filter filter[] = {
		LOAD(nr),
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 4),
		LOAD(args[0]),
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 1, 0),
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 1),
		RET(SECCOMP_RET_ERRNO | EPERM),
		RET(SECCOMP_RET_ALLOW),
	};

	install(filter, array_size(filter));
}

/* From here on any system call but the end kills the process. */
static void allow_nothing(void)
{
	struct sock_filter filter[] = {
		LOAD(nr),
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		RET(SECCOMP_RET_ALLOW),
		RET(SECCOMP_RET_KILL_PROCESS),
	};

	install(filter, array_size(filter));
}

static struct memcg *leaf;

static void *churns(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3000; i++) {
		unsigned long nr = (unsigned long)(i % 150) + 1;

		must(memcg_charge(leaf, nr, i & 1 ? MEMCG_MAY_SLEEP : 0) == 0);
		memcg_uncharge(leaf, nr);
	}
	return NULL;
}

static unsigned long current(struct memcg *group)
{
	char text[32];

	must(memcg_read(group, "memory.current", text, sizeof(text)) > 0);
	return strtoul(text, NULL, 10);
}

static void churn(void)
{
	pthread_t threads[3];
	size_t i;

	for (i = 0; i < 3; i++)
		must(pthread_create(&threads[i], NULL, churns, NULL) == 0);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* Charges, refusals with drains, limits, destruction: all of it works. */
static void whole_life(void)
{
	struct memcg *top;

	must(memcg_create(NULL, "top", &top) == 0);
	must(memcg_create(top, "leaf", &leaf) == 0);
	churn();
	must(memcg_write(top, "memory.max", "4M", 2) == 2);
	must(memcg_charge(leaf, 1024, MEMCG_MAY_SLEEP) == 0);
	must(memcg_charge(leaf, 1, MEMCG_MAY_SLEEP) == -ENOMEM);
	must(memcg_last_refusal()->group == top);
	memcg_uncharge(leaf, 1024);
	must(memcg_charge(leaf, 1024, MEMCG_MAY_SLEEP) == 0);
	memcg_uncharge(leaf, 1024);
	must(memcg_destroy(leaf) == 0);
	memcg_tick();
	must(current(top) == 0);
	memcg_put(leaf);
	must(memcg_destroy(top) == 0);
	memcg_put(top);
	memcg_tick();
}

static int init(unsigned int flags, unsigned int index)
{
	struct memcg_options options = { .size = sizeof(options) };

	options.flags = flags | MEMCG_INIT_NO_HOST_MAX;
	options.index = index;
	return memcg_init(&options);
}

static void after_filter(void)
{
	must(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0);
	must(init(0, MEMCG_INDEX_AUTO) == 0);
	must(!memcg_percpu.rseq);
	whole_life();
	must(current(NULL) == 0);
}

/* A filter is kept over exec: liburcu too meets it from its start. */
static void refused_from_the_start(const void *arg)
{
	refuse_membarrier(*(const int *)arg);
	_exit(child_exec("after-filter", NULL));
}

static void no_membarrier_means_portable(void **state)
{
	const int errors[] = { EPERM, ENOSYS };
	size_t i;

	(void)state;
	for (i = 0; i < array_size(errors); i++)
		child_expect_ok(child_run(refused_from_the_start, &errors[i]));
}

static void rseq_fence_refused_before(const void *arg)
{
	(void)arg;
	refuse_rseq_fence();
	must(init(0, MEMCG_INDEX_AUTO) == 0);
	must(!memcg_percpu.rseq);
	whole_life();
	must(current(NULL) == 0);
}

/* Only the fence is lost: exactness by waiting, no stock any more. */
static void rseq_fence_refused_after(const void *arg)
{
	struct memcg *warm;

	(void)arg;
	must(init(0, MEMCG_INDEX_AUTO) == 0);
	must(memcg_create(NULL, "warm", &warm) == 0);
	must(memcg_charge(warm, 3, 0) == 0);
	refuse_rseq_fence();
	whole_life();
	memcg_uncharge(warm, 3);
	must(memcg_destroy(warm) == 0);
	memcg_put(warm);
	memcg_tick();
	must(current(NULL) == 0);
}

static void fence_alone_refused(void **state)
{
	(void)state;
	child_expect_ok(child_run(rseq_fence_refused_before, NULL));
	child_expect_ok(child_run(rseq_fence_refused_after, NULL));
}

/* T22: in stock, over the counters, and refused. */
static void silent_operations(void)
{
	struct memcg *group, *full;
	struct memcg_objcg *objcg;
	int i;

	must(memcg_create(NULL, "silent", &group) == 0);
	must(memcg_create(group, "full", &full) == 0);
	must(memcg_write(full, "memory.max", "0", 1) == 1);
	objcg = memcg_objcg_get(group);
	must(memcg_charge(group, 1, 0) == 0 && memcg_charge_bytes(objcg, 100, 0) == 0);
	memcg_uncharge(group, 1);
	memcg_uncharge_bytes(objcg, 100);
	must(memcg_charge(full, 1, 0) == -ENOMEM);
	allow_nothing();
	for (i = 0; i < 10000; i++) {
		struct memcg *previous = memcg_enter(group);

		must(memcg_charge(NULL, (unsigned long)(i % 200) + 1, 0) == 0);
		memcg_uncharge(NULL, (unsigned long)(i % 200) + 1);
		must(memcg_charge_bytes(objcg, (size_t)i + 1, 0) == 0);
		memcg_uncharge_bytes(objcg, (size_t)i + 1);
		must(memcg_charge(full, 1, 0) == -ENOMEM);
		memcg_leave(previous);
	}
	_exit(0); /* not exit(): that would write */
}

static void silent(const void *arg)
{
	const unsigned int *how = arg;
	int err = init(how[0], how[1]);

	if (err == -EOPNOTSUPP)
		child_end(CHILD_SKIP);
	must(err == 0);
	silent_operations();
}

static void no_system_call_per_operation(void **state)
{
	static const unsigned int how[][2] = {
		{ 0, MEMCG_INDEX_AUTO },
		{ MEMCG_INIT_PORTABLE, MEMCG_INDEX_AUTO },
		{ 0, MEMCG_INDEX_THREAD },
	};
	size_t i;

	(void)state;
	if (!machine_own_calls_only())
		skip();
	for (i = 0; i < array_size(how); i++)
		child_expect_ok(child_run(silent, how[i]));
}

static void without_rseq(void)
{
	must(init(0, MEMCG_INDEX_MM_CID) == -EOPNOTSUPP);
	must(init(0, MEMCG_INDEX_CPU_ID) == -EOPNOTSUPP);
	must(init(0, MEMCG_INDEX_AUTO) == 0);
	must(!memcg_percpu.rseq);
	must(percpu_index_kind == MEMCG_INDEX_THREAD);
	if (machine_own_calls_only())
		silent_operations();
	else
		whole_life();
}

static void without_rseq_life(void)
{
	must(init(0, MEMCG_INDEX_AUTO) == 0);
	must(percpu_index_kind == MEMCG_INDEX_THREAD);
	whole_life();
}

static void rseq_tunable_off(void **state)
{
	(void)state;
	child_expect_ok(child_exec("without-rseq", "GLIBC_TUNABLES=glibc.pthread.rseq=0"));
	child_expect_ok(child_exec("without-rseq-life", "GLIBC_TUNABLES=glibc.pthread.rseq=0"));
}

int main(int argc, char **argv)
{
	static const struct child_case cases[] = {
		{ "after-filter", after_filter },
		{ "without-rseq", without_rseq },
		{ "without-rseq-life", without_rseq_life },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_membarrier_means_portable),
		cmocka_unit_test(fence_alone_refused),
		cmocka_unit_test(no_system_call_per_operation),
		cmocka_unit_test(rseq_tunable_off),
	};

	child_main(argc, argv, cases, array_size(cases));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
