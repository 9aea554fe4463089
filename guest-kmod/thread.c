// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of the kernel: a list, the events of watched devices that each caused,
 * and holding. A held thread is not stopped, because other threads may depend on
 * it. It has the lowest priority, and fsw_stray() reports that it ran.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

#include "internal.h"

/* Threads that caused events. A worker has an entry for each function of work items. */
static DEFINE_SPINLOCK(seen_lock);
static struct {
	u32 pid;
	unsigned long work;	/* function; 0: none */
	u64 events;		/* number of events */
	u64 last;		/* number of the last one among all events */
} seen[FSW_EK_OBSERVED];
static u32 seen_count;
static u64 seen_events;

/* fsw_thread_saw() - count an event of the write-set log for the current thread. */
void fsw_thread_saw(void)
{
	struct work_struct *work;
	unsigned long function = 0;
	unsigned long flags;
	u32 pid, i;

	if (!in_task() || !(current->flags & PF_KTHREAD))
		return;
	work = current_work();
	if (work)
		function = (unsigned long)work->func;
	pid = task_pid_nr(current);
	spin_lock_irqsave(&seen_lock, flags);
	for (i = 0; i < seen_count; i++)
		if (seen[i].pid == pid && seen[i].work == function)
			break;
	if (i == FSW_EK_OBSERVED) { /* full: replace the least recently used entry */
		u32 oldest = 0;

		for (i = 1; i < FSW_EK_OBSERVED; i++)
			if (seen[i].last < seen[oldest].last)
				oldest = i;
		i = oldest;
		seen[i].events = 0;
	} else if (i == seen_count) {
		seen_count++;
		seen[i].events = 0;
	}
	seen[i].pid = pid;
	seen[i].work = function;
	seen[i].events++;
	seen[i].last = ++seen_events;
	spin_unlock_irqrestore(&seen_lock, flags);
}

static void fill_seen(struct fsw_ek_thread *a)
{
	unsigned long work = 0;
	unsigned long flags;
	u64 last = 0;
	u32 i;

	spin_lock_irqsave(&seen_lock, flags);
	for (i = 0; i < seen_count; i++) {
		if (seen[i].pid != a->pid)
			continue;
		a->events += seen[i].events;
		if (seen[i].last > last) {
			last = seen[i].last;
			work = seen[i].work;
		}
	}
	spin_unlock_irqrestore(&seen_lock, flags);
	if (work)
		fsw_symbol(a->work, work);
}

/* Held threads, under fsw_ctl_lock. */
static struct held {
	struct task_struct *task;	/* NULL: free */
	int nice;			/* before it was held */
	u64 run_ns, switches;		/* at the last call of note() */
} held[FSW_EK_HELD];

static struct held *held_of(u32 pid)
{
	int i;

	for (i = 0; i < FSW_EK_HELD; i++)
		if (held[i].task && task_pid_nr(held[i].task) == pid)
			return &held[i];
	return NULL;
}

/*
 * Releases the held threads that have ended. Their entries would fill the table, and
 * would stand for other threads when their pids are used again.
 */
static void release_ended(void)
{
	int i;

	for (i = 0; i < FSW_EK_HELD; i++) {
		if (!held[i].task || pid_alive(held[i].task))
			continue;
		put_task_struct(held[i].task);
		held[i].task = NULL;
	}
}

static u64 switches_of(struct task_struct *t)
{
	return t->nvcsw + t->nivcsw;
}

/* 0: not known, in a kernel without SCHED_INFO, such as that of the debug guest */
static u64 last_run(struct task_struct *t)
{
#ifdef CONFIG_SCHED_INFO
	return t->sched_info.last_arrival;
#else
	return 0;
#endif
}

static void fill(struct fsw_ek_thread *a, struct task_struct *t)
{
	const struct held *h = held_of(task_pid_nr(t));

	*a = (struct fsw_ek_thread){
		.pid = task_pid_nr(t),
		.flags = (t->flags & PF_WQ_WORKER ? FSW_EK_F_WORKER : 0) |
			 (h && h->task == t ? FSW_EK_F_HELD : 0),
		.nice = task_nice(t),
		.policy = t->policy,
		.switches = switches_of(t),
		.run_ns = t->se.sum_exec_runtime,
		.last_run_ns = last_run(t),
	};
	memcpy(a->comm, t->comm, sizeof(a->comm) - 1);
	if (a->flags & FSW_EK_F_WORKER && strncmp(a->comm, "kworker/", 8))
		a->flags |= FSW_EK_F_RESCUER;
}

