/* SPDX-License-Identifier: MIT */
/*
 * The files of v1, against what Linux 6.18 shows: a group p with limit 128M and nothing of its own, below it c with limit 64M
 * and a mix of anonymous memory, file pages and locked memory; after c's removal.
 */
#include "support/child.h"

#include <memcg/charge.h>
#include <memcg/files.h>
#include <memcg/stat.h>

#include "charge/drain.h"
#include "group/stat.h"

static const char p_stat[] =
	"cache 0\nrss 0\nrss_huge 0\nshmem 0\nmapped_file 0\ndirty 0\nwriteback 0\n"
	"workingset_refault_anon 0\nworkingset_refault_file 0\nswap 0\nswapcached 0\npgpgin 0\npgpgout 0\n"
	"pgfault 0\npgmajfault 0\ninactive_anon 0\nactive_anon 0\ninactive_file 0\nactive_file 0\n"
	"unevictable 0\nhierarchical_memory_limit 134217728\nhierarchical_memsw_limit 9223372036854771712\n"
	"total_cache 10555392\ntotal_rss 22028288\ntotal_rss_huge 4194304\ntotal_shmem 2097152\n"
	"total_mapped_file 10485760\ntotal_dirty 65536\ntotal_writeback 0\n"
	"total_workingset_refault_anon 0\ntotal_workingset_refault_file 1\ntotal_swap 0\n"
	"total_swapcached 0\ntotal_pgpgin 4878\ntotal_pgpgout 0\ntotal_pgfault 5148\ntotal_pgmajfault 0\n"
	"total_inactive_anon 23076864\ntotal_active_anon 0\ntotal_inactive_file 8454144\n"
	"total_active_file 4096\ntotal_unevictable 1048576\n";

static const char c_stat[] =
	"cache 10555392\nrss 22028288\nrss_huge 4194304\nshmem 2097152\nmapped_file 10485760\ndirty 65536\n"
	"writeback 0\nworkingset_refault_anon 0\nworkingset_refault_file 1\nswap 0\nswapcached 0\n"
	"pgpgin 4878\npgpgout 0\npgfault 5148\npgmajfault 0\ninactive_anon 23076864\nactive_anon 0\n"
	"inactive_file 8454144\nactive_file 4096\nunevictable 1048576\nhierarchical_memory_limit 67108864\n"
	"hierarchical_memsw_limit 9223372036854771712\ntotal_cache 10555392\ntotal_rss 22028288\n"
	"total_rss_huge 4194304\ntotal_shmem 2097152\ntotal_mapped_file 10485760\ntotal_dirty 65536\n"
	"total_writeback 0\ntotal_workingset_refault_anon 0\ntotal_workingset_refault_file 1\n"
	"total_swap 0\ntotal_swapcached 0\ntotal_pgpgin 4878\ntotal_pgpgout 0\ntotal_pgfault 5148\n"
	"total_pgmajfault 0\ntotal_inactive_anon 23076864\ntotal_active_anon 0\n"
	"total_inactive_file 8454144\ntotal_active_file 4096\ntotal_unevictable 1048576\n";

static const char p_numa[] =
	"total=0 N0=0\nfile=0 N0=0\nanon=0 N0=0\nunevictable=0 N0=0\nhierarchical_total=7955 N0=7955\n"
	"hierarchical_file=2065 N0=2065\nhierarchical_anon=5634 N0=5634\n"
	"hierarchical_unevictable=256 N0=256\n";

static const char c_numa[] =
	"total=7955 N0=7955\nfile=2065 N0=2065\nanon=5634 N0=5634\nunevictable=256 N0=256\n"
	"hierarchical_total=7955 N0=7955\nhierarchical_file=2065 N0=2065\nhierarchical_anon=5634 N0=5634\n"
	"hierarchical_unevictable=256 N0=256\n";

static const char after_stat[] =
	"cache 0\nrss 0\nrss_huge 0\nshmem 0\nmapped_file 0\ndirty 0\nwriteback 0\n"
	"workingset_refault_anon 0\nworkingset_refault_file 0\nswap 0\nswapcached 0\npgpgin 0\npgpgout 0\n"
	"pgfault 0\npgmajfault 0\ninactive_anon 0\nactive_anon 0\ninactive_file 0\nactive_file 0\n"
	"unevictable 0\nhierarchical_memory_limit 134217728\nhierarchical_memsw_limit 9223372036854771712\n"
	"total_cache 8458240\ntotal_rss 0\ntotal_rss_huge 0\ntotal_shmem 0\ntotal_mapped_file 0\n"
	"total_dirty 65536\ntotal_writeback 0\ntotal_workingset_refault_anon 0\n"
	"total_workingset_refault_file 1\ntotal_swap 0\ntotal_swapcached 0\ntotal_pgpgin 4878\n"
	"total_pgpgout 4868\ntotal_pgfault 5148\ntotal_pgmajfault 0\ntotal_inactive_anon 0\n"
	"total_active_anon 0\ntotal_inactive_file 8454144\ntotal_active_file 4096\ntotal_unevictable 0\n";

