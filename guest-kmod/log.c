// SPDX-License-Identifier: GPL-2.0
/* The records of the log. */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "fsw_rd_seq.h"
#include "internal.h"

/* fsw_rd_log_seq() of fsw_ramdisk while the write set is logged; else NULL. */
static typeof(&fsw_rd_log_seq) disk_seq;

static void put_lost(u64 at);
static void tell(void);

struct fsw_ring fsw_ring = FSW_RING(struct fsw_ek_record, put_lost, tell);
DEFINE_SPINLOCK(fsw_log_lock);
u32 fsw_log_what;

static void put_header(u64 at, struct fsw_ek_record *rec)
{
	typeof(&fsw_rd_log_seq) seq = READ_ONCE(disk_seq);

	rec->time_ns = ktime_get_mono_fast_ns();
	rec->disk_seq = seq ? seq() : 0;
	if (in_task() || in_nmi()) { /* the breakpoint of a probe counts as an NMI */
		rec->pid = task_pid_nr(current);
		rec->tgid = task_tgid_nr(current);
		/* get_task_comm() takes a lock, which may be held where a probe is hit. */
		memcpy(rec->comm, current->comm, sizeof(rec->comm) - 1);
	}
	fsw_ring_copy(at, rec, sizeof(*rec));
}

static void put_lost(u64 at)
{
	struct fsw_ek_record rec = {
		.type = FSW_EK_T_LOST,
		.seq = fsw_ring.seq,
		.len = fsw_ring.missing,
	};

	put_header(at, &rec);
}

static void tell(void)
{
	spin_lock_irq(&fsw_log_lock);
	fsw_ring_tell();
	spin_unlock_irq(&fsw_log_lock);
}

/*
 * fsw_log_put() - append a record.
 * @data: its data, rec->data_len bytes; NULL: none
 * @more: if not NULL, data is a struct fsw_ek_syscall, and the other bytes are here
 *
 * For any context but an NMI. Returns the sequence number; 0 if it did not fit.
 */
u64 fsw_log_put(struct fsw_ek_record *rec, const void *data, const void *more)
{
	size_t first = more ? sizeof(struct fsw_ek_syscall) : rec->data_len;
	unsigned long flags;
	u64 at, seq = 0;

	spin_lock_irqsave(&fsw_log_lock, flags);
	if (fsw_ring_begin(rec->data_len, &at)) {
		seq = rec->seq = fsw_ring.seq;
		put_header(at, rec);
		fsw_ring_copy(at + sizeof(*rec), data, first);
		if (more)
			fsw_ring_copy(at + sizeof(*rec) + first, more, rec->data_len - first);
		fsw_ring_end(at, rec->data_len);
	}
	spin_unlock_irqrestore(&fsw_log_lock, flags);
	return seq;
}

/*
 * fsw_log_order() - order records among those of fsw_ramdisk, or no longer. It holds
 * that module. Without that module, disk_seq of a record is 0.
 */
void fsw_log_order(bool on)
{
	if (on && !disk_seq) {
		WRITE_ONCE(disk_seq, symbol_get(fsw_rd_log_seq));
	} else if (!on && disk_seq) {
		WRITE_ONCE(disk_seq, NULL);
		synchronize_rcu(); /* handlers of probes run without preemption */
		symbol_put(fsw_rd_log_seq);
	}
}
