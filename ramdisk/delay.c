// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed bios. A work item performs a bio that a rule delays when it is due. A
 * bio of a guarded disk is held for an answer. It fails if it has none when it is
 * due, because nobody has allowed it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

struct workqueue_struct *fsw_wq;

/* A delayed write uses the contents that its pages had when it was logged. */
static void io_iter(struct fsw_io *io, struct kvec *vec, struct iov_iter *iter)
{
	if (!io->data) {
		fsw_bio_to_iter(io->bio, iter);
		return;
	}
	vec->iov_base = io->data;
	vec->iov_len = io->rec.len;
	iov_iter_kvec(iter, ITER_SOURCE, vec, 1, io->rec.len);
}

static void delayed(struct work_struct *work)
{
	struct fsw_io *io = container_of(to_delayed_work(work), struct fsw_io, work);
	struct fsw_disk *d = io->disk;
	struct iov_iter iter;
	struct kvec vec;
	s64 early;

	mutex_lock(&d->lock);
	/* A timer counts from the last tick that the guest noticed: long ago on a busy host. */
	early = ktime_us_delta(io->due, ktime_get());
	if (early > 0) {
		queue_delayed_work(fsw_wq, &io->work, usecs_to_jiffies(early));
		mutex_unlock(&d->lock);
		return;
	}
	io_iter(io, &vec, &iter);
	mutex_lock(&fsw_log_lock);
	fsw_io_end(io, fsw_io_do(io, &iter));
	mutex_unlock(&fsw_log_lock);
	list_del(&io->node);
	if (list_empty(&d->delayed))
		wake_up_all(&d->idle);
	mutex_unlock(&d->lock);

	bio_end_io_acct(io->bio, io->start);
	bio_endio(io->bio);
	kvfree(io->data);
	kfree(io);
}

/*
 * fsw_io_delay() - perform a bio later.
 * @now: the bio; copied
 *
 * The caller holds the disk's lock. Each rule delays one bio, so that few are
 * delayed at a time. On a guarded disk all submitted bios can be.
 */
int fsw_io_delay(const struct fsw_io *now)
{
	struct kvec vec, place[2];
	struct iov_iter iter;
	struct fsw_io *io;

	io = kmemdup(now, sizeof(*now), GFP_NOIO);
	if (!io)
		return -ENOMEM;
	if (io->rec.op == FSW_RD_WRITE) {
		io->data = kvmalloc(io->rec.len, GFP_NOIO);
		if (!io->data) {
			kfree(io);
			return -ENOMEM;
		}
		fsw_bio_to_iter(io->bio, &iter);
		fsw_copy_from(io->data, io->rec.len, &iter);
	}
	if (io->logged) {
		bool told;

		io_iter(io, &vec, &iter);
		mutex_lock(&fsw_log_lock);
		told = fsw_log_put(&io->rec, &iter, place);
		mutex_unlock(&fsw_log_lock);
		if (!told && io->fate.held) { /* a bio without a record gets no answer */
			kvfree(io->data);
			kfree(io);
			return -EIO;
		}
	}
	io->due = ktime_add_ms(ktime_get(), io->fate.delay_ms);
	list_add_tail(&io->node, &io->disk->delayed);
	INIT_DELAYED_WORK(&io->work, delayed);
	queue_delayed_work(fsw_wq, &io->work, msecs_to_jiffies(io->fate.delay_ms));
	return 0;
}

/*
 * hurry() - perform a delayed bio now.
 *
 * Work that cannot be cancelled has begun, and waits for the lock. It must not be
 * queued a second time, because its end frees io.
 */
static void hurry(struct fsw_io *io)
{
	io->due = 0;
	if (cancel_delayed_work(&io->work))
		queue_delayed_work(fsw_wq, &io->work, 0);
}

/*
 * fsw_io_answer() - answer a bio that is held.
 *
 * Returns -ENOENT if it was due before, or has its answer.
 */
int fsw_io_answer(struct fsw_disk *d, const struct fsw_rd_answer *a)
{
	struct fsw_io *io;
	int err = -ENOENT;

	if (a->error > MAX_ERRNO)
		return -EINVAL;
	mutex_lock(&d->lock);
	list_for_each_entry(io, &d->delayed, node) {
		if (io->rec.id != a->id || !io->fate.held)
			continue;
		io->fate.held = false;
		io->fate.error = a->error;
		io->fate.tear = a->error ? 0 : U64_MAX;
		hurry(io);
		err = 0;
		break;
	}
	mutex_unlock(&d->lock);
	return err;
}

/*
 * fsw_disk_quiesce() - lock a disk that has no delayed bio.
 *
 * Delayed bios are performed at once, and fail if they are held for an answer. It
 * terminates because each rule delays only one bio. On a guarded disk it lasts as
 * long as new bios keep coming.
 */
void fsw_disk_quiesce(struct fsw_disk *d)
{
	struct fsw_io *io;

	mutex_lock(&d->lock);
	while (!list_empty(&d->delayed)) {
		list_for_each_entry(io, &d->delayed, node)
			hurry(io);
		mutex_unlock(&d->lock);
		wait_event(d->idle, list_empty(&d->delayed));
		mutex_lock(&d->lock);
	}
}
