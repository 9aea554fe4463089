/* SPDX-License-Identifier: GPL-2.0 */
/* The two devices of a module, shared by both modules. */
#ifndef FSW_DEVICES_H
#define FSW_DEVICES_H

#include <linux/types.h>

int fsw_devices_init(void);
void fsw_devices_exit(void);

int fsw_mark_check(u32 len, u32 pad, size_t room);

#endif
