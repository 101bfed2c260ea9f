/* SPDX-License-Identifier: MIT */
/*
 * Replay: decisions are taken from a list, each at a given point of a given context.
 *
 * A point is counted per context, so leaving a decision out does not move the others:
 * that is what makes shrinking work. Decisions about who follows where a fibre cannot
 * go on are a list of their own; where there is none, the first that can go on does.
 */
#include "explore/explore.h"

enum {
	MAX_CTX = SIM_MAX_FIBRES * 2
};

static const struct sim_logged *decisions; /* in the order in which they were made */
static unsigned int nr_decisions;
static unsigned int at_act[MAX_CTX];  /* per context: decisions looked at, at points */
static unsigned int at_next[MAX_CTX]; /* and where it could not go on */
static uint8_t fates[SIM_LOG_MAX];    /* of the decisions */
static unsigned int handed_out;       /* decision that the machine was given last; nr_decisions: none */
static unsigned int logged_before;    /* sim.nr_log at that time */

void sim_replay_config(const struct sim_logged *log, unsigned int nr)
{
	decisions = log;
	nr_decisions = nr < SIM_LOG_MAX ? nr : SIM_LOG_MAX;
	memset(fates, SIM_NOT_REACHED, nr_decisions);
	handed_out = nr_decisions;
}

/* The machine logs at once what it carries out, and nothing of what does not apply. */
static void settle_fate(void)
{
	if (handed_out < nr_decisions && sim.nr_log > logged_before)
		fates[handed_out] = SIM_CARRIED_OUT;
	handed_out = nr_decisions;
}

enum sim_fate sim_replay_fate(unsigned int i)
{
	settle_fate();
	return (enum sim_fate)fates[i];
}

/* The first decision of @ctx from @from on that is for point @n or a later one. */
static unsigned int find(unsigned int from, unsigned int ctx, uint32_t n, bool is_next)
{
	while (from < nr_decisions && (decisions[from].ctx != ctx || decisions[from].n < n ||
				       (decisions[from].action.kind == SIM_ACT_NEXT) != is_next))
		from++;
	return from;
}

static void begin(void)
{
	for (unsigned int ctx = 0; ctx < MAX_CTX; ctx++) {
		struct sim_fibre *f = &sim.fibres[ctx / 2];

		at_act[ctx] = find(0, ctx, 0, false);
		at_next[ctx] = find(0, ctx, 0, true);
		f->ctx[ctx % 2].next = at_act[ctx] < nr_decisions ? decisions[at_act[ctx]].n : UINT32_MAX;
	}
	sim.countdown = INT64_MAX;
}

static bool next(struct sim_fibre *f, bool visible, struct sim_action *action)
{
	unsigned int ctx = sim_ctx(f);
	struct sim_context *context = &f->ctx[f->irq];
	unsigned int i = find(at_act[ctx], ctx, context->n, false);

	(void)visible;
	settle_fate();
	at_act[ctx] = i;
	if (i == nr_decisions) {
		context->next = UINT32_MAX;
		return false;
	}
	if (decisions[i].n > context->n) {
		context->next = decisions[i].n;
		return false;
	}
	at_act[ctx]++;
	fates[i] = SIM_REFUSED; /* until it is in the log */
	handed_out = i;
	logged_before = sim.nr_log;
	*action = decisions[i].action;
	return true;
}

static unsigned int pick(struct sim_fibre *f, const uint8_t *ids, unsigned int nr)
{
	unsigned int ctx = sim_ctx(f);
	unsigned int i = find(at_next[ctx], ctx, f->ctx[f->irq].n, true);

	settle_fate();
	at_next[ctx] = i;
	if (nr == 1 || i == nr_decisions || decisions[i].n != f->ctx[f->irq].n)
		return 0;
	at_next[ctx]++;
	fates[i] = SIM_REFUSED;
	for (unsigned int k = 0; k < nr; k++)
		if (ids[k] == decisions[i].action.a) {
			fates[i] = SIM_CARRIED_OUT;
			return k;
		}
	return 0;
}

const struct sim_policy sim_replay_policy = { .begin = begin, .next = next, .pick = pick };