static struct memcg *p, *c;
static char text[16384];

static void start(unsigned int flags, unsigned int nr_nodes)
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = flags | MEMCG_INIT_NO_HOST_MAX | MEMCG_INIT_NO_THREADS,
		.nr_nodes = nr_nodes,
	};

	must(memcg_init(&options) == 0);
	must(memcg_create(NULL, "p", &p) == 0);
	must(memcg_create(p, "c", &c) == 0);
}

static const char *read_file(struct memcg *memcg, const char *file)
{
	must(memcg_stat_flush(NULL) == 0);
	must(memcg_read(memcg, file, text, sizeof(text)) > 0);
	return text;
}

static bool write_file(struct memcg *memcg, const char *file, const char *what)
{
	return memcg_write(memcg, file, what, strlen(what)) == (ssize_t)strlen(what);
}

static uint64_t value_of(const char *in, const char *key)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\n%s ", key);
	at = strncmp(in, line + 1, strlen(line + 1)) ? strstr(in, line) + 1 : in;
	must(at != (const char *)1);
	return strtoull(at + strlen(line + 1), NULL, 10);
}

/* Count for @memcg what a record says that it has alone, less what another says. */
static void feed(struct memcg *memcg, const char *prefix, const char *record, const char *less)
{
	unsigned int i;

	for (i = 0; i < stat_nr_v1_lines; i++) {
		enum stat_item item = stat_v1_lines[i].first;
		uint64_t unit = stat_units[item].raw ? 1 : stat_units[item].bytes;
		char key[64];
		long nr;

		snprintf(key, sizeof(key), "%s%s", prefix, stat_v1_lines[i].key);
		nr = (long)(value_of(record, key) / unit) - (less ? (long)(value_of(less, key) / unit) : 0);
		if (item < STAT_NODE_END)
			memcg_mod_node(memcg, 0, item, nr);
		else if (item < STAT_STATE_END)
			memcg_mod_state(memcg, item, nr);
		else
			memcg_count_event(memcg, item, (unsigned long)nr);
	}
}

static void as_recorded(const void *arg)
{
	(void)arg;
	start(MEMCG_INIT_V1, 0);
	must(write_file(p, "memory.limit_in_bytes", "128M"));
	must(write_file(c, "memory.limit_in_bytes", "64M"));
	feed(c, "", c_stat, NULL);
	must(!strcmp(read_file(c, "memory.stat.v1"), c_stat));
	must(!strcmp(read_file(p, "memory.stat.v1"), p_stat));
	must(!strcmp(read_file(c, "memory.numa_stat.v1"), c_numa));
	must(!strcmp(read_file(p, "memory.numa_stat.v1"), p_numa));
}

static void same_as_the_kernel(void **state)
{
	(void)state;
	if (!MEMCG_V1)
		skip();
	child_expect_ok(child_run(as_recorded, NULL));
}

/* Totals are the kernel's; what is left is the parent's own too, which 6.18 does not show and 7.x does. */
static void after_removal(const void *arg)
{
	unsigned int i;

	(void)arg;
	start(MEMCG_INIT_V1, 0);
	must(write_file(p, "memory.limit_in_bytes", "134217728"));
	feed(c, "", c_stat, NULL);
	must(memcg_destroy(c) == 0);
	memcg_tick();
	feed(c, "total_", after_stat, p_stat);
	read_file(p, "memory.stat.v1");
	must(!strcmp(strstr(text, "hierarchical_memory_limit"), strstr(after_stat, "hierarchical_memory_limit")));
	for (i = 0; i < stat_nr_v1_lines; i++) {
		char total[64];

		snprintf(total, sizeof(total), "total_%s", stat_v1_lines[i].key);
		must(value_of(text, stat_v1_lines[i].key) == value_of(text, total));
	}
	memcg_put(c);
}

static void removal_changes_no_total(void **state)
{
	(void)state;
	if (!MEMCG_V1)
		skip();
	child_expect_ok(child_run(after_removal, NULL));
}

