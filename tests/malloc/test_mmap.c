/* SPDX-License-Identifier: MIT */
/*
 * MEMCG_RUN_MMAP=1: what the program maps is charged, by size, to who maps it. A group's charge is compared with what
 * is mapped, to the byte; last by random calls against a plain model, page by page.
 */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static struct memcg *group, *other;

/* Bytes that are charged and in use: a limit of 0 takes back what CPUs hold in stock. */
static long live(struct memcg *of)
{
	char max[64];
	long bytes;

	CHECK(memcg_read(of, "memory.max", max, sizeof(max)) > 0);
	set_amount(of, "memory.max", "0");
	bytes = amount(of, "memory.current");
	set_amount(of, "memory.max", max);
	return bytes;
}

static void *map(size_t len, int prot, int flags)
{
	void *at = mmap(NULL, len, prot, flags, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void is_live(size_t bytes)
{
	long now = live(group);

	if (now != (long)bytes)
		fprintf(stderr, "live %ld, should be %zu\n", now, bytes);
	CHECK(now == (long)bytes);
}

static void by_size(void)
{
	char *at = map(8 * MIB + 1, RW, ANON);

	is_live(8 * MIB + PAGE);
	CHECK(!munmap(at, 4 * MIB));
	is_live(4 * MIB + PAGE);
	CHECK(!munmap(at + 6 * MIB, MIB)); /* a hole */
	is_live(3 * MIB + PAGE);
	CHECK(!munmap(at, 8 * MIB + 1)); /* what is there, and what is not */
	is_live(0);
}

/* Shared, of a file, huge, of a stack. */
static void not_charged(void)
{
	int file = memfd_create("test", MFD_CLOEXEC);
	void *maps[4];

	CHECK(file >= 0 && !ftruncate(file, 1 << 20));
	maps[0] = map(MIB, RW, MAP_SHARED | MAP_ANONYMOUS);
	maps[1] = map(MIB, RW, ANON | MAP_STACK);
	maps[2] = mmap(NULL, MIB, RW, MAP_PRIVATE, file, 0);
	maps[3] = map(MIB, PROT_READ, ANON);
	CHECK(maps[2] != MAP_FAILED);
	is_live(0);
	for (int i = 0; i < 4; i++)
		CHECK(!munmap(maps[i], MIB));
	close(file);
	is_live(0);
}

static void wrong_calls(void)
{
	char *at = map(MIB, RW, ANON);

	CHECK(mmap(NULL, 0, RW, ANON, -1, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, MIB, RW, MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, SIZE_MAX, RW, ANON, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(mmap(NULL, (size_t)1 << 60, RW, ANON, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(mmap(at + 1, MIB, RW, ANON | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(munmap(at + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(munmap(at, 0) == -1 && errno == EINVAL);
	CHECK(mremap(at, MIB, 2 * MIB, 64) == MAP_FAILED && errno == EINVAL);
	CHECK(mremap(at + 1, MIB, 2 * MIB, MREMAP_MAYMOVE) == MAP_FAILED && errno == EINVAL);
	CHECK(mprotect(at + 1, PAGE, RW) == -1 && errno == EINVAL);
	is_live(MIB);
	CHECK(!munmap(at, MIB));
	is_live(0);
}

/* A reservation costs nothing until it can be written to. */
static void reservation(void)
{
	char *at = map(64UL << 30, PROT_NONE, ANON | MAP_NORESERVE);

	is_live(0);
	CHECK(!mprotect(at + MIB, 2 * MIB, RW));
	is_live(2 * MIB);
	CHECK(!mprotect(at + 2 * MIB, 2 * MIB, RW)); /* one of them is charged already */
	is_live(3 * MIB);
	CHECK(!mprotect(at, 8 * MIB, PROT_READ)); /* what was charged stays */
	CHECK(!mprotect(at + MIB, 3 * MIB, RW));
	is_live(3 * MIB);
	CHECK(mmap(at + 16 * MIB, MIB, RW, ANON | MAP_FIXED, -1, 0) == at + 16 * MIB);
	is_live(4 * MIB);
	CHECK(mmap(at, 32 * MIB, PROT_NONE, ANON | MAP_FIXED, -1, 0) == at); /* given back */
	is_live(0);
	CHECK(!munmap(at, 64UL << 30));
	is_live(0);
}

static void resized(void)
{
	char *at = map(2 * MIB, RW, ANON), *to, *place;

	CHECK(mremap(at, 2 * MIB, MIB, 0) == at);
	is_live(MIB);
	at = mremap(at, MIB, 64 * MIB, MREMAP_MAYMOVE);
	CHECK(at != MAP_FAILED);
	is_live(64 * MIB);
	CHECK(!munmap(at + MIB, MIB)); /* a mapping of 62 MiB behind a hole, and one before it */
	is_live(63 * MIB);
	at[0] = 'x';
	place = map(4 * MIB, RW, ANON);
	is_live(67 * MIB);
	to = mremap(at, MIB, 2 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, place + MIB);
	CHECK(to == place + MIB && *to == 'x');
	is_live(66 * MIB); /* what it covers is gone, and so is where it was */
	CHECK(!munmap(at, 64 * MIB));
	is_live(4 * MIB);
	CHECK(!munmap(place, 4 * MIB));
	is_live(0);
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void both_stay(void)
{
	char *at = map(MIB, RW, ANON), *to = mremap(at, MIB, MIB, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

	if (to == MAP_FAILED) { /* kernels before 5.7 */
		is_live(MIB);
	} else {
		is_live(2 * MIB);
		CHECK(!munmap(to, MIB));
	}
	CHECK(!munmap(at, MIB));
	is_live(0);
}

/* ENOMEM, all as it was; and what fits is not refused, whatever it takes the place of. */
static void limits(void)
{
	char *at, *more;

	set_amount(group, "memory.max", "10M");
	at = map(8 * MIB, RW, ANON);
	CHECK(mmap(NULL, 4 * MIB, RW, ANON, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(mremap(at, 8 * MIB, 16 * MIB, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM);
	at[8 * MIB - 1] = 1;
	CHECK(mmap(at, 8 * MIB, RW, ANON | MAP_FIXED, -1, 0) == at);
	CHECK(at[8 * MIB - 1] == 0);
	more = map(4 * MIB, PROT_NONE, ANON);
	CHECK(mprotect(more, 4 * MIB, RW) == -1 && errno == ENOMEM);
	CHECK(!mprotect(more, 2 * MIB, RW));
	CHECK(mmap(NULL, PAGE, RW, ANON, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(!munmap(at, 8 * MIB) && !munmap(more, 4 * MIB));
	at = map(10 * MIB, RW, ANON);
	CHECK(!munmap(at, 10 * MIB));
	set_amount(group, "memory.max", "max");
	is_live(0);
}

/* What the C library keeps of a thread by malloc() is nobody's. */
static void *run_thread(const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	struct memcg *previous = memcg_enter(memcg_unaccounted());
	pthread_t thread;
	void *result;

	CHECK(!pthread_create(&thread, attr, body, arg));
	CHECK(!pthread_join(thread, &result));
	memcg_leave(previous);
	return result;
}

static void *unmap_it(void *at)
{
	CHECK(!memcg_attach(other));
	CHECK(!munmap(at, 2 * MIB));
	return map(MIB, RW, ANON);
}

/* Who unmaps does not pay and is not credited. */
static void other_thread(void)
{
	void *at = map(2 * MIB, RW, ANON), *theirs = run_thread(NULL, unmap_it, at);

	is_live(0);
	CHECK(live(other) == (long)MIB);
	CHECK(mremap(theirs, MIB, 2 * MIB, MREMAP_MAYMOVE) != MAP_FAILED);
	is_live(0);
	CHECK(live(other) == (long)(2 * MIB)); /* what grows is its first payer's */
}

/* By a system call that nobody sees: found when something else is there. */
static void behind_our_back(void)
{
	char *at = map(2 * MIB, RW, ANON);

	CHECK(!syscall(SYS_munmap, at, 2 * MIB));
	is_live(2 * MIB);
	CHECK(mmap(at, 2 * MIB, PROT_NONE, ANON | MAP_FIXED, -1, 0) == at);
	is_live(0);
	CHECK(!mprotect(at, 2 * MIB, RW));
	CHECK(!syscall(SYS_munmap, at + MIB, MIB));
	is_live(2 * MIB);
	CHECK(mremap(at, MIB, 2 * MIB, 0) == at);
	is_live(2 * MIB);
	CHECK(!munmap(at, 2 * MIB));
	is_live(0);

	/* One that fails costs nothing. */
	at = map(4 * MIB, PROT_NONE, ANON);
	CHECK(!munmap(at + MIB, 3 * MIB));
	CHECK(mprotect(at, 4 * MIB, RW) == -1 && errno == ENOMEM);
	is_live(0);
	CHECK(!munmap(at, MIB));
}

static void *nothing(void *arg)
{
	is_live(0);
	return arg;
}

/* The C library's own. */
static void stacks(void)
{
	pthread_attr_t attr;

	CHECK(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, 64 * MIB));
	run_thread(&attr, nothing, NULL);
	is_live(0);
}

/* What the malloc below maps is in its blocks' charge already. */
static void blocks(void)
{
	void *large = malloc(32 * MIB), *small[1000];
	long now;

	OPAQUE(large);
	for (int i = 0; i < 1000; i++)
		small[i] = malloc(1000);
	now = live(group);
	CHECK(now >= (long)(32 * MIB + 1000000) && now < (long)(34 * MIB));
	for (int i = 0; i < 1000; i++)
		free(small[i]);
	free(large);
}

static void forked(void)
{
	char *at = map(4 * MIB, RW, ANON);
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		is_live(4 * MIB);
		CHECK(!munmap(at, 3 * MIB));
		is_live(MIB);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	is_live(4 * MIB);
	CHECK(!munmap(at, 4 * MIB));
	is_live(0);
}

#define PAGES 200

/* One byte a page: what the kernel has there. */
enum page {
	NONE,     /* not mapped */
	RESERVED, /* mapped, never writable */
	CHARGED,
	SHARED, /* mapped, and not ours to charge */
};

static size_t charged(const enum page *model)
{
	size_t nr = 0;

	for (int i = 0; i < PAGES; i++)
		nr += model[i] == CHARGED;
	return nr * PAGE;
}

static void fill(enum page *model, int from, int nr, enum page what)
{
	for (int i = from; i < from + nr; i++)
		model[i] = what;
}

/* mprotect() to writable: all must be mapped. */
static void make_writable(char *base, enum page *model, int from, int nr)
{
	bool whole = true;

	for (int i = from; i < from + nr; i++)
		whole &= model[i] != NONE;
	if (!whole)
		return;
	CHECK(!mprotect(base + (size_t)from * PAGE, (size_t)nr * PAGE, RW));
	for (int i = from; i < from + nr; i++)
		model[i] = model[i] == RESERVED ? CHARGED : model[i];
}

/* mremap() of a run of pages that are alike, to a place that it does not overlap. */
static void move(char *base, enum page *model, int from, int nr, int to, int new_nr)
{
	enum page what = model[from];
	void *result;

	for (int i = from; i < from + nr; i++) {
		if (model[i] != what)
			return;
	}
	if (what == NONE || what == SHARED || (to < from + nr && from < to + new_nr))
		return;
	result = mremap(base + (size_t)from * PAGE, (size_t)nr * PAGE, (size_t)new_nr * PAGE,
			MREMAP_MAYMOVE | MREMAP_FIXED, base + (size_t)to * PAGE);
	if (result == MAP_FAILED) {
		/* Pages that are alike may be several mappings: then nothing has moved, but what was there may be gone. */
		CHECK(errno == EFAULT);
		CHECK(mmap(base + (size_t)to * PAGE, (size_t)new_nr * PAGE, PROT_NONE, ANON | MAP_FIXED, -1, 0) !=
		      MAP_FAILED);
		fill(model, to, new_nr, RESERVED);
		return;
	}
	fill(model, from, nr, NONE);
	fill(model, to, new_nr, what);
}

static void against_a_model(void)
{
	static enum page model[PAGES];
	char *base = map(PAGES * PAGE, PROT_NONE, ANON);
	unsigned int seed = 1;

	fill(model, 0, PAGES, RESERVED);
	for (int round = 0; round < 20000; round++) {
		int from = rand_r(&seed) % PAGES, nr = 1 + rand_r(&seed) % 20, to = rand_r(&seed) % PAGES;
		int new_nr = 1 + rand_r(&seed) % 20;
		void *at = base + (size_t)from * PAGE;
		size_t len;

		nr = from + nr > PAGES ? PAGES - from : nr;
		new_nr = to + new_nr > PAGES ? PAGES - to : new_nr;
		len = (size_t)nr * PAGE;
		switch (rand_r(&seed) % 6) {
		case 0:
			CHECK(mmap(at, len, RW, ANON | MAP_FIXED, -1, 0) == at);
			fill(model, from, nr, CHARGED);
			break;
		case 1:
			CHECK(mmap(at, len, PROT_NONE, ANON | MAP_FIXED, -1, 0) == at);
			fill(model, from, nr, RESERVED);
			break;
		case 2:
			CHECK(mmap(at, len, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
			fill(model, from, nr, SHARED);
			break;
		case 3:
			CHECK(!munmap(at, len));
			fill(model, from, nr, NONE);
			break;
		case 4:
			make_writable(base, model, from, nr);
			break;
		default:
			move(base, model, from, nr, to, new_nr);
		}
		if (round % 8 == 0)
			is_live(charged(model));
	}
	is_live(charged(model));
	CHECK(!munmap(base, PAGES * PAGE));
	is_live(0);
}

static void *map_at_random(void *arg)
{
	unsigned int seed = (unsigned int)(size_t)arg;
	char *maps[16] = { NULL };
	size_t sizes[16];

	CHECK(!memcg_attach(group));
	for (int round = 0; round < 3000; round++) {
		int i = rand_r(&seed) % 16;

		if (maps[i] && rand_r(&seed) % 3) {
			CHECK(!munmap(maps[i], sizes[i]));
			maps[i] = NULL;
		} else if (maps[i]) {
			size_t size = (1 + (size_t)rand_r(&seed) % 64) * PAGE;

			maps[i] = mremap(maps[i], sizes[i], size, MREMAP_MAYMOVE);
			CHECK(maps[i] != MAP_FAILED);
			sizes[i] = size;
		} else {
			sizes[i] = (1 + (size_t)rand_r(&seed) % 64) * PAGE;
			maps[i] = map(sizes[i], rand_r(&seed) % 4 ? RW : PROT_NONE, ANON);
		}
	}
	for (int i = 0; i < 16; i++) {
		if (maps[i])
			CHECK(!munmap(maps[i], sizes[i]));
	}
	return NULL;
}

static void many_threads(void)
{
	struct memcg *previous = memcg_enter(memcg_unaccounted());
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, map_at_random, (void *)(i + 1)));
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			_exit(munmap(map(MIB, RW, ANON), MIB));
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	memcg_leave(previous);
	is_live(0);
}

int main(void)
{
	check_preloaded();
	CHECK(!memcg_create(NULL, "maps", &group) && !memcg_create(NULL, "others", &other));
	CHECK(!memcg_attach(group));
	by_size();
	not_charged();
	wrong_calls();
	reservation();
	resized();
	both_stay();
	limits();
	other_thread();
	behind_our_back();
	stacks();
	forked();
	against_a_model();
	many_threads();
	blocks();
	return 0;
}
