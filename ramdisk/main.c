// SPDX-License-Identifier: GPL-2.0
/* The module. */
#include <linux/init.h>
#include <linux/module.h>

#include "devices.h"
#include "internal.h"

/* The user's header gives structs the same layout everywhere. */
static_assert(sizeof(struct fsw_rd_record) == 96);
static_assert(sizeof(struct fsw_rd_rule) == 40);
static_assert(sizeof(struct fsw_rd_stat) == 72);
static_assert(sizeof(struct fsw_chunk) + FSW_CHUNK_SLOTS * sizeof(struct fsw_slot) <= PAGE_SIZE);

static int __init fsw_init(void)
{
	int err;

	fsw_wq = alloc_workqueue("fsw_ramdisk", WQ_MEM_RECLAIM, 0);
	if (!fsw_wq)
		return -ENOMEM;
	err = fsw_devices_init();
	if (err)
		goto destroy_wq;
	return 0;

destroy_wq:
	destroy_workqueue(fsw_wq);
	return err;
}

/* Nobody has a disk or a device open, or the module would not be unloaded. */
static void __exit fsw_exit(void)
{
	fsw_devices_exit();
	fsw_disk_remove_all();
	destroy_workqueue(fsw_wq);
	fsw_ring_free();
	WARN_ON(atomic_long_read(&fsw_pages));
}

module_init(fsw_init);
module_exit(fsw_exit);
MODULE_DESCRIPTION("fsward: disks in memory with a log, snapshots and chosen errors");
MODULE_LICENSE("GPL");
