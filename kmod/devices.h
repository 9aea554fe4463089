/* SPDX-License-Identifier: GPL-2.0 */
/* What both modules do alike with their two devices and with their log. */
#ifndef FSW_DEVICES_H
#define FSW_DEVICES_H

#include <linux/types.h>

int fsw_devices_init(void);
void fsw_devices_exit(void);

int fsw_mark_check(u32 len, u32 pad, size_t room);

#endif
