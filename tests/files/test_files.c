/* SPDX-License-Identifier: MIT */
/* The files themselves: which there are, what they show, and their errors. */
#include "support/child.h"

#include <memcg/charge.h>
#include <memcg/files.h>
#include <memcg/stat.h>
#include <pthread.h>

#include "charge/drain.h"
#include "group/group.h"

static struct memcg *parent, *child;

static int start(void **state)
{
	struct memcg_options options = { .size = sizeof(options), .flags = MEMCG_INIT_NO_HOST_MAX };

	(void)state;
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
	if (!child->css.flags)
		assert_int_equal(memcg_destroy(child), 0);
	memcg_put(child);
	assert_int_equal(memcg_destroy(parent), 0);
	memcg_put(parent);
	memcg_tick();
	return 0;
}

static char text[8192];

static const char *read_file(struct memcg *group, const char *file)
{
	ssize_t len = memcg_read(group, file, text, sizeof(text));

	assert_true(len > 0 && len < (ssize_t)sizeof(text));
	assert_int_equal(strlen(text), len);
	assert_int_equal(text[len - 1], '\n');
	return text;
}

static void put_file(struct memcg *group, const char *file, const char *value)
{
	assert_int_equal(memcg_write(group, file, value, strlen(value)), strlen(value));
}

static unsigned long key(struct memcg *group, const char *file, const char *name)
{
	const char *at = read_file(group, file);
	size_t len = strlen(name);

	for (; *at; at = strchr(at, '\n') + 1) {
		if (!strncmp(at, name, len) && at[len] == ' ')
			return strtoul(at + len, NULL, 10);
	}
	fail_msg("%s has no %s", file, name);
	return 0;
}

static const char zero_events[] = "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\nsock_throttled 0\n";

/* As a fresh kernel group reads. */
static void fresh_group(void **state)
{
	(void)state;
	assert_string_equal(read_file(child, "memory.current"), "0\n");
	assert_string_equal(read_file(child, "memory.peak"), "0\n");
	assert_string_equal(read_file(child, "memory.min"), "0\n");
	assert_string_equal(read_file(child, "memory.low"), "0\n");
	assert_string_equal(read_file(child, "memory.high"), "max\n");
	assert_string_equal(read_file(child, "memory.max"), "max\n");
	assert_string_equal(read_file(child, "memory.events"), zero_events);
	assert_string_equal(read_file(child, "memory.events.local"), zero_events);
	assert_string_equal(read_file(child, "cgroup.max.depth"), "max\n");
	assert_string_equal(read_file(child, "cgroup.max.descendants"), "max\n");
}

/* Our root has all files: a listed difference from the kernel. */
static void root_has_files(void **state)
{
	(void)state;
	assert_string_equal(read_file(NULL, "memory.max"), "max\n");
	put_file(NULL, "memory.low", "1M");
	assert_string_equal(read_file(memcg_root(), "memory.low"), "1048576\n");
	put_file(NULL, "memory.low", "0");
}

static void read_only_files(void **state)
{
	static const char *const files[] = { "memory.current", "memory.events", "memory.events.local", "memory.stat" };
	size_t i;

	(void)state;
	for (i = 0; i < array_size(files); i++) {
		assert_int_equal(memcg_write(child, files[i], "0", 1), -EINVAL);
		assert_int_equal(memcg_write(child, files[i], "max", 3), -EINVAL);
	}
	assert_string_equal(read_file(child, "memory.events"), zero_events);
}

static void unknown_files(void **state)
{
	static const char *const files[] = { "",    "memory",        "memory.",    "memory.maxx", "memory.ma",
					     "max", "../memory.max", "MEMORY.MAX", "memory.max ", "memory.max/" };
	size_t i;

	(void)state;
	for (i = 0; i < array_size(files); i++) {
		assert_int_equal(memcg_read(child, files[i], text, sizeof(text)), -ENOENT);
		assert_int_equal(memcg_write(child, files[i], "0", 1), -ENOENT);
	}
	assert_int_equal(memcg_read(child, NULL, text, sizeof(text)), -EINVAL);
	assert_int_equal(memcg_write(child, NULL, "0", 1), -EINVAL);
	assert_int_equal(memcg_read(memcg_unaccounted(), "memory.max", text, sizeof(text)), -EINVAL);
}

