// SPDX-License-Identifier: GPL-2.0
/* Rules that inject failures: they count bios and hit the n-th. */
#include <linux/err.h>
#include <linux/errno.h>

#include "internal.h"

#define ALL_OPS (BIT(FSW_RD_READ) | BIT(FSW_RD_WRITE) | BIT(FSW_RD_FLUSH) |	\
		 BIT(FSW_RD_DISCARD) | BIT(FSW_RD_ZEROES))

static bool valid(const struct fsw_rd_rule *r)
{
	if (!r->nth || !r->times || r->error > MAX_ERRNO)
		return false;
	if (r->action == FSW_RD_DROP_FLUSH)
		return !r->ops && !r->error && !r->arg;
	if (!r->ops || r->ops & ~ALL_OPS)
		return false;
	switch (r->action) {
	case FSW_RD_FAIL:
		return r->error && !r->arg;
	case FSW_RD_DELAY:
		/* Each rule delays one bio, so that few are delayed at a time. */
		return !r->error && r->times == 1 && r->arg && r->arg <= FSW_RD_DELAY_MS;
	case FSW_RD_TEAR:
		return r->ops == BIT(FSW_RD_WRITE) && r->arg <= U32_MAX;
	default:
		return false;
	}
}

static bool spent(const struct fsw_rule *rule)
{
	return rule->seen >= rule->r.nth && rule->seen - rule->r.nth >= rule->r.times - 1;
}

/* fsw_rules_add() - add a rule. It replaces a spent one, if there is any. */
int fsw_rules_add(struct fsw_rules *rules, const struct fsw_rd_rule *r)
{
	unsigned int i;

	if (!valid(r))
		return -EINVAL;
	for (i = 0; i < rules->n; i++)
		if (spent(&rules->rule[i]))
			break;
	if (i == FSW_RD_RULES)
		return -ENOSPC;
	rules->rule[i] = (struct fsw_rule){ .r = *r };
	if (i == rules->n)
		rules->n++;
	return 0;
}

unsigned int fsw_rules_armed(const struct fsw_rules *rules)
{
	unsigned int i, armed = 0;

	for (i = 0; i < rules->n; i++)
		armed += !spent(&rules->rule[i]);
	return armed;
}

static bool counts(const struct fsw_rd_rule *r, u32 op, u32 flags)
{
	if (r->action == FSW_RD_DROP_FLUSH)
		return flags & FSW_RD_F_PREFLUSH;
	return r->ops & BIT(op);
}

/* fsw_rules_ask() - count a bio and decide what happens to it. */
void fsw_rules_ask(struct fsw_rules *rules, u32 op, u32 flags, struct fsw_fate *fate)
{
	struct fsw_rule *rule;

	*fate = (struct fsw_fate){ .tear = U64_MAX };
	for (rule = rules->rule; rule < rules->rule + rules->n; rule++) {
		if (spent(rule) || !counts(&rule->r, op, flags))
			continue;
		if (++rule->seen < rule->r.nth)
			continue;
		rules->fired++;
		fate->injected |= BIT(rule->r.action);
		if (rule->r.error)
			fate->error = rule->r.error;
		switch (rule->r.action) {
		case FSW_RD_FAIL:
			fate->tear = 0;
			break;
		case FSW_RD_TEAR:
			fate->tear = min(fate->tear, rule->r.arg << SECTOR_SHIFT);
			break;
		case FSW_RD_DELAY:
			fate->delay_ms = max_t(u64, fate->delay_ms, rule->r.arg);
			break;
		}
	}
}
