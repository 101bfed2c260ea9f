/* SPDX-License-Identifier: MIT */
/* Address ranges. */
#include "percpu/range.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/sim.h"

#ifdef MEMCG_SIM

/* A simulated machine's memory is the simulator's. */
char *range_reserve(size_t size)
{
	return sim_alloc(size, PAIR_SIZE);
}

void range_release(char *base, size_t size)
{
	(void)size;
	sim_free(base);
}

int range_use(char *from, size_t len)
{
	(void)from;
	(void)len;
	return 0;
}

int range_read(char *from, size_t len)
{
	return range_use(from, len);
}

#else

char *range_reserve(size_t size)
{
	char *base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return NULL;
	madvise(base, size, MADV_NOHUGEPAGE);
	return base;
}

void range_release(char *base, size_t size)
{
	munmap(base, size);
}

int range_use(char *from, size_t len)
{
	return mprotect(from, len, PROT_READ | PROT_WRITE) ? -ENOMEM : 0;
}

int range_read(char *from, size_t len)
{
	return mprotect(from, len, PROT_READ) ? -ENOMEM : 0;
}

#endif
