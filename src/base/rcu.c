/* SPDX-License-Identifier: MIT */
/* Where ThreadSanitizer's two edges of the RCU facade meet. */
#include "base/rcu.h"

#if defined(SANITIZE_THREAD) && !defined(MEMCG_SIM)
char rcu_edge_readers, rcu_edge_updater;
#endif