static void nodes(const void *arg)
{
	(void)arg;
	start(MEMCG_INIT_V1, 3);
	nodes_set_online(1, false);
	memcg_mod_node(c, 0, STAT_ACTIVE_FILE, 5);
	memcg_mod_node(c, 2, STAT_UNEVICTABLE, 7);
	memcg_mod_node(p, 2, STAT_INACTIVE_ANON, 1);
	must(!strcmp(read_file(p, "memory.numa_stat.v1"),
		     "total=1 N0=0 N2=1\nfile=0 N0=0 N2=0\nanon=1 N0=0 N2=1\nunevictable=0 N0=0 N2=0\n"
		     "hierarchical_total=13 N0=5 N2=8\nhierarchical_file=5 N0=5 N2=0\nhierarchical_anon=1 N0=0 N2=1\n"
		     "hierarchical_unevictable=7 N0=0 N2=7\n"));
	read_file(p, "memory.numa_stat");
	must(strstr(text, "\nactive_file N0=20480 N2=0\n") && strstr(text, "\nunevictable N0=0 N2=28672\n"));
	must(!strncmp(text, "anon N0=0 N2=0\nfile N0=0 N2=0\nkernel_stack ", 42));
	must(!strstr(text, "kernel ") && !strstr(text, "percpu") && !strstr(text, "pgfault") && !strstr(text, "slab "));
	nodes_set_online(1, true);
	must(strstr(read_file(p, "memory.numa_stat"), "\nactive_file N0=20480 N1=0 N2=0\n"));
}

static void several_nodes(void **state)
{
	(void)state;
	if (!MEMCG_V1)
		skip();
	child_expect_ok(child_run(nodes, NULL));
}

static void limits(const void *arg)
{
	(void)arg;
	start(MEMCG_INIT_V1, 0);
	must(!strcmp(read_file(c, "memory.limit_in_bytes"), "9223372036854771712\n"));
	must(memcg_charge(c, 10, 0) == 0);
	must(memcg_write(c, "memory.limit_in_bytes", "36864", 5) == -EBUSY);
	must(!strcmp(read_file(c, "memory.limit_in_bytes"), "9223372036854771712\n"));
	must(write_file(c, "memory.limit_in_bytes", "40960")); /* equal is fine; stock was in the way */
	must(!strcmp(read_file(c, "memory.usage_in_bytes"), "40960\n"));
	must(!strcmp(read_file(c, "memory.max"), "40960\n"));
	must(!strcmp(read_file(c, "memory.failcnt"), "0\n"));
	must(memcg_charge(c, 1, 0) == -ENOMEM);
	must(!strcmp(read_file(c, "memory.failcnt"), "1\n"));
	must(!strcmp(read_file(p, "memory.failcnt"), "0\n"));
	must(write_file(c, "memory.failcnt", "anything") && !strcmp(read_file(c, "memory.failcnt"), "0\n"));
	memcg_uncharge(c, 6);
	drain_stock(c);
	must(!strcmp(read_file(c, "memory.max_usage_in_bytes"), "40960\n"));
	must(write_file(c, "memory.max_usage_in_bytes", "0"));
	must(!strcmp(read_file(c, "memory.max_usage_in_bytes"), "16384\n"));
	must(write_file(c, "memory.limit_in_bytes", "-1"));
	must(!strcmp(read_file(c, "memory.limit_in_bytes"), "9223372036854771712\n"));
	must(memcg_write(c, "memory.limit_in_bytes", "max", 3) == -EINVAL);
	must(memcg_write(c, "memory.limit_in_bytes", "1.0", 3) == -EINVAL);
	must(memcg_write(c, "memory.usage_in_bytes", "1", 1) == -EINVAL);
	memcg_uncharge(c, 4);
}

static void limits_refuse(void **state)
{
	(void)state;
	if (!MEMCG_V1)
		skip();
	child_expect_ok(child_run(limits, NULL));
}

/* Without the option there are no such files, and nothing is counted for them. */
static void without(const void *arg)
{
	static const char *const files[] = {
		"memory.usage_in_bytes", "memory.limit_in_bytes", "memory.max_usage_in_bytes",
		"memory.failcnt",        "memory.stat.v1",        "memory.numa_stat.v1"
	};
	unsigned int i;

	(void)arg;
	start(0, 0);
	for (i = 0; i < array_size(files); i++) {
		must(memcg_read(c, files[i], text, sizeof(text)) == -ENOENT);
		must(memcg_write(c, files[i], "1", 1) == -ENOENT);
	}
	memcg_mod_node(c, 0, STAT_ANON, 5);
	must(memcg_stat_flush(c) == 0);
	must(c->stat->locals == NULL && stat_local(c->stat, STAT_ANON) == 0);
	must(stat_node_local(c->stat, 0, STAT_ANON) == 5);
}

static void without_v1(void **state)
{
	(void)state;
	child_expect_ok(child_run(without, NULL));
}

/* A build without them says so. */
static void cannot(const void *arg)
{
	const struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_V1 };

	(void)arg;
	must(memcg_init(&options) == -EOPNOTSUPP);
	must(memcg_init(NULL) == 0);
}

static void not_built(void **state)
{
	(void)state;
	if (MEMCG_V1)
		skip();
	child_expect_ok(child_run(cannot, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_the_kernel), cmocka_unit_test(removal_changes_no_total),
		cmocka_unit_test(several_nodes),      cmocka_unit_test(limits_refuse),
		cmocka_unit_test(without_v1),         cmocka_unit_test(not_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
