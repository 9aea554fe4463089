// SPDX-License-Identifier: GPL-2.0
/* /dev/fsw_ekm_log: the log, for one reader. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "internal.h"

static DEFINE_MUTEX(reading);
static atomic_t opened;

static int logdev_open(struct inode *inode, struct file *file)
{
	return atomic_cmpxchg(&opened, 0, 1) ? -EBUSY : nonseekable_open(inode, file);
}

static int logdev_release(struct inode *inode, struct file *file)
{
	atomic_set(&opened, 0);
	return 0;
}

static bool readable(void)
{
	return READ_ONCE(fsw_log.head) != READ_ONCE(fsw_log.tail) || READ_ONCE(fsw_log.missing);
}

static ssize_t logdev_read(struct kiocb *iocb, struct iov_iter *to)
{
	ssize_t n;

	if (!iov_iter_count(to))
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&reading))
			return -ERESTARTSYS;
		n = fsw_log_read(to);
		if (!n) {
			fsw_log_tell();
			n = fsw_log_read(to);
		}
		mutex_unlock(&reading);
		if (n)
			return n;
		if (iocb->ki_filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(fsw_log.wait, readable()))
			return -ERESTARTSYS;
	}
}

static __poll_t logdev_poll(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &fsw_log.wait, table);
	return readable() ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations logdev_fops = {
	.owner = THIS_MODULE,
	.open = logdev_open,
	.release = logdev_release,
	.read_iter = logdev_read,
	.poll = logdev_poll,
};

static struct miscdevice logdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fsw_ekm_log",
	.fops = &logdev_fops,
	.mode = 0400,
};

int fsw_logdev_init(void)
{
	return misc_register(&logdev);
}

void fsw_logdev_exit(void)
{
	misc_deregister(&logdev);
}
