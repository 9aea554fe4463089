// SPDX-License-Identifier: GPL-2.0
/* The records of the log, of all disks. */
#include <linux/ktime.h>
#include <linux/sched.h>

#include "fsw_rd_seq.h"
#include "internal.h"

static void put_lost(u64 at);
static void tell(void);

struct fsw_ring fsw_ring = FSW_RING(struct fsw_rd_record, put_lost, tell);
DEFINE_MUTEX(fsw_log_lock);

static void put_header(u64 at, struct fsw_rd_record *rec)
{
	rec->time_ns = ktime_get_ns();
	rec->pid = task_pid_nr(current);
	rec->tgid = task_tgid_nr(current);
	get_task_comm(rec->comm, current);
	fsw_ring_copy(at, rec, sizeof(*rec));
}

static void put_lost(u64 at)
{
	struct fsw_rd_record rec = {
		.type = FSW_RD_LOST,
		.seq = fsw_ring.seq,
		.len = fsw_ring.missing,
	};

	put_header(at, &rec);
}

static void tell(void)
{
	mutex_lock(&fsw_log_lock);
	fsw_ring_tell();
	mutex_unlock(&fsw_log_lock);
}

/*
 * fsw_log_put() - append a record.
 * @data: its data, rec->data_len bytes
 * @place: set to the data's place in the ring, valid while fsw_log_lock is held
 *
 * Returns false, and leaves data unchanged, if the record does not fit. The caller
 * holds fsw_log_lock.
 */
bool fsw_log_put(struct fsw_rd_record *rec, struct iov_iter *data, struct kvec place[2])
{
	u64 at;

	if (!fsw_ring_begin(rec->data_len, &at))
		return false;
	rec->seq = fsw_ring.seq;
	put_header(at, rec);
	if (rec->data_len) {
		fsw_ring_place(at + sizeof(*rec), rec->data_len, place);
		fsw_copy_from(place[0].iov_base, place[0].iov_len, data);
		fsw_copy_from(place[1].iov_base, place[1].iov_len, data);
	}
	fsw_ring_end(at, rec->data_len);
	return true;
}

/* fsw_log_text() - append a record with a text. */
void fsw_log_text(u16 type, u32 disk, const char *text, size_t len)
{
	struct fsw_rd_record rec = { .type = type, .disk = disk, .data_len = len };
	struct kvec vec = { (char *)text, len }, place[2];
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, len);
	mutex_lock(&fsw_log_lock);
	fsw_log_put(&rec, &iter, place);
	mutex_unlock(&fsw_log_lock);
}

/**
 * fsw_rd_log_seq() - the number of the last record of the log
 *
 * Return: its number, from 1; 0 if there is none.
 */
u64 fsw_rd_log_seq(void)
{
	return READ_ONCE(fsw_ring.seq);
}
EXPORT_SYMBOL_GPL(fsw_rd_log_seq);
