/* SPDX-License-Identifier: MIT */
/*
 * membarrier(2), one broadcast. Its FLAG_CPU takes a CPU number and says success for one
 * that does not exist, so that with a concurrency id as index it fences the wrong CPU and
 * nobody learns of it. A broadcast has no such trap.
 */
#include "percpu/fence.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rcu.h"
#include "percpu/area.h"

#ifdef MEMCG_SIM

int fence_start(void)
{
	return 0;
}

int fence_all(void)
{
	if (sim_fault(FAULT_NO_FENCE_IN_DRAIN))
		return 0;
	if (!memcg_percpu.rseq) {
		rcu_synchronize();
		return 0;
	}
	if (sim_fault(FAULT_FENCE_BY_CID)) {
		unsigned int i;

		for (i = 0; i < percpu_nr; i++)
			sim_membarrier_rseq((int)i);
		return 0;
	}
	return sim_membarrier_rseq(-1);
}

#else

int fence_start(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0))
		return -errno;
	/* Registered does not mean allowed to use it: a filter may tell commands apart. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0))
		return -errno;
	return 0;
}

int fence_all(void)
{
	if (!memcg_percpu.rseq) {
		rcu_synchronize();
		return 0;
	}
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0))
		return -errno;
	return 0;
}

#endif
