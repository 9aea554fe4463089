// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of what threads do: lock.c, pair.c and clean.c. Here is what they share: the
 * threads that hold something, and the findings. At the end of a system call, its
 * thread must hold nothing.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include <asm/syscall.h>

#include "check.h"
#include "internal.h"

#define TASK_BITS 8

DEFINE_SPINLOCK(fsw_check_lock);
u32 fsw_check_what;

static struct fsw_task *tasks;		/* 1 << TASK_BITS */
static struct fsw_ek_finding findings[FSW_EK_FINDINGS];
static u32 finding_count;
static u32 full;			/* what found no place in a table */
static struct tracepoint *sys_exit;
static bool registered;			/* call_ends() is */

void fsw_check_full(void)
{
	full++;
}

/*
 * fsw_task() - the entry of the current thread; NULL if it has none.
 * @make: make one
 *
 * The caller holds fsw_check_lock.
 */
struct fsw_task *fsw_task(bool make)
{
	u32 at = hash_ptr(current, TASK_BITS);
	struct fsw_task *free = NULL;
	int i;

	for (i = 0; i < FSW_WINDOW; i++) {
		struct fsw_task *t = &tasks[(at + i) % (1 << TASK_BITS)];

		if (t->task == current)
			return t;
		if (!free && !t->task)
			free = t;
	}
	if (!make)
		return NULL;
	if (!free) {
		fsw_check_full();
		return NULL;
	}
	memset(free, 0, sizeof(*free));
	free->task = current;
	return free;
}

/* fsw_task_each() - call a function with the entry of each thread until it returns true. */
void fsw_task_each(bool (*f)(struct fsw_task *t, u64 arg), u64 arg)
{
	int i;

	for (i = 0; i < 1 << TASK_BITS; i++)
		if (tasks[i].task && f(&tasks[i], arg))
			return;
}

/* fsw_task_put() - free the entry of a thread that holds nothing. */
void fsw_task_put(struct fsw_task *t)
{
	int i;

	for (i = 0; i < FSW_PAIRS; i++)
		if (t->begun[i].n)
			return;
	if (!t->n)
		t->task = NULL;
}

/* fsw_finding() - report a finding. The same one is counted. The caller holds fsw_check_lock. */
void fsw_finding(u32 kind, const char *text)
{
	struct fsw_ek_finding *f;
	u32 i;

	for (i = 0; i < finding_count; i++)
		if (findings[i].kind == kind && !strcmp(findings[i].text, text)) {
			findings[i].hits++;
			return;
		}
	if (finding_count == FSW_EK_FINDINGS) {
		fsw_check_full();
		return;
	}
	f = &findings[finding_count++];
	*f = (struct fsw_ek_finding){ .kind = kind, .hits = 1 };
	memcpy(f->comm, current->comm, sizeof(f->comm) - 1);
	strscpy(f->text, text, sizeof(f->text));
}

static void call_ends(void *unused, struct pt_regs *regs, long result)
{
	int nr = syscall_get_nr(current, regs);
	unsigned long flags;
	struct fsw_task *t;

	spin_lock_irqsave(&fsw_check_lock, flags);
	t = fsw_check_what ? fsw_task(false) : NULL;
	if (t) {
		fsw_locks_left(t, nr);
		fsw_pairs_left(t, nr);
		t->task = NULL;
	}
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

static void find_sys_exit(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_exit"))
		sys_exit = tp;
}

static void off(void)
{
	u32 groups = fsw_probes_wanted() & ~FSW_GROUPS_CHECK;

	WRITE_ONCE(fsw_check_what, 0);
	if (registered)
		tracepoint_probe_unregister(sys_exit, call_ends, NULL);
	registered = false;
	tracepoint_synchronize_unregister();
	fsw_pairs_want(false);
	fsw_probes_want(groups);
	synchronize_rcu(); /* handlers of probes run without preemption */
}

/*
 * Probes are placed one by one, which takes locks. The checks begin when all of them
 * are in place, so that no lock seems to be kept.
 */
static int on(u32 what)
{
	u32 groups = fsw_probes_wanted();
	int err;

	if (!tasks)
		tasks = vzalloc(array_size(1 << TASK_BITS, sizeof(*tasks)));
	if (!tasks)
		return -ENOMEM;
	err = fsw_locks_alloc();
	if (!err)
		err = fsw_clean_alloc();
	if (err)
		return err;
	for_each_kernel_tracepoint(find_sys_exit, NULL);
	if (!sys_exit)
		return -EOPNOTSUPP;
	err = tracepoint_probe_register(sys_exit, call_ends, NULL);
	if (err)
		return err;
	registered = true;
	if (what & FSW_EK_CHECK_LOCKS)
		groups |= 1U << FSW_GROUP_LOCKS;
	if (what & FSW_EK_CHECK_PAIRS)
		groups |= 1U << FSW_GROUP_PAIRS;
	if (what & FSW_EK_CHECK_BUFFERS)
		groups |= 1U << FSW_GROUP_CLEAN;
	err = fsw_pairs_want(what & FSW_EK_CHECK_PAIRS);
	if (!err)
		err = fsw_probes_want(groups);
	if (err)
		off();
	else
		WRITE_ONCE(fsw_check_what, what);
	return err;
}

/*
 * fsw_check() - check exactly this, and forget what was seen. The caller holds
 * fsw_ctl_lock.
 */
int fsw_check(const struct fsw_ek_check *c)
{
	const u32 all = FSW_EK_CHECK_LOCKS | FSW_EK_CHECK_PAIRS | FSW_EK_CHECK_BUFFERS;
	bool same = c->what == fsw_check_what;

	if (c->pad || c->what & ~all)
		return -EINVAL;
	if (!same)
		off();
	if (tasks) {
		spin_lock_irq(&fsw_check_lock);
		memset(tasks, 0, array_size(1 << TASK_BITS, sizeof(*tasks)));
		finding_count = 0;
		fsw_locks_forget();
		fsw_clean_forget();
		spin_unlock_irq(&fsw_check_lock);
	}
	return same || !c->what ? 0 : on(c->what);
}

/* fsw_findings() - take the findings. */
int fsw_findings(struct fsw_ek_findings *a)
{
	if (fsw_check_what & FSW_EK_CHECK_BUFFERS)
		fsw_clean_check();
	spin_lock_irq(&fsw_check_lock);
	*a = (struct fsw_ek_findings){ .count = finding_count, .full = full };
	memcpy(a->findings, findings, finding_count * sizeof(*findings));
	finding_count = 0;
	spin_unlock_irq(&fsw_check_lock);
	return 0;
}

void fsw_check_exit(void)
{
	off();
	fsw_locks_free();
	fsw_clean_free();
	vfree(tasks);
}
