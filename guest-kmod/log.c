// SPDX-License-Identifier: GPL-2.0
/*
 * The log: a ring of records, in the order in which they came. When one does not
 * fit it is lost, and a record at its place says how many were.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "internal.h"

#define ALIGNED 8

static unsigned int log_mib = 32;
module_param(log_mib, uint, 0444);
MODULE_PARM_DESC(log_mib, "size of the log in MiB, 1 to 1024, a power of two (32)");

/* A probe may be hit where nobody may be woken; the interrupt that this asks for does it. */
static void wake_reader(struct irq_work *work)
{
	wake_up_interruptible(&fsw_log.wait);
}

static struct irq_work wake = IRQ_WORK_INIT(wake_reader);

struct fsw_log fsw_log = {
	.lock = __SPIN_LOCK_UNLOCKED(fsw_log.lock),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(fsw_log.wait),
};

/* fsw_log_alloc() - have a ring. The caller holds fsw_ctl_lock. */
int fsw_log_alloc(void)
{
	u8 *ring;

	if (fsw_log.ring)
		return 0;
	if (!is_power_of_2(log_mib) || log_mib > 1024)
		return -EINVAL;
	ring = vmalloc((u64)log_mib << 20);
	if (!ring)
		return -ENOMEM;
	spin_lock_irq(&fsw_log.lock);
	fsw_log.ring = ring;
	fsw_log.size = (u64)log_mib << 20;
	spin_unlock_irq(&fsw_log.lock);
	return 0;
}

/* fsw_log_free() - when no probe is in place any more. */
void fsw_log_free(void)
{
	irq_work_sync(&wake);
	vfree(fsw_log.ring);
}

static void ring_copy(u64 at, const void *from, size_t n)
{
	u64 off = at & (fsw_log.size - 1);
	u64 first = min_t(u64, n, fsw_log.size - off);

	memcpy(fsw_log.ring + off, from, first);
	memcpy(fsw_log.ring, from + first, n - first);
}

static void put_header(u64 at, struct fsw_ek_record *rec)
{
	rec->time_ns = ktime_get_mono_fast_ns();
	if (in_task() || in_nmi()) { /* a breakpoint of a probe in a thread counts as an NMI */
		rec->pid = task_pid_nr(current);
		rec->tgid = task_tgid_nr(current);
		/* The thread's own name: get_task_comm() takes a lock that may be held where a probe is hit. */
		memcpy(rec->comm, current->comm, sizeof(rec->comm) - 1);
	}
	ring_copy(at, rec, sizeof(*rec));
}

static void put_lost(u64 at)
{
	struct fsw_ek_record rec = {
		.type = FSW_EK_T_LOST,
		.seq = fsw_log.seq,
		.len = fsw_log.missing,
	};

	put_header(at, &rec);
	fsw_log.missing = 0;
}

/*
 * fsw_log_put() - append a record.
 * @data: its data, rec->data_len bytes; NULL for none
 * @more: if not NULL, the bytes of data after the first struct fsw_ek_syscall
 *
 * In any context but an NMI. Returns the sequence number, 0 if it did not fit.
 */
u64 fsw_log_put(struct fsw_ek_record *rec, const void *data, const void *more)
{
	struct fsw_log *l = &fsw_log;
	size_t padded = ALIGN(rec->data_len, ALIGNED);
	size_t first = more ? sizeof(struct fsw_ek_syscall) : rec->data_len;
	u64 used, gap, head, seq = 0;
	u64 zeros = 0;
	unsigned long flags;

	spin_lock_irqsave(&l->lock, flags);
	if (!l->ring)
		goto unlock;
	/* Pairs with smp_store_release() of tail: what is written over has been read. */
	used = l->head - smp_load_acquire(&l->tail);
	gap = l->missing ? sizeof(*rec) : 0;
	head = l->head;
	if (gap + sizeof(*rec) + padded > l->size - used) {
		l->seq++;
		l->missing++;
		l->lost++;
		goto unlock;
	}
	if (gap)
		put_lost(head);
	head += gap;
	seq = rec->seq = ++l->seq;
	put_header(head, rec);
	head += sizeof(*rec);
	if (rec->data_len) {
		ring_copy(head, data, first);
		if (more)
			ring_copy(head + first, more, rec->data_len - first);
		ring_copy(head + rec->data_len, &zeros, padded - rec->data_len);
	}
	/* Pairs with the reader's smp_load_acquire(): it sees whole records. */
	smp_store_release(&l->head, head + padded);
	irq_work_queue(&wake);
unlock:
	spin_unlock_irqrestore(&l->lock, flags);
	return seq;
}

/* fsw_log_tell() - append what is missing to a log that has been read to its end. */
void fsw_log_tell(void)
{
	struct fsw_log *l = &fsw_log;

	spin_lock_irq(&l->lock);
	if (l->missing && l->head == l->tail) {
		put_lost(l->head);
		/* As in fsw_log_put(). */
		smp_store_release(&l->head, l->head + sizeof(struct fsw_ek_record));
	}
	spin_unlock_irq(&l->lock);
}

/*
 * fsw_log_read() - copy from the ring to a user; one reader at a time.
 *
 * Returns how many bytes, or -EFAULT.
 */
ssize_t fsw_log_read(struct iov_iter *to)
{
	struct fsw_log *l = &fsw_log;
	/* Pairs with smp_store_release() of head. */
	u64 n = smp_load_acquire(&l->head) - l->tail;
	size_t copied, first;
	u64 off;

	n = min_t(u64, n, iov_iter_count(to));
	if (!n)
		return 0;
	off = l->tail & (l->size - 1);
	first = min(n, l->size - off);
	copied = copy_to_iter(l->ring + off, first, to);
	if (copied == first)
		copied += copy_to_iter(l->ring, n - first, to);
	/* Pairs with smp_load_acquire() of tail: what is read may be written over. */
	smp_store_release(&l->tail, l->tail + copied);
	return copied ?: -EFAULT;
}
