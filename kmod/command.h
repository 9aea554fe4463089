/* SPDX-License-Identifier: GPL-2.0 */
/* The control device: takes commands by ioctl(2), or by write(2) and read(2). */
#ifndef FSW_COMMAND_H
#define FSW_COMMAND_H

#include <linux/mutex.h>
#include <linux/types.h>

/*
 * run() gets the struct of the command, whose size is part of the command's
 * number, and puts the answer into it.
 */
struct fsw_command {
	u32 cmd;
	int (*run)(void *arg);
};

/* The commands of the module. The last entry has no function. */
extern const struct fsw_command fsw_commands[];

extern struct mutex fsw_ctl_lock;	/* held while a command runs */

int fsw_ctl_init(void);
void fsw_ctl_exit(void);

#endif
