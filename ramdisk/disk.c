// SPDX-License-Identifier: GPL-2.0
/* Makes and removes disks. */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "internal.h"

/* The table of disks, under fsw_ctl_lock. */
static struct fsw_disk *disks[FSW_RD_DISKS];

static const struct block_device_operations fsw_fops = {
	.owner = THIS_MODULE,
	.submit_bio = fsw_submit_bio,
};

struct fsw_disk *fsw_disk_get(u32 number)
{
	struct fsw_disk *d = number < FSW_RD_DISKS ? disks[number] : NULL;

	return d ?: ERR_PTR(-ENXIO);
}

u32 fsw_disk_count(void)
{
	u32 i, n = 0;

	for (i = 0; i < FSW_RD_DISKS; i++)
		n += !!disks[i];
	return n;
}

int fsw_disk_make(u32 number, u64 bytes)
{
	struct fsw_disk *d;
	int err;

	if (number >= FSW_RD_DISKS || bytes > FSW_RD_MAX_BYTES || bytes % FSW_RD_PAGE)
		return -EINVAL;
	if (disks[number])
		return -EEXIST;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	mutex_init(&d->lock);
	init_waitqueue_head(&d->idle);
	INIT_LIST_HEAD(&d->delayed);
	d->number = number;
	err = fsw_store_init(&d->store, bytes >> PAGE_SHIFT);
	if (err)
		goto free_disk;
	d->gd = fsw_alloc_gendisk();
	if (IS_ERR(d->gd)) {
		err = PTR_ERR(d->gd);
		goto free_store;
	}
	snprintf(d->gd->disk_name, sizeof(d->gd->disk_name), "fswrd%u", number);
	d->gd->flags |= GENHD_FL_NO_PART;
	d->gd->fops = &fsw_fops;
	d->gd->private_data = d;
	set_capacity(d->gd, bytes >> SECTOR_SHIFT);
	err = add_disk(d->gd);
	if (err)
		goto put_disk;
	disks[number] = d;
	return 0;

put_disk:
	put_disk(d->gd);
free_store:
	fsw_store_free(&d->store);
free_disk:
	kfree(d);
	return err;
}

static void disk_free(u32 number)
{
	struct fsw_disk *d = disks[number];

	disks[number] = NULL;
	del_gendisk(d->gd); /* after this no bio is submitted */
	fsw_disk_quiesce(d);
	mutex_unlock(&d->lock);
	flush_workqueue(fsw_wq); /* wait for work that has unlocked d and not returned yet */
	put_disk(d->gd);
	fsw_store_free(&d->store);
	kfree(d);
}

/*
 * fsw_disk_remove() - remove a disk that is not open.
 *
 * A process that opens it after the check sees a disk that was unplugged.
 */
int fsw_disk_remove(u32 number)
{
	struct fsw_disk *d = fsw_disk_get(number);

	if (IS_ERR(d))
		return PTR_ERR(d);
	if (disk_openers(d->gd))
		return -EBUSY;
	disk_free(number);
	return 0;
}

void fsw_disk_remove_all(void)
{
	u32 i;

	for (i = 0; i < FSW_RD_DISKS; i++)
		if (disks[i])
			disk_free(i);
}