/* fsw_threads() - list the threads of the kernel with pids above a->from, in order. */
int fsw_threads(struct fsw_ek_threads *a)
{
	struct task_struct *t;
	u32 i;

	a->count = 0;
	rcu_read_lock();
	for_each_process(t) {
		u32 pid = task_pid_nr(t);

		if (!(t->flags & PF_KTHREAD) || pid <= a->from)
			continue;
		for (i = a->count; i > 0 && a->threads[i - 1].pid > pid; i--)
			if (i < FSW_EK_THREADS_PER)
				a->threads[i] = a->threads[i - 1];
		if (i == FSW_EK_THREADS_PER)
			continue;
		fill(&a->threads[i], t);
		if (a->count < FSW_EK_THREADS_PER)
			a->count++;
	}
	rcu_read_unlock();
	for (i = 0; i < a->count; i++)
		fill_seen(&a->threads[i]);
	return 0;
}

static void note(struct held *h)
{
	h->run_ns = h->task->se.sum_exec_runtime;
	h->switches = switches_of(h->task);
}

static void lowest(struct held *h)
{
	sched_set_normal(h->task, MAX_NICE);
}

static int hold(u32 pid)
{
	struct task_struct *t;
	struct pid *p;
	int i;

	release_ended();
	if (held_of(pid))
		return -EEXIST;
	for (i = 0; i < FSW_EK_HELD && held[i].task; i++)
		;
	if (i == FSW_EK_HELD)
		return -ENOSPC;
	p = find_get_pid(pid);
	t = get_pid_task(p, PIDTYPE_PID);
	put_pid(p);
	if (!t)
		return -ESRCH;
	if (!(t->flags & PF_KTHREAD) || t->policy != SCHED_NORMAL) {
		put_task_struct(t);
		return -EINVAL;
	}
	held[i] = (struct held){ .task = t, .nice = task_nice(t) };
	lowest(&held[i]);
	note(&held[i]);
	return 0;
}

static void release(struct held *h)
{
	sched_set_normal(h->task, h->nice);
	put_task_struct(h->task);
	h->task = NULL;
}

static bool ran(const struct held *h)
{
	return h->task->se.sum_exec_runtime != h->run_ns || switches_of(h->task) != h->switches;
}

/*
 * Lets a held thread run before all others, while the caller waits. A thread that has
 * ended has nothing to do.
 */
static u32 run(struct held *h, u32 wait_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(wait_ms);
	bool did;

	note(h);
	sched_set_fifo(h->task);
	/* The thread may sleep, with nothing to do. A sleep of 1 ms here takes some ticks. */
	do {
		msleep_interruptible(1);
		did = ran(h);
	} while (!did && pid_alive(h->task) && time_before(jiffies, end) && !signal_pending(current));
	lowest(h);
	note(h);
	return did;
}

/* fsw_hold() - hold a thread, let it run, or release it. The caller holds fsw_ctl_lock. */
int fsw_hold(struct fsw_ek_hold *a)
{
	struct held *h = held_of(a->pid);

	if (a->wait_ms > FSW_EK_WAIT_MS)
		return -EINVAL;
	a->ran = 0;
	switch (a->how) {
	case FSW_EK_HOLD:
		return hold(a->pid);
	case FSW_EK_RUN:
		if (!h)
			return -ESRCH;
		a->ran = run(h, a->wait_ms);
		return 0;
	case FSW_EK_RELEASE:
		if (!h)
			return -ESRCH;
		release(h);
		return 0;
	default:
		return -EINVAL;
	}
}

/* fsw_stray() - list the threads that ran while held, since HOLD or since the last call. */
void fsw_stray(struct fsw_ek_stray *a)
{
	int i;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < FSW_EK_HELD; i++) {
		struct held *h = &held[i];
		struct fsw_ek_strayed *s;

		if (!h->task)
			continue;
		a->held++;
		if (!ran(h))
			continue;
		s = &a->threads[a->count++];
		s->pid = task_pid_nr(h->task);
		s->run_ns = h->task->se.sum_exec_runtime - h->run_ns;
		s->switches = switches_of(h->task) - h->switches;
		s->last_run_ns = last_run(h->task);
		memcpy(s->comm, h->task->comm, sizeof(s->comm) - 1);
		note(h);
	}
}

void fsw_release_all(void)
{
	int i;

	for (i = 0; i < FSW_EK_HELD; i++)
		if (held[i].task)
			release(&held[i]);
}
