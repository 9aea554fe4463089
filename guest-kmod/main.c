// SPDX-License-Identifier: GPL-2.0
/* Loads and unloads the module. */
#include <linux/init.h>
#include <linux/module.h>

#include "devices.h"
#include "internal.h"

/* Structs of fsw_ekm.h have the same layout on all machines. */
static_assert(sizeof(struct fsw_ek_record) == 112);
static_assert(sizeof(struct fsw_ek_syscall) == 80);
static_assert(sizeof(struct fsw_ek_choice) == 128);
static_assert(sizeof(struct fsw_ek_thread) == 144);
static_assert(sizeof(struct fsw_ek_finding) == 216);
static_assert(sizeof(struct fsw_ek_edge) == 304);

static int __init fsw_init(void)
{
	int err;

	err = fsw_site_init();
	if (err)
		return err;
	err = fsw_choose_init();
	if (err)
		goto exit_site;
	err = fsw_point_init();
	if (err)
		goto exit_choose;
	err = fsw_syscalls_init();
	if (err)
		goto exit_point;
	err = fsw_devices_init();
	if (err)
		goto exit_syscalls;
	return 0;

exit_syscalls:
	fsw_syscalls_exit();
exit_point:
	fsw_point_exit();
exit_choose:
	fsw_choose_exit();
exit_site:
	fsw_site_exit();
	return err;
}

static void __exit fsw_exit(void)
{
	fsw_devices_exit();
	fsw_check_exit();
	fsw_syscalls_want(false);
	fsw_probes_exit();
	fsw_log_order(false);
	fsw_release_all();
	fsw_ring_free();
	fsw_syscalls_exit();
	fsw_point_exit();
	fsw_choose_exit();
	fsw_site_exit();
}

module_init(fsw_init);
module_exit(fsw_exit);
MODULE_DESCRIPTION("fsward: choices, choice points and the write set of a file system");
MODULE_LICENSE("GPL");
