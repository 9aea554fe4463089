// SPDX-License-Identifier: GPL-2.0
/* The commands. They run one at a time, under fsw_ctl_lock. */
#include <linux/string.h>

#include "command.h"
#include "devices.h"
#include "internal.h"

static int do_hello(void *arg)
{
	struct fsw_rd_hello *a = arg;

	mutex_lock(&fsw_log_lock);
	*a = (struct fsw_rd_hello){
		.abi = FSW_RD_ABI,
		.disks = fsw_disk_count(),
		.log_bytes = fsw_ring.size,
		.log_used = fsw_ring.head - READ_ONCE(fsw_ring.tail),
		.lost = fsw_ring.lost,
		.pages = atomic_long_read(&fsw_pages),
	};
	mutex_unlock(&fsw_log_lock);
	return 0;
}

static int do_disk(void *arg)
{
	const struct fsw_rd_disk *a = arg;

	if (a->pad)
		return -EINVAL;
	return a->bytes ? fsw_disk_make(a->disk, a->bytes) : fsw_disk_remove(a->disk);
}

static int do_log(void *arg)
{
	const struct fsw_rd_switch *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	if (a->on > 1)
		return -EINVAL;
	err = fsw_ring_alloc();
	if (err)
		return err;
	/* A delayed bio that was not logged must not take effect after a log has begun. */
	fsw_disk_quiesce(d);
	d->logging = a->on;
	d->guarded = d->guarded && a->on;
	mutex_unlock(&d->lock);
	return 0;
}

static int do_guard(void *arg)
{
	const struct fsw_rd_switch *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);
	int err = 0;

	if (IS_ERR(d))
		return PTR_ERR(d);
	if (a->on > 1)
		return -EINVAL;
	mutex_lock(&d->lock);
	/*
	 * The guard learns of a bio from the log, so the disk must be logged. Bios
	 * that are held when guarding ends still wait for their answer.
	 */
	if (a->on && !d->logging)
		err = -EINVAL;
	else
		d->guarded = a->on;
	mutex_unlock(&d->lock);
	return err;
}

static int do_answer(void *arg)
{
	const struct fsw_rd_answer *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);

	return IS_ERR(d) ? PTR_ERR(d) : fsw_io_answer(d, a);
}

static int do_mark(void *arg)
{
	const struct fsw_rd_mark *a = arg;
	int err;

	err = fsw_mark_check(a->len, a->pad, sizeof(a->text));
	if (err)
		return err;
	fsw_log_text(FSW_RD_MARK, 0, a->text, a->len);
	return 0;
}

static struct fsw_disk *snapshot_disk(const struct fsw_rd_snapshot *a)
{
	size_t len = strnlen(a->name, sizeof(a->name));

	if (a->pad || !len || len == sizeof(a->name))
		return ERR_PTR(-EINVAL);
	return fsw_disk_get(a->disk);
}

static int do_snapshot(void *arg)
{
	const struct fsw_rd_snapshot *a = arg;
	struct fsw_disk *d = snapshot_disk(a);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	mutex_lock(&d->lock);
	err = fsw_snap_make(&d->store, a->name);
	if (!err && d->logging)
		fsw_log_text(FSW_RD_SNAPSHOT, d->number, a->name, strlen(a->name));
	mutex_unlock(&d->lock);
	return err;
}

static int do_restore(void *arg)
{
	struct fsw_rd_snapshot *a = arg;
	struct fsw_disk *d = snapshot_disk(a);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	fsw_disk_quiesce(d);
	err = fsw_snap_restore(&d->store, a->name, &a->pages);
	if (!err && d->logging)
		fsw_log_text(FSW_RD_RESTORE, d->number, a->name, strlen(a->name));
	mutex_unlock(&d->lock);
	return err;
}

static int do_drop(void *arg)
{
	const struct fsw_rd_snapshot *a = arg;
	struct fsw_disk *d = snapshot_disk(a);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	mutex_lock(&d->lock);
	err = fsw_snap_drop(&d->store, a->name);
	mutex_unlock(&d->lock);
	return err;
}

static int do_changed(void *arg)
{
	struct fsw_rd_changed *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);
	size_t len = strnlen(a->name, sizeof(a->name));
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	if (!len || len == sizeof(a->name))
		return -EINVAL;
	mutex_lock(&d->lock);
	err = fsw_snap_changed(&d->store, a);
	mutex_unlock(&d->lock);
	return err;
}

static struct fsw_disk *page_disk(const struct fsw_rd_page *a)
{
	struct fsw_disk *d = fsw_disk_get(a->disk);

