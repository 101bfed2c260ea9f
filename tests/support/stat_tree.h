/* SPDX-License-Identifier: MIT */
/* Statistics in tests: an update of any kind, and conservation over all items and nodes. */
#ifndef SUPPORT_STAT_TREE_H
#define SUPPORT_STAT_TREE_H

#include <memcg/stat.h>

#include "base/rcu.h"
#include "group/stat.h"
#include "stat/rstat.h"
#include "support/forms.h"
#include "support/tree.h"

/* Any item, the way that its kind takes. */
static inline void stat_mod(struct memcg *memcg, unsigned int node, enum stat_item item, long nr)
{
	if (item < STAT_NODE_END)
		memcg_mod_node(memcg, node, item, nr);
	else if (item < STAT_STATE_END)
		memcg_mod_state(memcg, item, nr);
	else
		memcg_count_event(memcg, item, (unsigned long)nr);
}

struct stat_sums {
	int64_t nodes[NODES_MAX][STAT_NR_NODE]; /* what living groups have alone, per node */
	int64_t whole[STAT_NR];                 /* of the whole group; with v1 files */
};

static inline int stat_sum_up(struct memcg *memcg, void *arg)
{
	struct stat_sums *sums = arg;
	unsigned int node, i;

	for (node = 0; node < nodes_nr; node++) {
		for (i = 0; i < STAT_NR_NODE; i++)
			sums->nodes[node][i] += stat_node_local(memcg->stat, node, (enum stat_item)i);
	}
	for (i = 0; i < STAT_NR; i++)
		sums->whole[i] += stat_local(memcg->stat, (enum stat_item)i);
	return 0;
}

/*
 * After a forced flush, while nothing runs: the root has what living groups have alone (those that died gave theirs
 * to the parent), unclamped; a group's item is the sum of its nodes'; nothing is pending.
 */
static inline void stat_conserved(void)
{
	const struct group_stat *root = memcg_root()->stat;
	struct stat_sums *sums = calloc(1, sizeof(*sums));
	unsigned int node, i;

	must(sums != NULL);
	rstat_flush(memcg_root()->stat);
	must(memcg_walk(NULL, stat_sum_up, sums) == 0);
	for (i = 0; i < STAT_NR; i++) {
		int64_t over_nodes = 0;

		for (node = 0; i < STAT_NR_NODE && node < nodes_nr; node++) {
			must(root->nodes[node].state[i] == sums->nodes[node][i]);
			must(root->nodes[node].pending[i] == 0);
			over_nodes += root->nodes[node].state[i];
		}
		must(i >= STAT_NR_NODE || root->state[i] == over_nodes);
		must(!stat_v1 || root->state[i] == sums->whole[i]);
		must(root->pending[i] == 0);
	}
	free(sums);
}

/* Each form twice: one node without the files of v1, three faked nodes with them. */
static inline int stat_form_child(const struct form *form, bool v1, int (*run)(void))
{
	const struct memcg_options options = {
		.size = sizeof(options),
		.flags = form->flags | FORM_FLAGS | (v1 ? MEMCG_INIT_V1 : 0),
		.index = form->index,
		.nr_cpus = form->nr_cpus,
		.stock_budget = form->budget,
		.nr_nodes = v1 ? 3 : 1,
	};
	int err = memcg_init(&options);

	if (err == -EOPNOTSUPP)
		return CHILD_SKIP;
	must(err == 0);
	return run();
}

static inline int stat_forms_main(int (*run)(void))
{
	int worst = 0;
	size_t i;

	for (i = 0; i < 2 * array_size(forms_all); i++) {
		const struct form *form = &forms_all[i / 2];
		bool v1 = i % 2;
		pid_t pid = child_fork();
		int code;

		if (!pid)
			child_end(stat_form_child(form, v1, run));
		code = child_wait(pid);
		dprintf(STDERR_FILENO, "form %s%s: %s %d\n", form->name, v1 ? ", v1" : "",
			code == CHILD_SKIP ? "cannot be had" : "exit code", code);
		if (code && code != CHILD_SKIP)
			worst = 1;
	}
	return worst;
}

#endif
