// SPDX-License-Identifier: GPL-2.0
/* /dev/MODULE: passes commands to their functions, and answers back. One command runs at a time. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "command.h"

/* The largest struct of a command. */
#define MAX_ARG 4608

/* An open file, with the answer to its last command. */
struct session {
	struct mutex lock;	/* held while a command or a read runs */
	size_t answer;		/* bytes in arg that read() returns; 0: no answer */
	u8 arg[MAX_ARG] __aligned(8);
};

/* The same as struct fsw_rd_call and struct fsw_ek_do. */
struct call {
	u32 cmd;
	u32 size;
};

DEFINE_MUTEX(fsw_ctl_lock);

static int run(u32 cmd, void *arg)
{
	const struct fsw_command *c;
	int err;

	for (c = fsw_commands; c->run && c->cmd != cmd; c++)
		;
	if (!c->run)
		return -ENOTTY;
	mutex_lock(&fsw_ctl_lock);
	err = c->run(arg);
	mutex_unlock(&fsw_ctl_lock);
	return err;
}

static int command_open(struct inode *inode, struct file *file)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	mutex_init(&s->lock);
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int command_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static long command_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct session *s = file->private_data;
	void __user *arg = (void __user *)user;
	size_t size = _IOC_SIZE(cmd);
	int err;

	if (size > sizeof(s->arg))
		return -ENOTTY;
	mutex_lock(&s->lock);
	s->answer = 0;
	memset(s->arg, 0, size);
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(s->arg, arg, size))
		err = -EFAULT;
	else
		err = run(cmd, s->arg);
	if (!err && _IOC_DIR(cmd) & _IOC_READ && copy_to_user(arg, s->arg, size))
		err = -EFAULT;
	mutex_unlock(&s->lock);
	return err;
}

static ssize_t command_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct session *s = file->private_data;
	struct call call;
	int err;

	if (count < sizeof(call))
		return -EINVAL;
	if (copy_from_user(&call, buf, sizeof(call)))
		return -EFAULT;
	if (call.size != count - sizeof(call) || call.size != _IOC_SIZE(call.cmd) ||
	    call.size > sizeof(s->arg))
		return -EINVAL;
	mutex_lock(&s->lock);
	s->answer = 0;
	if (copy_from_user(s->arg, buf + sizeof(call), call.size))
		err = -EFAULT;
	else
		err = run(call.cmd, s->arg);
	if (!err && _IOC_DIR(call.cmd) & _IOC_READ)
		s->answer = call.size;
	mutex_unlock(&s->lock);
	return err ?: count;
}

/* Returns the answer to the last command, once and as a whole. */
static ssize_t command_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct session *s = file->private_data;
	ssize_t n;

	mutex_lock(&s->lock);
	n = s->answer;
	if (count < n)
		n = -EINVAL;
	else if (copy_to_user(buf, s->arg, n))
		n = -EFAULT;
	else
		s->answer = 0;
	mutex_unlock(&s->lock);
	return n;
}

static const struct file_operations command_fops = {
	.owner = THIS_MODULE,
	.open = command_open,
	.release = command_release,
	.read = command_read,
	.write = command_write,
	.unlocked_ioctl = command_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice ctl = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME,
	.fops = &command_fops,
	.mode = 0600,
};

int fsw_ctl_init(void)
{
	return misc_register(&ctl);
}

void fsw_ctl_exit(void)
{
	misc_deregister(&ctl);
}
