/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of test_kernel.c: its v1 memory controller.
 *
 * The actors are processes of ours. They fault pages in by MADV_POPULATE_WRITE, which is refused where a plain
 * fault would be killed or stopped (memory.oom_control is 1), talk through a shared page, and touch nothing that they have
 * not touched before they join a group. The kernel charges a few pages for what it keeps of a process, so that
 * pages of an actor are compared with usage only by differences.
 *
 * Nothing of it stays: a guardian process waits for this one's end, however it comes, kills the actors and removes the
 * groups.
 */
#ifndef SEMANTICS_SIDE_KERNEL_H
#define SEMANTICS_SIDE_KERNEL_H

#include <fcntl.h>
#include <mntent.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "semantics/side.h"

static char top[512]; /* folder of our groups */

static struct {
	struct stage *stage; /* shared */
	char *arena;         /* its own */
	pid_t pid;           /* 0: not there */
} actors[ACTORS];

static void group_file(char *name, const char *path, const char *file)
{
	must(snprintf(name, 640, "%s/%s/%s", top, path, file) < 640);
}

static int put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);
	ssize_t ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text));
	ret = ret < 0 ? -errno : 0;
	close(fd);
	return (int)ret;
}

static int put_file(const char *path, const char *file, const char *text)
{
	char name[640];

	group_file(name, path, file);
	return put(name, text);
}

static void get_file(const char *path, const char *file, char *text, size_t size)
{
	char name[640];
	ssize_t len;
	int fd;

	group_file(name, path, file);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	must(fd >= 0);
	len = read(fd, text, size - 1);
	must(len > 0);
	text[len - (text[len - 1] == '\n')] = '\0';
	close(fd);
}

