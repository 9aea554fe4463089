// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that come in pairs. A begin counts if it succeeds, so it is seen when it
 * returns.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "check.h"
#include "internal.h"

/* Maximum number of running calls of one function. */
#define UNDER_WAY 32

static const char *const what[FSW_PAIRS] = {
	[FSW_PAIR_HANDLE] = "a handle of a journal",
	[FSW_PAIR_WRITE] = "write access to a mount",
};

static struct begin {
	const char *symbol;
	u32 pair;
	bool pointer;		/* it returns a pointer, and not an error number */
	bool on;		/* the probe is in place */
	struct kretprobe rp;
} begins[] = {
	{ "jbd2__journal_start", FSW_PAIR_HANDLE, true },
	{ "jbd2_journal_start_reserved", FSW_PAIR_HANDLE },
	{ "mnt_want_write", FSW_PAIR_WRITE },
	{ "mnt_want_write_file", FSW_PAIR_WRITE },
};

static void count(u32 pair, int by, unsigned long site)
{
	struct fsw_task *t;
	unsigned long flags;

	spin_lock_irqsave(&fsw_check_lock, flags);
	t = fsw_task(by > 0);
	if (t) {
		t->begun[pair].n = max(t->begun[pair].n + by, 0);
		if (by > 0)
			t->begun[pair].site = site;
		fsw_task_put(t);
	}
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

static int call_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs_get_kernel_stack_nth(regs, 0);
	return 0;
}

static int call_returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	long result = regs_return_value(regs);
	const struct begin *b;

	if (!rp || !READ_ONCE(fsw_check_what))
		return 0;
	b = container_of(rp, struct begin, rp);
	if (b->pointer ? !IS_ERR_OR_NULL((void *)result) : !(int)result)
		count(b->pair, 1, *(unsigned long *)ri->data);
	return 0;
}

/* The end of a pair: p->arg is its number. */
void fsw_pair_ends(const struct fsw_probe *p, struct pt_regs *regs)
{
	count(p->arg, -1, 0);
}

/* fsw_pairs_left() - report the pairs that a thread has open at the end of a system call. */
void fsw_pairs_left(const struct fsw_task *t, int nr)
{
	char site[FSW_EK_TEXT], text[FSW_EK_FINDING];
	int i;

	for (i = 0; i < FSW_PAIRS; i++) {
		if (!t->begun[i].n)
			continue;
		fsw_symbol(site, t->begun[i].site);
		snprintf(text, sizeof(text), "%s, begun at %s, is not ended after system call %d",
			 what[i], site, nr);
		fsw_finding(FSW_EK_UNPAIRED, text);
	}
}

/* fsw_pairs_want() - place or remove the probes here. The caller holds fsw_ctl_lock. */
int fsw_pairs_want(bool on)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		struct begin *b = &begins[i];

		if (b->on && !on)
			unregister_kretprobe(&b->rp);
		b->on = b->on && on;
		if (b->on || !on)
			continue;
		b->rp = (struct kretprobe){
			.kp.symbol_name = b->symbol,
			.entry_handler = call_begins,
			.handler = call_returns,
			.data_size = sizeof(unsigned long),
			.maxactive = UNDER_WAY,
		};
		err = register_kretprobe(&b->rp);
		b->on = !err;
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}