	if (!IS_ERR(d) && (a->pad || a->page >= d->store.npages))
		return ERR_PTR(-EINVAL);
	return d;
}

static void data_iter(struct iov_iter *iter, unsigned int direction, struct kvec *vec,
		      struct fsw_rd_page *a)
{
	*vec = (struct kvec){ a->data, sizeof(a->data) };
	iov_iter_kvec(iter, direction, vec, 1, sizeof(a->data));
}

static int do_page_get(void *arg)
{
	struct fsw_rd_page *a = arg;
	struct fsw_disk *d = page_disk(a);
	struct iov_iter iter;
	struct kvec vec;

	if (IS_ERR(d))
		return PTR_ERR(d);
	data_iter(&iter, ITER_DEST, &vec, a);
	mutex_lock(&d->lock);
	fsw_store_read(&d->store, a->page << PAGE_SHIFT, FSW_RD_PAGE, &iter);
	mutex_unlock(&d->lock);
	return 0;
}

static int do_page_set(void *arg)
{
	struct fsw_rd_page *a = arg;
	struct fsw_disk *d = page_disk(a);
	struct kvec vec, place[2];
	struct iov_iter iter;
	u64 pos;
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	pos = a->page << PAGE_SHIFT;
	data_iter(&iter, ITER_SOURCE, &vec, a);
	fsw_disk_quiesce(d);
	if (memchr_inv(a->data, 0, sizeof(a->data)))
		err = fsw_store_write(&d->store, pos, FSW_RD_PAGE, &iter);
	else
		err = fsw_store_zero(&d->store, pos, FSW_RD_PAGE);
	if (!err && d->logging) {
		struct fsw_rd_record rec = {
			.type = FSW_RD_PATCH,
			.disk = d->number,
			.sector = pos >> SECTOR_SHIFT,
			.len = FSW_RD_PAGE,
			.data_len = FSW_RD_PAGE,
		};

		data_iter(&iter, ITER_SOURCE, &vec, a);
		mutex_lock(&fsw_log_lock);
		fsw_log_put(&rec, &iter, place);
		mutex_unlock(&fsw_log_lock);
	}
	mutex_unlock(&d->lock);
	return err;
}

static int do_inject(void *arg)
{
	const struct fsw_rd_rule *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);
	int err;

	if (IS_ERR(d))
		return PTR_ERR(d);
	mutex_lock(&d->lock);
	err = fsw_rules_add(&d->rules, a);
	mutex_unlock(&d->lock);
	return err;
}

static int do_clear(void *arg)
{
	const struct fsw_rd_number *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);

	if (IS_ERR(d))
		return PTR_ERR(d);
	if (a->pad)
		return -EINVAL;
	mutex_lock(&d->lock);
	d->rules.n = 0;
	mutex_unlock(&d->lock);
	return 0;
}

static int do_stat(void *arg)
{
	struct fsw_rd_stat *a = arg;
	struct fsw_disk *d = fsw_disk_get(a->disk);

	if (IS_ERR(d))
		return PTR_ERR(d);
	mutex_lock(&d->lock);
	*a = (struct fsw_rd_stat){
		.disk = d->number,
		.logging = d->logging,
		.bytes = d->store.npages << PAGE_SHIFT,
		.pages = d->store.pages,
		.kept = d->store.kept,
		.snapshots = d->store.named,
		.rules = fsw_rules_armed(&d->rules),
		.fired = d->rules.fired,
		.submitted = d->submitted,
		.completed = d->completed,
		.no_memory = d->no_memory,
	};
	mutex_unlock(&d->lock);
	return 0;
}

const struct fsw_command fsw_commands[] = {
	{ FSW_RD_IOC_HELLO, do_hello },
	{ FSW_RD_IOC_DISK, do_disk },
	{ FSW_RD_IOC_LOG, do_log },
	{ FSW_RD_IOC_MARK, do_mark },
	{ FSW_RD_IOC_SNAPSHOT, do_snapshot },
	{ FSW_RD_IOC_RESTORE, do_restore },
	{ FSW_RD_IOC_DROP, do_drop },
	{ FSW_RD_IOC_CHANGED, do_changed },
	{ FSW_RD_IOC_PAGE_GET, do_page_get },
	{ FSW_RD_IOC_PAGE_SET, do_page_set },
	{ FSW_RD_IOC_INJECT, do_inject },
	{ FSW_RD_IOC_CLEAR, do_clear },
	{ FSW_RD_IOC_STAT, do_stat },
	{ FSW_RD_IOC_GUARD, do_guard },
	{ FSW_RD_IOC_ANSWER, do_answer },
	{ }
};
