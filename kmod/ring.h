/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of a module: a ring buffer of records in order, with one reader. A record
 * that does not fit is lost. The next record that fits comes after one that counts
 * the lost ones.
 *
 * The module defines the format of its records, the lock under which they are put,
 * and its one ring, fsw_ring.
 */
#ifndef FSW_RING_H
#define FSW_RING_H

#include <linux/irq_work.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <linux/wait.h>

/* The data of a record is followed by zeros up to a multiple of this number of bytes. */
#define FSW_RING_ALIGNED 8

struct fsw_ring {
	size_t header;		/* bytes of a record without its data */
	void (*put_lost)(u64 at);	/* puts the record that reports missing, with number seq */
	void (*tell)(void);	/* calls fsw_ring_tell() under the module's lock */
	u8 *buf;		/* NULL before its first use */
	u64 size;		/* bytes, a power of two */
	u64 head;		/* bytes that were put so far */
	u64 tail;		/* bytes that were read so far; only the reader changes it */
	u64 seq;		/* of the last record, lost ones included */
	u64 missing;		/* records lost since the last one that fit */
	u64 lost;		/* records lost so far */
	wait_queue_head_t wait;
	struct irq_work wake;
};

extern struct fsw_ring fsw_ring;

#define FSW_RING(record, lost_fn, tell_fn) { \
	.header = sizeof(record), .put_lost = lost_fn, .tell = tell_fn, \
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(fsw_ring.wait), .wake = IRQ_WORK_INIT(fsw_ring_wake) }

void fsw_ring_wake(struct irq_work *work);
int fsw_ring_alloc(void);
void fsw_ring_free(void);
void fsw_ring_place(u64 at, u64 n, struct kvec place[2]);
void fsw_ring_copy(u64 at, const void *from, size_t n);
bool fsw_ring_begin(size_t data_len, u64 *at);
void fsw_ring_end(u64 at, size_t data_len);
void fsw_ring_tell(void);

int fsw_logdev_init(void);
void fsw_logdev_exit(void);

#endif
