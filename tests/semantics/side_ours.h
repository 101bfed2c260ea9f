/* SPDX-License-Identifier: MIT */
/*
 * Our side of test_kernel.c. The actors are threads, which the test moves by their tids; what they touch is
 * charged to their home, page by page, as faults are.
 */
#ifndef SEMANTICS_SIDE_OURS_H
#define SEMANTICS_SIDE_OURS_H

#include <fcntl.h>
#include <sys/syscall.h>

#include "semantics/side.h"

static struct {
	struct stage stage;              /* as an actor's */
	struct memcg *paid[ARENA_PAGES]; /* who paid each page; each holds a reference */
	pthread_t thread;
	pid_t tid;
} players[ACTORS];

static struct memcg_file *peak_file; /* what a reset is for; one at a time */

/* The group of a path; the caller puts it. */
static struct memcg *ours(const char *path)
{
	struct memcg *memcg = NULL;

	must(memcg_open(path, &memcg) == 0);
	return memcg;
}

static int our_make(const char *path)
{
	char above[64];
	struct memcg *parent, *made = NULL;
	const char *name = strrchr(path, '/');
	int err;

	snprintf(above, sizeof(above), "%.*s", name ? (int)(name - path) : 0, path);
	parent = ours(above);
	err = memcg_create(parent, name ? name + 1 : path, &made);
	memcg_put(parent);
	memcg_put(made);
	return err;
}

static int our_end(const char *path)
{
	struct memcg *memcg = ours(path);
	int err = memcg_destroy(memcg);

	memcg_put(memcg);
	if (!err)
		memcg_tick(); /* no library threads here */
	return err;
}

static int our_limit(const char *path, const char *bytes)
{
	struct memcg *memcg = ours(path);
	ssize_t ret = memcg_write(memcg, "memory.max", bytes, strlen(bytes));

	memcg_put(memcg);
	return ret < 0 ? (int)ret : 0;
}

static void our_show_limit(const char *path, char *bytes)
{
	struct memcg *memcg = ours(path);
	ssize_t len = memcg_read(memcg, "memory.max", bytes, 64);

	must(len > 0 && len < 64);
	bytes[len - 1] = '\0';
	if (!strcmp(bytes, "max"))
		strcpy(bytes, "9223372036854771712"); /* as v1 says it */
	memcg_put(memcg);
}

static unsigned long our_usage(const char *path)
{
	struct memcg *memcg = ours(path);
	unsigned long usage = usage_of(memcg);

	memcg_put(memcg);
	return usage;
}

static unsigned long our_failures(const char *path)
{
	struct memcg *memcg = ours(path);
	unsigned long failures = load_relaxed(&memcg->memory.failcnt);

	memcg_put(memcg);
	return failures;
}

static void our_reset_peak(const char *path)
{
	struct memcg *memcg = ours(path);

	if (!peak_file)
		must(memcg_file_open(memcg, "memory.peak", O_RDWR, &peak_file) == 0);
	must(memcg_file_write(peak_file, "0", 1) == 1);
	memcg_put(memcg);
}

static unsigned long our_peak(const char *path)
{
	char text[64];

	(void)path;
	must(memcg_file_read(peak_file, text, sizeof(text)) > 0);
	return strtoul(text, NULL, 10) / MEMCG_PAGE_SIZE;
}

static void player_obeys(unsigned int nr)
{
	struct stage *stage = &players[nr].stage;
	unsigned long done = 0;

	switch (load_seq(&stage->order)) {
	case TOUCH:
		while (done < stage->pages && !memcg_charge(NULL, 1, MEMCG_MAY_SLEEP)) {
			players[nr].paid[stage->held++] = memcg_get(memcg_current()); /* nobody moves it meanwhile */
			done++;
		}
		stage->pages = done;
		break;
	case RELEASE:
		while (stage->pages--) {
			memcg_uncharge(players[nr].paid[--stage->held], 1);
			memcg_put(players[nr].paid[stage->held]);
		}
		break;
	default:
		usleep(50);
		return;
	}
	store_seq(&stage->order, IDLE);
}

static void *player_main(void *arg)
{
	unsigned int nr = (unsigned int)(uintptr_t)arg;

	pin();
	store_seq(&players[nr].tid, (pid_t)syscall(SYS_gettid));
	while (load_seq(&players[nr].stage.order) != QUIT)
		player_obeys(nr);
	return NULL;
}

static void players_start(void)
{
	unsigned int nr;

	for (nr = 0; nr < ACTORS; nr++) {
		must(pthread_create(&players[nr].thread, NULL, player_main, (void *)(uintptr_t)nr) == 0);
		while (!load_seq(&players[nr].tid))
			usleep(50);
	}
}

static void players_end(void)
{
	unsigned int nr;

	for (nr = 0; nr < ACTORS; nr++) {
		command(&players[nr].stage, RELEASE, players[nr].stage.held);
		store_seq(&players[nr].stage.order, QUIT);
		must(pthread_join(players[nr].thread, NULL) == 0);
	}
}

static void our_join(unsigned int actor, const char *path)
{
	struct memcg *memcg = ours(path);
	char tid[16];
	int len = snprintf(tid, sizeof(tid), "%d", (int)players[actor].tid);

	must(memcg_write(memcg, "cgroup.threads", tid, (size_t)len) == len);
	memcg_put(memcg);
}

static unsigned long our_touch(unsigned int actor, unsigned long pages)
{
	must(players[actor].stage.held + pages <= ARENA_PAGES);
	command(&players[actor].stage, TOUCH, pages);
	return players[actor].stage.pages;
}

static void our_release(unsigned int actor, unsigned long pages)
{
	command(&players[actor].stage, RELEASE, pages);
}

static const struct side our_side = {
	our_make, our_end,        our_limit, our_show_limit, our_usage,   our_failures,
	our_peak, our_reset_peak, our_join,  our_touch,      our_release,
};

#endif
