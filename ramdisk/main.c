// SPDX-License-Identifier: GPL-2.0
/* Loads and unloads the module. */
#include <linux/init.h>
#include <linux/module.h>

#include "devices.h"
#include "internal.h"

/* Structs of fsw_ramdisk.h have the same layout on all machines. */
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

/* No disk and no device is open: the kernel would not unload the module. */
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
MODULE_DESCRIPTION("fsward: disks in memory with a log, snapshots and injected failures");
MODULE_LICENSE("GPL");
