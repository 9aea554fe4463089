// SPDX-License-Identifier: GPL-2.0
/*
 * How a bio is performed. It is logged, takes effect and ends before
 * fsw_submit_bio() returns, unless it is delayed. The disk's lock is held, so
 * that bios take effect one after the other, in the order of the log.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "bioflags.h"
#include "internal.h"

static atomic64_t last_id;

static unsigned int hold_ms = 60000;
module_param(hold_ms, uint, 0444);
MODULE_PARM_DESC(hold_ms, "how long a bio of a guarded disk waits for its answer, ms (60000)");

/* fsw_bio_to_iter() - make an iterator over the data of a bio. */
void fsw_bio_to_iter(struct bio *bio, struct iov_iter *iter)
{
	struct bvec_iter i;
	struct bio_vec bv;
	unsigned int n = 0;

	if (!bio_has_data(bio)) { /* a discard has a length and no pages */
		iov_iter_kvec(iter, ITER_SOURCE, NULL, 0, 0);
		return;
	}
	bio_for_each_bvec(bv, bio, i)
		n++;
	iov_iter_bvec(iter, op_is_write(bio_op(bio)) ? ITER_SOURCE : ITER_DEST,
		      __bvec_iter_bvec(bio->bi_io_vec, bio->bi_iter), n, bio->bi_iter.bi_size);
	iter->iov_offset = bio->bi_iter.bi_bvec_done;
}

/*
 * fsw_io_do() - perform a bio, as far as its fate allows.
 * @iter: its data: the source of a write, the destination of a read
 *
 * A discard makes zeros. A file system must not rely on that: the queue limits
 * of Linux cannot promise it.
 */
blk_status_t fsw_io_do(struct fsw_io *io, struct iov_iter *iter)
{
	struct fsw_store *s = &io->disk->store;
	u64 pos = io->rec.sector << SECTOR_SHIFT;
	u64 len = min(io->rec.len, io->fate.tear);
	int err = 0;

	switch (io->rec.op) {
	case FSW_RD_READ:
		fsw_store_read(s, pos, len, iter);
		break;
	case FSW_RD_WRITE:
		err = fsw_store_write(s, pos, len, iter);
		break;
	case FSW_RD_DISCARD:
	case FSW_RD_ZEROES:
		err = fsw_store_zero(s, pos, len);
		break;
	case FSW_RD_FLUSH:
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	if (err) {
		io->disk->no_memory += err == -ENOMEM;
		return errno_to_blk_status(err);
	}
	io->rec.done = len;
	return io->fate.error ? errno_to_blk_status(-io->fate.error) : BLK_STS_OK;
}

/* fsw_io_end() - log the end of a bio. The caller calls bio_endio() without the disk's lock. */
void fsw_io_end(struct fsw_io *io, blk_status_t status)
{
	struct fsw_rd_record rec = io->rec;

	io->disk->completed++;
	io->bio->bi_status = status;
	if (!io->logged)
		return;
	rec.type = FSW_RD_COMPLETE;
	rec.data_len = 0;
	rec.status = blk_status_to_errno(status);
	rec.injected = io->fate.injected;
	fsw_log_put(&rec, NULL, NULL);
}

/* Logs, performs and ends a bio that is not delayed. */
static void io_now(struct fsw_io *io)
{
	struct kvec place[2];
	struct iov_iter iter;

	fsw_bio_to_iter(io->bio, &iter);
	if (!io->logged) {
		fsw_io_end(io, fsw_io_do(io, &iter));
		return;
	}
	/*
	 * A page can change while it is written. So the disk copies the data from
	 * the log, and does not read the page a second time. The log's lock is
	 * held, so that no new record overwrites the data.
	 */
	mutex_lock(&fsw_log_lock);
	if (fsw_log_put(&io->rec, &iter, place) && io->rec.data_len)
		iov_iter_kvec(&iter, ITER_SOURCE, place, 2, io->rec.data_len);
	fsw_io_end(io, fsw_io_do(io, &iter));
	mutex_unlock(&fsw_log_lock);
}

void fsw_submit_bio(struct bio *bio)
{
	struct fsw_disk *d = bio->bi_bdev->bd_disk->private_data;
	struct fsw_io io = {
		.disk = d,
		.bio = bio,
		.rec = {
			.type = FSW_RD_SUBMIT,
			.op = fsw_bio_operation(bio),
			.flags = fsw_bio_flags(bio->bi_opf),
			.sector = bio->bi_iter.bi_sector,
			.len = bio->bi_iter.bi_size,
			.disk = d->number,
		},
	};

	if (io.rec.op == FSW_RD_WRITE)
		io.rec.data_len = io.rec.len;
	io.start = bio_start_io_acct(bio);
	mutex_lock(&d->lock);
	d->submitted++;
	io.rec.id = atomic64_inc_return(&last_id);
	io.logged = d->logging;
	fsw_rules_ask(&d->rules, io.rec.op, io.rec.flags, &io.fate);
	if (d->guarded && io.rec.op != FSW_RD_READ)
		io.fate = (struct fsw_fate){ .error = EIO, .delay_ms = hold_ms, .held = true };
	if (io.fate.delay_ms) {
		int err = fsw_io_delay(&io);

		if (!err) {
			mutex_unlock(&d->lock);
			return;
		}
		d->no_memory += err == -ENOMEM;
		bio->bi_status = errno_to_blk_status(err);
		d->completed++;
	} else {
		io_now(&io);
	}
	mutex_unlock(&d->lock);
	bio_end_io_acct(bio, io.start);
	bio_endio(bio);
}
