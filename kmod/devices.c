// SPDX-License-Identifier: GPL-2.0
/* The two devices of a module, and the check of a mark. */
#include <linux/errno.h>

#include "command.h"
#include "devices.h"
#include "ring.h"

/* fsw_devices_init() - register the log device, and then the control device. */
int fsw_devices_init(void)
{
	int err;

	err = fsw_logdev_init();
	if (err)
		return err;
	err = fsw_ctl_init();
	if (err)
		goto exit_logdev;
	return 0;

exit_logdev:
	fsw_logdev_exit();
	return err;
}

/* fsw_devices_exit() - remove both devices. They are not open when the module is unloaded. */
void fsw_devices_exit(void)
{
	fsw_ctl_exit();
	fsw_logdev_exit();
}

/*
 * fsw_mark_check() - check the struct of a mark, and allocate the log.
 * @len: bytes of the text
 * @pad: must be 0
 * @room: maximum bytes of a text
 */
int fsw_mark_check(u32 len, u32 pad, size_t room)
{
	if (pad || !len || len > room)
		return -EINVAL;
	return fsw_ring_alloc();
}
