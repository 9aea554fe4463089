// SPDX-License-Identifier: GPL-2.0
/*
 * A planted memory bug, to test the means that find such bugs: each call, or each
 * n-th call, of a function of the kernel loses memory, or reads memory that it has
 * freed.
 */
#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

static char *symbol = "vfs_link";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function whose calls have the bug (vfs_link)");

static char *kind = "slab";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "what is lost: slab, page or vmalloc; or freed: read after free (slab)");

static unsigned int bytes = 255;
module_param(bytes, uint, 0444);
MODULE_PARM_DESC(bytes, "bytes of each lost object of slab or vmalloc (255)");

static unsigned int every = 1;
module_param(every, uint, 0444);
MODULE_PARM_DESC(every, "number of calls for each bug, at least 1 (1)");

static atomic_t calls;

static noinline void read_freed(void)
{
	char *p = kmalloc(bytes, GFP_KERNEL);

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);	/* the compiler would warn */
	if (p)
		READ_ONCE(*p);
}

/* The bug is in a work item, because a probe must not sleep. */
static void lose(struct work_struct *unused)
{
	if (!strcmp(kind, "page"))
		alloc_page(GFP_KERNEL);
	else if (!strcmp(kind, "vmalloc"))
		vmalloc(bytes);
	else if (!strcmp(kind, "freed"))
		read_freed();
	else
		kmalloc(bytes, GFP_KERNEL);
}

struct loss {
	struct work_struct work;
};

static struct loss losses[64];	/* a work item that is pending cannot be queued again */

static int called(struct kprobe *p, struct pt_regs *regs)
{
	unsigned int n = atomic_inc_return(&calls);

	if (n % every == 0)
		schedule_work(&losses[n / every % ARRAY_SIZE(losses)].work);
	return 0;
}

static struct kprobe probe = { .pre_handler = called };

static int __init leaktest_init(void)
{
	int i;

	if (!every)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(losses); i++)
		INIT_WORK(&losses[i].work, lose);
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}

static void __exit leaktest_exit(void)
{
	int i;

	unregister_kprobe(&probe);
	for (i = 0; i < ARRAY_SIZE(losses); i++)
		cancel_work_sync(&losses[i].work);
}

module_init(leaktest_init);
module_exit(leaktest_exit);
MODULE_DESCRIPTION("fsward: misuses memory, to test what finds leaks and reads after free");
MODULE_LICENSE("GPL");
