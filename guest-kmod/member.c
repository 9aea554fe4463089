// SPDX-License-Identifier: GPL-2.0
/* The members of the checked system: trees of processes, and single threads. */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "internal.h"

/* Maximum number of ancestors to look at. No shell nests deeper. */
#define GENERATIONS 64

/*
 * Only commands change a slot, one at a time. A reader that sees half of a change
 * sees a pid without a kind.
 */
static struct {
	u32 pid;	/* 0: free */
	u32 kind;
} members[FSW_EK_MEMBERS];

static u32 kind_of(u32 pid)
{
	int i;

	for (i = 0; i < FSW_EK_MEMBERS; i++)
		if (READ_ONCE(members[i].pid) == pid)
			return READ_ONCE(members[i].kind);
	return 0;
}

/* fsw_is_member() - report whether the current thread is a member. Not for interrupts. */
bool fsw_is_member(void)
{
	struct task_struct *t = current;
	bool found = kind_of(task_pid_nr(t)) == FSW_EK_THREAD;
	int i;

	rcu_read_lock();
	for (i = 0; !found && i < GENERATIONS && task_tgid_nr(t) > 1; i++) {
		found = kind_of(task_tgid_nr(t)) == FSW_EK_TREE;
		t = rcu_dereference(t->real_parent);
	}
	rcu_read_unlock();
	return found;
}

int fsw_member_set(const struct fsw_ek_member *m)
{
	int i, slot = -1;

	if (!m->pid || m->pad || m->on > 1 || (m->kind != FSW_EK_TREE && m->kind != FSW_EK_THREAD))
		return -EINVAL;
	for (i = 0; i < FSW_EK_MEMBERS; i++) {
		if (members[i].pid == m->pid) {
			slot = i;
			break;
		}
		if (slot < 0 && !members[i].pid)
			slot = i;
	}
	if (slot < 0)
		return m->on ? -ENOSPC : -ESRCH;
	if (!m->on && members[slot].pid != m->pid)
		return -ESRCH;
	WRITE_ONCE(members[slot].kind, m->on ? m->kind : 0);
	WRITE_ONCE(members[slot].pid, m->on ? m->pid : 0);
	return 0;
}
