/* SPDX-License-Identifier: MIT */
/* One tenant with a limit: what it may have, it gets; what it may not is refused, and we learn why. */
#include <memcg/files.h>
#include <memcg/heap.h>
#include <stdio.h>

int main(void)
{
	struct memcg *tenant;
	if (memcg_create(NULL, "tenant", &tenant) || memcg_write(tenant, "memory.max", "1M", 2) < 0)
		return 1;

	struct memcg *previous = memcg_enter(tenant);
	void *small = memcg_malloc(64UL << 10);
	void *large = memcg_malloc(8UL << 20);
	if (!large) {
		const struct memcg_refusal *why = memcg_last_refusal();
		printf("%s refused %lu pages, %lu were left\n", why->file, why->asked, why->margin);
	}
	int as_expected = small && !large;
	memcg_free(large);
	memcg_free(small);
	memcg_leave(previous);

	memcg_destroy(tenant);
	memcg_put(tenant);
	return as_expected ? 0 : 1;
}
