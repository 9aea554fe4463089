// SPDX-License-Identifier: GPL-2.0
/* The ring buffer of the log, and /dev/MODULE_log, through which one process reads it. */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/vmalloc.h>

#include "ring.h"

static unsigned int log_mib = 32;
module_param(log_mib, uint, 0444);
MODULE_PARM_DESC(log_mib, "size of the log in MiB, 1 to 1024, a power of two (32)");

static DEFINE_MUTEX(reading);
static atomic_t opened;

/* fsw_ring_wake() - wake the reader, from irq_work: not every context of a record can wake. */
void fsw_ring_wake(struct irq_work *work)
{
	wake_up_interruptible(&fsw_ring.wait);
}

/* fsw_ring_alloc() - allocate the ring, unless it is. The caller holds fsw_ctl_lock. */
int fsw_ring_alloc(void)
{
	u8 *buf;

	if (fsw_ring.buf)
		return 0;
	if (!is_power_of_2(log_mib) || log_mib > 1024)
		return -EINVAL;
	buf = vmalloc((u64)log_mib << 20);
	if (!buf)
		return -ENOMEM;
	fsw_ring.size = (u64)log_mib << 20;
	/* Pairs with smp_load_acquire() in fsw_ring_begin(), which then sees the size too. */
	smp_store_release(&fsw_ring.buf, buf);
	return 0;
}

/* fsw_ring_free() - free the ring, when no record is put any more. */
void fsw_ring_free(void)
{
	irq_work_sync(&fsw_ring.wake);
	vfree(fsw_ring.buf);
}

/* fsw_ring_place() - set place to the one or two pieces of the ring with the n bytes from at on. */
void fsw_ring_place(u64 at, u64 n, struct kvec place[2])
{
	u64 off = at & (fsw_ring.size - 1);
	u64 first = min(n, fsw_ring.size - off);

	place[0] = (struct kvec){ fsw_ring.buf + off, first };
	place[1] = (struct kvec){ fsw_ring.buf, n - first };
}

void fsw_ring_copy(u64 at, const void *from, size_t n)
{
	struct kvec place[2];

	fsw_ring_place(at, n, place);
	memcpy(place[0].iov_base, from, place[0].iov_len);
	memcpy(place[1].iov_base, from + place[0].iov_len, place[1].iov_len);
}

/*
 * fsw_ring_begin() - find room for a record.
 * @data_len: bytes of its data
 * @at: set to the place of its header; the data follows
 *
 * Returns false if there is no room. fsw_ring.seq is the number of the record. The
 * caller holds the lock under which records are put, until after fsw_ring_end().
 */
bool fsw_ring_begin(size_t data_len, u64 *at)
{
	struct fsw_ring *r = &fsw_ring;
	size_t padded = ALIGN(data_len, FSW_RING_ALIGNED);
	u64 used, gap;

	/* Pairs with smp_store_release() in fsw_ring_alloc(). */
	if (!smp_load_acquire(&r->buf))
		return false;
	/* Pairs with smp_store_release() of tail: the reader is done with what is overwritten. */
	used = r->head - smp_load_acquire(&r->tail);
	gap = r->missing ? r->header : 0;
	if (gap + r->header + padded > r->size - used) {
		r->seq++;
		r->missing++;
		r->lost++;
		return false;
	}
	if (gap) {
		r->put_lost(r->head);
		r->missing = 0;
	}
	r->seq++;
	*at = r->head + gap;
	return true;
}

/* fsw_ring_end() - publish the record at a place, whose header and data were put, to the reader. */
void fsw_ring_end(u64 at, size_t data_len)
{
	size_t padded = ALIGN(data_len, FSW_RING_ALIGNED);
	u64 zeros = 0;

	at += fsw_ring.header;
	fsw_ring_copy(at + data_len, &zeros, padded - data_len);
	/* Pairs with smp_load_acquire() in take(): the reader sees whole records. */
	smp_store_release(&fsw_ring.head, at + padded);
	irq_work_queue(&fsw_ring.wake);
}

/*
 * fsw_ring_tell() - append the record of lost records to a log that was read to
 * its end. The caller holds the lock of fsw_ring_begin().
 */
void fsw_ring_tell(void)
{
	struct fsw_ring *r = &fsw_ring;

	if (!r->missing || r->head != r->tail)
		return;
	r->put_lost(r->head);
	r->missing = 0;
	/* As in fsw_ring_end(). */
	smp_store_release(&r->head, r->head + r->header);
}

/* Copies from the ring to user space. Returns the number of bytes, or -EFAULT. */
static ssize_t take(struct iov_iter *to)
{
	struct fsw_ring *r = &fsw_ring;
	/* Pairs with smp_store_release() of head. */
	u64 n = smp_load_acquire(&r->head) - r->tail;
	struct kvec place[2];
	size_t copied;

	n = min_t(u64, n, iov_iter_count(to));
	if (!n)
		return 0;
	fsw_ring_place(r->tail, n, place);
	copied = copy_to_iter(place[0].iov_base, place[0].iov_len, to);
	if (copied == place[0].iov_len)
		copied += copy_to_iter(place[1].iov_base, place[1].iov_len, to);
	/* Pairs with smp_load_acquire() of tail: the bytes read can be overwritten. */
	smp_store_release(&r->tail, r->tail + copied);
	return copied ?: -EFAULT;
}

static int logdev_open(struct inode *inode, struct file *file)
{
	return atomic_cmpxchg(&opened, 0, 1) ? -EBUSY : nonseekable_open(inode, file);
}

static int logdev_release(struct inode *inode, struct file *file)
{
	atomic_set(&opened, 0);
	return 0;
}

static bool readable(void)
{
	return READ_ONCE(fsw_ring.head) != READ_ONCE(fsw_ring.tail) || READ_ONCE(fsw_ring.missing);
}

static ssize_t logdev_read(struct kiocb *iocb, struct iov_iter *to)
{
	ssize_t n;

	if (!iov_iter_count(to))
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&reading))
			return -ERESTARTSYS;
		n = take(to);
		if (!n) {
			fsw_ring.tell();
			n = take(to);
		}
		mutex_unlock(&reading);
		if (n)
			return n;
		if (iocb->ki_filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(fsw_ring.wait, readable()))
			return -ERESTARTSYS;
	}
}

static __poll_t logdev_poll(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &fsw_ring.wait, table);
	return readable() ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations logdev_fops = {
	.owner = THIS_MODULE,
	.open = logdev_open,
	.release = logdev_release,
	.read_iter = logdev_read,
	.poll = logdev_poll,
};

static struct miscdevice logdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME "_log",
	.fops = &logdev_fops,
	.mode = 0400,
};

int fsw_logdev_init(void)
{
	return misc_register(&logdev);
}

void fsw_logdev_exit(void)
{
	misc_deregister(&logdev);
}
