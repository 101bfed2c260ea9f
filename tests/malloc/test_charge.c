/* SPDX-License-Identifier: MIT */
/* Who pays, who is credited, and what a refusal leaves: nothing (A4, A5). */
#include "check.h"
#include <memcg/heap.h>
#include <errno.h>
#include <pthread.h>

static void *free_it(void *block)
{
	free(block);
	return NULL;
}

static void in_another_thread(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, function, arg));
	CHECK(!pthread_join(thread, NULL));
}

static void test_payer_is_credited(void)
{
	struct memcg *payer, *previous;
	void *block;

	CHECK(!memcg_create(NULL, "payer", &payer));
	previous = memcg_enter(payer);
	block = malloc(64 * MIB);
	memcg_leave(previous);
	CHECK(block && amount(payer, "memory.current") >= (long)(64 * MIB));
	in_another_thread(free_it, block);
	CHECK(amount(payer, "memory.current") < SLACK);

	/* what grows elsewhere stays with the first payer */
	previous = memcg_enter(payer);
	block = malloc(16);
	memcg_leave(previous);
	block = realloc(block, 64 * MIB);
	CHECK(block && amount(payer, "memory.current") >= (long)(64 * MIB));
	free(block);
	CHECK(amount(payer, "memory.current") < SLACK);
	memcg_put(payer);
}

static void test_refusal(void)
{
	struct memcg *small, *previous;
	unsigned char *block;
	long before;

	CHECK(!memcg_create(NULL, "small", &small));
	set_amount(small, "memory.max", "8M");
	previous = memcg_enter(small);
	block = malloc(4 * MIB);
	CHECK(block);
	memset(block, 7, 4 * MIB);
	before = amount(small, "memory.current");

	errno = 0;
	CHECK(!malloc(8 * MIB) && errno == ENOMEM);
	errno = 0;
	CHECK(!calloc(8, MIB) && errno == ENOMEM);
	errno = 0;
	CHECK(!aligned_alloc(4096, 8 * MIB) && errno == ENOMEM);
	errno = 0;
	CHECK(!realloc(block, 32 * MIB) && errno == ENOMEM);
	CHECK(block[0] == 7 && block[4 * MIB - 1] == 7);
	CHECK(amount(small, "memory.current") == before);
	CHECK(memcg_last_refusal()->group == small);

	/* small requests fit until the last page: no false refusal (A6) */
	size_t granted = 4 * MIB;
	void *list = NULL, *next;

	for (void **item; (item = malloc(1000)); list = item) {
		*item = list;
		granted += 1000 + MEMCG_HEAP_HEADER;
	}
	CHECK(granted <= 8 * MIB && granted > 8 * MIB - 64 * 1024);
	for (; list; list = next) {
		next = *(void **)list;
		free(list);
	}
	free(block);
	block = malloc(7 * MIB);
	CHECK(block);
	free(block);
	memcg_leave(previous);
	memcg_put(small);
}

static void test_unaccounted(void)
{
	struct memcg *previous = memcg_enter(memcg_unaccounted());
	long before = amount(NULL, "memory.current");
	void *block = malloc(64 * MIB);

	memcg_leave(previous);
	CHECK(block && amount(NULL, "memory.current") < before + SLACK);
	free(block);
}

/* The embedder's own calls and malloc() take and give the same kind of block. */
static void test_embedder(void)
{
	long before = amount(NULL, "memory.current");
	void *block = memcg_malloc(64 * MIB);
	long during = amount(NULL, "memory.current");

	CHECK(block && during >= before + (long)(64 * MIB));
	CHECK(during < before + (long)(64 * MIB) + SLACK); /* charged once */
	free(block);
	block = malloc(100);
	memcg_free(block);
	CHECK(memcg_init(NULL) == 0);
}

int main(void)
{
	check_preloaded();
	test_payer_is_credited();
	test_refusal();
	test_unaccounted();
	test_embedder();
	return 0;
}
