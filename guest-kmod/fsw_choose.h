/* SPDX-License-Identifier: GPL-2.0 */
/* For other modules of the guest: take a choice of fsw_ekm. */
#ifndef FSW_CHOOSE_H
#define FSW_CHOOSE_H

#include <linux/types.h>

u32 fsw_ekm_choose(u32 bound);

#endif
