/* SPDX-License-Identifier: GPL-2.0 */
/* For other modules of the guest: order their records among those of the RAM disks. */
#ifndef FSW_RD_SEQ_H
#define FSW_RD_SEQ_H

#include <linux/types.h>

u64 fsw_rd_log_seq(void);

#endif