/* The length of the whole text, whatever fits; never a byte beyond. */
static void truncated_reads(void **state)
{
	static const char *const files[] = { "memory.max", "memory.events", "memory.stat" };
	static char whole[8192], part[8192];
	size_t i, cap;

	(void)state;
	put_file(child, "memory.max", "1M");
	for (i = 0; i < array_size(files); i++) {
		ssize_t len = memcg_read(child, files[i], whole, sizeof(whole));

		assert_int_equal(memcg_read(child, files[i], NULL, 0), len);
		for (cap = 1; cap <= (size_t)len + 1; cap++) {
			memset(part, 'x', (size_t)len + 2);
			assert_int_equal(memcg_read(child, files[i], part, cap), len);
			assert_memory_equal(part, whole, cap - 1);
			assert_int_equal(part[cap - 1], '\0');
			assert_int_equal(part[cap], 'x');
		}
	}
	assert_int_equal(memcg_read(child, "memory.max", NULL, 5), -EINVAL);
	assert_int_equal(memcg_write(child, "memory.max", NULL, 5), -EINVAL);
	assert_int_equal(memcg_write(child, "memory.max", NULL, 0), 0);
	assert_string_equal(read_file(child, "memory.max"), "1048576\n");
}

/* The keys that a 7.2 kernel without huge pages, NUMA balancing and swap over the network shows. */
static const char kernel_keys[] =
	"anon file kernel kernel_stack pagetables sec_pagetables percpu sock vmalloc shmem zswap zswapped "
	"zswap_incomp file_mapped file_dirty file_writeback swapcached inactive_anon active_anon inactive_file "
	"active_file unevictable slab_reclaimable slab_unreclaimable slab workingset_refault_anon "
	"workingset_refault_file workingset_activate_anon workingset_activate_file workingset_restore_anon "
	"workingset_restore_file workingset_nodereclaim pgdemote_kswapd pgdemote_direct pgdemote_khugepaged "
	"pgdemote_proactive pgsteal_kswapd pgsteal_direct pgsteal_khugepaged pgsteal_proactive pgscan_kswapd "
	"pgscan_direct pgscan_khugepaged pgscan_proactive pgrefill pgscan pgsteal pswpin pswpout pgfault "
	"pgmajfault pgactivate pgdeactivate pglazyfree pglazyfreed swpin_zero swpout_zero zswpin zswpout zswpwb ";

/* memory.stat has each of them, once, in that order; each line is "key number". */
static void stat_keys_in_order(void **state)
{
	const char *at, *want = kernel_keys;
	size_t len;

	(void)state;
	for (at = read_file(child, "memory.stat"); *at; at = strchr(at, '\n') + 1) {
		const char *space = strchr(at, ' ');

		assert_non_null(space);
		assert_int_equal(strspn(space + 1, "0123456789"), strcspn(space + 1, "\n"));
		len = (size_t)(space - at);
		if (*want && len == strcspn(want, " ") && !strncmp(at, want, len))
			want += len + 1;
	}
	assert_string_equal(want, "");
	for (want = kernel_keys; *want; want += len + 1) {
		char line[64];
		const char *first;

		len = strcspn(want, " ");
		snprintf(line, sizeof(line), "\n%.*s ", (int)len, want);
		first = strncmp(text, line + 1, len + 1) == 0 ? text : strstr(text, line);
		assert_non_null(first);
		assert_null(strstr(first + 1, line));
	}
}

/* As the file shows it, with nothing left out. */
static uint64_t flushed(struct memcg *memcg, const char *name)
{
	uint64_t value, shown;

	assert_int_equal(memcg_stat_flush(memcg), 0);
	shown = key(memcg, "memory.stat", name);
	assert_int_equal(memcg_stat_read(memcg, name, &value), 0);
	assert_int_equal(value, shown);
	return value;
}

static void stat_counts_heap(void **state)
{
	struct memcg_objcg *objcg = memcg_objcg_get(child);

	(void)state;
	assert_int_equal(memcg_charge_bytes(objcg, 3 * MEMCG_PAGE_SIZE + 1, 0), 0);
	assert_int_equal(flushed(child, "anon"), 4 * MEMCG_PAGE_SIZE);
	assert_int_equal(flushed(child, "unevictable"), 4 * MEMCG_PAGE_SIZE);
	assert_int_equal(flushed(parent, "anon"), 4 * MEMCG_PAGE_SIZE);
	/* C3: the total does not change when the group dies, also before anybody tidies up */
	assert_int_equal(memcg_destroy(child), 0);
	assert_int_equal(flushed(parent, "anon"), 4 * MEMCG_PAGE_SIZE);
	memcg_uncharge_bytes(objcg, 3 * MEMCG_PAGE_SIZE + 1);
	memcg_objcg_put(objcg);
	memcg_tick();
	drain_stock(memcg_root());
	assert_int_equal(flushed(parent, "anon"), 0);
}

