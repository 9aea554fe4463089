// SPDX-License-Identifier: GPL-2.0
/*
 * The log: a ring of records, in the order in which they came, of all disks.
 * When one does not fit it is lost, and a record at its place says how many were.
 */
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

struct fsw_log fsw_log = {
	.lock = __MUTEX_INITIALIZER(fsw_log.lock),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(fsw_log.wait),
};

/* fsw_log_alloc() - have a ring. The caller holds fsw_disks_lock. */
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
	mutex_lock(&fsw_log.lock);
	fsw_log.ring = ring;
	fsw_log.size = (u64)log_mib << 20;
	mutex_unlock(&fsw_log.lock);
	return 0;
}

void fsw_log_free(void)
{
	vfree(fsw_log.ring);
}

/* The piece of the ring that n bytes from at on take, and the one where it begins anew. */
static void ring_place(u64 at, u64 n, struct kvec place[2])
{
	u64 off = at & (fsw_log.size - 1);
	u64 first = min(n, fsw_log.size - off);

	place[0] = (struct kvec){ fsw_log.ring + off, first };
	place[1] = (struct kvec){ fsw_log.ring, n - first };
}

static void ring_copy(u64 at, const void *from, size_t n)
{
	struct kvec place[2];

	ring_place(at, n, place);
	memcpy(place[0].iov_base, from, place[0].iov_len);
	memcpy(place[1].iov_base, from + place[0].iov_len, place[1].iov_len);
}

static void put_header(u64 at, struct fsw_rd_record *rec)
{
	rec->time_ns = ktime_get_ns();
	rec->pid = task_pid_nr(current);
	rec->tgid = task_tgid_nr(current);
	get_task_comm(rec->comm, current);
	ring_copy(at, rec, sizeof(*rec));
}

static void put_lost(u64 at)
{
	struct fsw_rd_record rec = {
		.type = FSW_RD_LOST,
		.seq = fsw_log.seq,
		.len = fsw_log.missing,
	};

	put_header(at, &rec);
	fsw_log.missing = 0;
}

/*
 * fsw_log_put() - append a record.
 * @data: its data, rec->data_len bytes
 * @place: is told where the data is; it stays there as long as fsw_log.lock is held
 *
 * Returns whether it fit; if not, data is as it was. The caller holds fsw_log.lock.
 */
bool fsw_log_put(struct fsw_rd_record *rec, struct iov_iter *data, struct kvec place[2])
{
	struct fsw_log *l = &fsw_log;
	/* Pairs with smp_store_release() of tail: what is written over has been read. */
	u64 used = l->head - smp_load_acquire(&l->tail);
	u64 padded = ALIGN(rec->data_len, ALIGNED);
	u64 gap = l->missing ? sizeof(*rec) : 0;
	u64 head = l->head;
	u64 zeros = 0;

	if (gap + sizeof(*rec) + padded > l->size - used) {
		l->seq++;
		l->missing++;
		l->lost++;
		return false;
	}
	if (gap)
		put_lost(head);
	head += gap;
	rec->seq = ++l->seq;
	put_header(head, rec);
	head += sizeof(*rec);
	if (rec->data_len) {
		ring_place(head, rec->data_len, place);
		fsw_copy_from(place[0].iov_base, place[0].iov_len, data);
		fsw_copy_from(place[1].iov_base, place[1].iov_len, data);
		ring_copy(head + rec->data_len, &zeros, padded - rec->data_len);
	}
	/* Pairs with the reader's smp_load_acquire(): it sees whole records. */
	smp_store_release(&l->head, head + padded);
	wake_up_interruptible(&l->wait);
	return true;
}

/* fsw_log_text() - append a record that has a text. */
void fsw_log_text(u16 type, u32 disk, const char *text, size_t len)
{
	struct fsw_rd_record rec = { .type = type, .disk = disk, .data_len = len };
	struct kvec vec = { (char *)text, len }, place[2];
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, len);
	mutex_lock(&fsw_log.lock);
	fsw_log_put(&rec, &iter, place);
	mutex_unlock(&fsw_log.lock);
}

/* fsw_log_tell() - append what is missing to a log that has been read to its end. */
void fsw_log_tell(void)
{
	struct fsw_log *l = &fsw_log;

	mutex_lock(&l->lock);
	if (l->missing && l->head == l->tail) {
		put_lost(l->head);
		/* As in fsw_log_put(). */
		smp_store_release(&l->head, l->head + sizeof(struct fsw_rd_record));
	}
	mutex_unlock(&l->lock);
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
	struct kvec place[2];
	size_t copied;

	n = min_t(u64, n, iov_iter_count(to));
	if (!n)
		return 0;
	ring_place(l->tail, n, place);
	copied = copy_to_iter(place[0].iov_base, place[0].iov_len, to);
	if (copied == place[0].iov_len)
		copied += copy_to_iter(place[1].iov_base, place[1].iov_len, to);
	/* Pairs with smp_load_acquire() of tail: what is read may be written over. */
	smp_store_release(&l->tail, l->tail + copied);
	return copied ?: -EFAULT;
}
