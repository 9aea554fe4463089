/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between the kernels that fsw_ramdisk builds for: 6.1 and 6.12 of Debian. */
#ifndef FSW_COMPAT_H
#define FSW_COMPAT_H

#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/version.h>

/*
 * Since 1122c0c1cc71 ("block: move cache control settings out of queue->flags",
 * 6.11) the features of a queue are part of the limits that it is made with.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define HAVE_QUEUE_FEATURES 1
#endif

/* Maximum sectors of a discard or a write of zeroes: the length of a bio has 32 bits. */
#define FSW_MAX_RANGE_SECTORS (UINT_MAX >> SECTOR_SHIFT)

/*
 * fsw_alloc_gendisk() - allocate a disk with 512-byte sectors, a volatile write
 * cache, FUA, discard and write-zeroes.
 */
#ifdef HAVE_QUEUE_FEATURES
static inline struct gendisk *fsw_alloc_gendisk(void)
{
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = SECTOR_SIZE,
		.discard_granularity = SECTOR_SIZE,
		.max_hw_discard_sectors = FSW_MAX_RANGE_SECTORS,
		.max_write_zeroes_sectors = FSW_MAX_RANGE_SECTORS,
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA | BLK_FEAT_IO_STAT,
	};

	return blk_alloc_disk(&limits, NUMA_NO_NODE);
}
#else
static inline struct gendisk *fsw_alloc_gendisk(void)
{
	struct gendisk *gd = blk_alloc_disk(NUMA_NO_NODE);

	if (!gd)
		return ERR_PTR(-ENOMEM);
	blk_queue_logical_block_size(gd->queue, SECTOR_SIZE);
	blk_queue_physical_block_size(gd->queue, SECTOR_SIZE);
	gd->queue->limits.discard_granularity = SECTOR_SIZE;
	blk_queue_max_discard_sectors(gd->queue, FSW_MAX_RANGE_SECTORS);
	blk_queue_max_write_zeroes_sectors(gd->queue, FSW_MAX_RANGE_SECTORS);
	blk_queue_write_cache(gd->queue, true, true);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, gd->queue);
	blk_queue_flag_set(QUEUE_FLAG_IO_STAT, gd->queue);
	return gd;
}
#endif

#endif