/* Whole amounts, in bytes: usage with what stocks hold, peak, events where they happened. */
static void amounts_and_events(void **state)
{
	(void)state;
	put_file(parent, "memory.max", "40960");
	assert_int_equal(memcg_charge(child, 10, MEMCG_MAY_SLEEP), 0);
	assert_string_equal(read_file(child, "memory.current"), "40960\n");
	assert_string_equal(read_file(parent, "memory.peak"), "40960\n");
	assert_int_equal(memcg_charge(child, 1, MEMCG_MAY_SLEEP), -ENOMEM);
	assert_int_equal(memcg_charge(child, 1, 0), -ENOMEM);
	assert_int_equal(key(parent, "memory.events.local", "max"), 2);
	assert_int_equal(key(parent, "memory.events", "max"), 2);
	assert_string_equal(read_file(child, "memory.events"), zero_events);
	assert_string_equal(read_file(child, "memory.peak"), "40960\n");
	/* a limit on the child: counted there, and in all above */
	put_file(child, "memory.max", "0");
	assert_int_equal(memcg_charge(child, 1, 0), -ENOMEM);
	assert_int_equal(key(child, "memory.events.local", "max"), 1);
	assert_int_equal(key(child, "memory.events", "max"), 1);
	assert_int_equal(key(parent, "memory.events.local", "max"), 2);
	assert_int_equal(key(parent, "memory.events", "max"), 3);
	/* lowering took nothing away from what lives */
	assert_string_equal(read_file(child, "memory.current"), "40960\n");
	/* a write to peak of any text is taken; without an open file the lifetime peak stays */
	assert_int_equal(memcg_write(child, "memory.peak", "reset me", 8), 8);
	assert_string_equal(read_file(child, "memory.peak"), "40960\n");
	memcg_uncharge(child, 10);
	drain_stock(memcg_root());
	assert_string_equal(read_file(parent, "memory.current"), "0\n");
	assert_string_equal(read_file(parent, "memory.peak"), "40960\n");
}

/* After a lowered limit what counts is live: stock below was taken back. */
static void lowered_max_leaves_no_stock(void **state)
{
	(void)state;
	assert_int_equal(memcg_charge(child, 1, 0), 0);
	put_file(parent, "memory.max", "8192");
	assert_string_equal(read_file(child, "memory.current"), "4096\n");
	assert_int_equal(child->memory.room, 0);
	assert_int_equal(memcg_charge(child, 1, 0), 0);
	assert_int_equal(memcg_charge(child, 1, 0), -ENOMEM);
	memcg_uncharge(child, 2);
	assert_string_equal(read_file(parent, "memory.current"), "0\n");
}

static void destroyed_group(void **state)
{
	(void)state;
	assert_int_equal(memcg_destroy(child), 0);
	assert_int_equal(memcg_read(child, "memory.max", text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_write(child, "memory.max", "0", 1), -ENODEV);
	assert_int_equal(memcg_read(child, "memory.stat", text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_read(child, "cgroup.max.depth", text, sizeof(text)), -ENODEV);
	assert_int_equal(memcg_read(child, "no.such", text, sizeof(text)), -ENOENT);
	assert_string_equal(read_file(parent, "memory.max"), "max\n");
}

static void *reads_and_writes(void *arg)
{
	char mine[4096];
	int i;

	(void)arg;
	for (i = 0; i < 300; i++) {
		must(memcg_write(parent, "memory.max", i & 1 ? "max" : "4M", i & 1 ? 3 : 2) > 0);
		must(memcg_read(parent, "memory.max", mine, sizeof(mine)) > 0);
		must(!strcmp(mine, "max\n") || !strcmp(mine, "4194304\n"));
		must(memcg_read(NULL, "memory.stat", mine, sizeof(mine)) > 0);
		must(memcg_charge(child, 3, MEMCG_MAY_SLEEP) == 0);
		memcg_uncharge(child, 3);
	}
	return NULL;
}

static void files_under_threads(void **state)
{
	pthread_t threads[4];
	size_t i;

	(void)state;
	for (i = 0; i < array_size(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reads_and_writes, NULL), 0);
	for (i = 0; i < array_size(threads); i++)
		pthread_join(threads[i], NULL);
	drain_stock(memcg_root());
	assert_string_equal(read_file(parent, "memory.current"), "0\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(fresh_group),      CASE(root_has_files),      CASE(read_only_files),
		CASE(unknown_files),    CASE(truncated_reads),     CASE(stat_keys_in_order),
		CASE(stat_counts_heap), CASE(amounts_and_events),  CASE(lowered_max_leaves_no_stock),
		CASE(destroyed_group),  CASE(files_under_threads),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