static unsigned long get_number(const char *path, const char *file)
{
	char text[64];

	get_file(path, file, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

static int kernel_make(const char *path)
{
	char name[640];

	must(snprintf(name, sizeof(name), "%s/%s", top, path) < (int)sizeof(name));
	if (mkdir(name, 0755))
		return -errno;
	return put_file(path, "memory.oom_control", "1");
}

static int kernel_end(const char *path)
{
	char name[640];

	must(snprintf(name, sizeof(name), "%s/%s", top, path) < (int)sizeof(name));
	return rmdir(name) ? -errno : 0;
}

/* What other CPUs hold in stock is drained, and not waited for: -EBUSY may pass. */
static int kernel_limit(const char *path, const char *bytes)
{
	int err, tries;

	for (tries = 0; tries < 1000; tries++) {
		err = put_file(path, "memory.limit_in_bytes", bytes);
		if (err != -EBUSY)
			break;
		usleep(1000);
	}
	return err;
}

static void kernel_show_limit(const char *path, char *bytes)
{
	get_file(path, "memory.limit_in_bytes", bytes, 64);
}

static unsigned long kernel_usage(const char *path)
{
	return get_number(path, "memory.usage_in_bytes") / MEMCG_PAGE_SIZE;
}

static unsigned long kernel_failures(const char *path)
{
	return get_number(path, "memory.failcnt");
}

static unsigned long kernel_peak(const char *path)
{
	return get_number(path, "memory.max_usage_in_bytes") / MEMCG_PAGE_SIZE;
}

static void kernel_reset_peak(const char *path)
{
	must(put_file(path, "memory.max_usage_in_bytes", "0") == 0);
}

/* In the actor: no call that allocates but what it is asked for. */
static void obey(unsigned int nr)
{
	struct stage *stage = actors[nr].stage;
	char *arena = actors[nr].arena;
	unsigned long done = 0;

	switch (load_seq(&stage->order)) {
	case JOIN:
		stage->result = put(stage->procs, "0");
		break;
	case TOUCH:
		while (done < stage->pages &&
		       !madvise(arena + (stage->held + done) * MEMCG_PAGE_SIZE, MEMCG_PAGE_SIZE, MADV_POPULATE_WRITE))
			done++;
		stage->held += done;
		stage->pages = done;
		break;
	case RELEASE:
		stage->held -= stage->pages;
		madvise(arena + stage->held * MEMCG_PAGE_SIZE, stage->pages * MEMCG_PAGE_SIZE, MADV_DONTNEED);
		break;
	case QUIT:
		_exit(0);
	default:
		usleep(50);
		return;
	}
	store_seq(&stage->order, IDLE);
}

static void kernel_join(unsigned int actor, const char *path)
{
	group_file(actors[actor].stage->procs, path, "cgroup.procs");
	command(actors[actor].stage, JOIN, 0);
	must(actors[actor].stage->result == 0);
}

static unsigned long kernel_touch(unsigned int actor, unsigned long pages)
{
	must(actors[actor].stage->held + pages <= ARENA_PAGES);
	command(actors[actor].stage, TOUCH, pages);
	return actors[actor].stage->pages;
}

static void kernel_release(unsigned int actor, unsigned long pages)
{
	command(actors[actor].stage, RELEASE, pages);
}

static const struct side kernel_side = {
	kernel_make, kernel_end,        kernel_limit, kernel_show_limit, kernel_usage,   kernel_failures,
	kernel_peak, kernel_reset_peak, kernel_join,  kernel_touch,      kernel_release,
};

/* An arena whose page table is there: its last page is touched. */
static void arena_make(unsigned int nr)
{
	const size_t huge = 2UL << 20;
	char *map = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *arena = (char *)(((uintptr_t)map + huge - 1) & ~(huge - 1));

	must(map != MAP_FAILED);
	must(madvise(arena, huge, MADV_NOHUGEPAGE) == 0 || errno == EINVAL); /* a kernel without huge pages */
	actors[nr].arena = arena;
	actors[nr].stage = mmap(NULL, sizeof(struct stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(actors[nr].stage != MAP_FAILED);
	memset(actors[nr].stage, 0, sizeof(struct stage));
}

__attribute__((noreturn)) static void actor_main(unsigned int nr)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin();
	actors[nr].arena[511 * MEMCG_PAGE_SIZE] = 1;
	for (;;)
		obey(nr);
}

static void actors_start(void)
{
	unsigned int nr;

	for (nr = 0; nr < ACTORS; nr++) {
		arena_make(nr);
		actors[nr].pid = child_fork();
		if (!actors[nr].pid)
			actor_main(nr);
		/* Each order once: what they touch is touched. */
		command(actors[nr].stage, TOUCH, 1);
		command(actors[nr].stage, RELEASE, 1);
	}
}

static void actors_end(void)
{
	unsigned int nr;

	for (nr = 0; nr < ACTORS; nr++) {
		store_seq(&actors[nr].stage->order, QUIT);
		child_wait(actors[nr].pid);
		actors[nr].pid = 0;
	}
}

/* The first mount of the kernel's v1 controller; false: none. */
static bool find_mount(char *folder, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *entry;
	bool found = false;

	while (mounts && !found && (entry = getmntent(mounts))) {
		found = !strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, "memory");
		if (found)
			snprintf(folder, size, "%s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Kills what is in a group of ours, and removes it; groups below first. */
static void sweep(const char *path)
{
	static const char *const below[] = { "g/a/b", "g/a", "g/c", "g", "h", "" };
	char name[700], text[4096];
	size_t i;

	for (i = 0; i < array_size(below); i++) {
		char *pid, *rest = text;
		ssize_t len;
		int fd;

		snprintf(name, sizeof(name), "%s/%s/cgroup.procs", path, below[i]);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[len > 0 ? len : 0] = '\0';
		while ((pid = strsep(&rest, "\n")) && *pid)
			kill(atoi(pid), SIGKILL);
		*strrchr(name, '/') = '\0';
		while (rmdir(name) && errno == EBUSY)
			usleep(1000);
	}
}

static pid_t guardian; /* the process that cleans up */
static int watched;    /* end of its pipe that nobody but this process has */

/* It waits for the end of the pipe's other side. Before anything is there to clean up. */
static void guardian_start(void)
{
	int ends[2];
	char byte;

	must(pipe2(ends, O_CLOEXEC) == 0);
	guardian = child_fork();
	if (!guardian) {
		setsid(); /* a signal to the test's group is not for it */
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		sweep(top);
		_exit(0);
	}
	close(ends[0]);
	watched = ends[1];
}

static void guardian_end(void)
{
	close(watched);
	must(child_wait(guardian) == 0);
	must(access(top, F_OK) != 0);
}

/* NULL, or why not. */
static const char *kernel_start(void)
{
	char *page = mmap(NULL, MEMCG_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char mount[256];

	if (SANITIZED)
		return "a sanitizer's own memory would be counted";
	if (sysconf(_SC_PAGESIZE) != (long)MEMCG_PAGE_SIZE)
		return "the machine's pages are not of 4096 bytes";
	if (madvise(page, MEMCG_PAGE_SIZE, MADV_POPULATE_WRITE))
		return "the kernel has no MADV_POPULATE_WRITE";
	if (!find_mount(mount, sizeof(mount)))
		return "no v1 memory controller is mounted";
	snprintf(top, sizeof(top), "%s/libmemcg-test-%d", mount, (int)getpid());
	guardian_start();
	if (mkdir(top, 0755))
		return "no group can be made in the v1 memory controller";
	return NULL;
}

#endif
