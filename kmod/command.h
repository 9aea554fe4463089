/* SPDX-License-Identifier: GPL-2.0 */
/* A device that takes commands, by ioctl(2) or by write(2) and read(2). */
#ifndef FSW_COMMAND_H
#define FSW_COMMAND_H

#include <linux/mutex.h>
#include <linux/types.h>

/* A command is given its struct, which has the size that its number says, and puts its answer there. */
struct fsw_command {
	u32 cmd;
	int (*run)(void *arg);
};

/* The module has one table, which ends with an entry without a function. */
extern const struct fsw_command fsw_commands[];

extern struct mutex fsw_ctl_lock;	/* held while a command runs */

int fsw_ctl_init(void);
void fsw_ctl_exit(void);

#endif
