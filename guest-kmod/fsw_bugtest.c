// SPDX-License-Identifier: GPL-2.0
/*
 * Planted bugs, to test what finds them: each n-th call of a function of the kernel
 * misbehaves first, in the thread of the caller. The kinds:
 *
 * bounds     reads behind an object
 * freed      reads an object that was freed
 * lost       loses an object
 * list       adds to a corrupt list
 * inversion  takes two locks in both orders
 * held       keeps a lock
 * pair       gets write access to a mount, and keeps it
 * skip       returns 0, and does not call the function
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>

static char *symbol = "vfs_link";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function whose calls misbehave (vfs_link)");

static char *kind = "bounds";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "bounds, freed, lost, list, inversion, held, pair or skip (bounds)");

static unsigned int every = 1;
module_param(every, uint, 0444);
MODULE_PARM_DESC(every, "number of calls for each bug, at least 1 (1)");

#define OBJECT 100	/* bytes, below the 128 of its slab */

static void read_behind(void)
{
	char *p = kmalloc(OBJECT, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);	/* the compiler would warn */
	READ_ONCE(p[OBJECT]);
	kfree(p);
}

static void read_freed(void)
{
	char *p = kmalloc(OBJECT, GFP_KERNEL);

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	if (p)
		READ_ONCE(*p);
}

/* KMEMLEAK scans stacks, and the address of the last object can remain on one. */
static void lose(void)
{
	int i;

	for (i = 0; i < 16; i++)
		kmalloc(OBJECT, GFP_KERNEL);
}

/* An entry is added between two others, of which the second does not point back. */
static void corrupt_list(void)
{
	struct list_head head, first, second;

	INIT_LIST_HEAD(&head);
	list_add(&first, &head);
	head.prev = &head;
	list_add(&second, &first);
}

static DEFINE_MUTEX(outer);
static DEFINE_MUTEX(inner);

/* Two threads could wait for each other here. */
static void invert(void)
{
	mutex_lock(&outer);
	mutex_lock(&inner);
	mutex_unlock(&inner);
	mutex_unlock(&outer);
	mutex_lock(&inner);
	mutex_lock(&outer);
	mutex_unlock(&outer);
	mutex_unlock(&inner);
}

static struct mutex kept[64];	/* a thread that takes one twice would wait forever */
static atomic_t keeps;

static void keep(void)
{
	unsigned int n = atomic_inc_return(&keeps) - 1;

	if (n < ARRAY_SIZE(kept))
		mutex_lock(&kept[n]);
}

static void want_write(void)
{
	struct path root;

	get_fs_root(current->fs, &root);
	if (mnt_want_write(root.mnt))
		pr_warn("fsw_bugtest: the root cannot be written\n");
	path_put(&root);
}

static const struct {
	const char *kind;
	void (*bug)(void);
} bugs[] = {
	{ "bounds", read_behind }, { "freed", read_freed }, { "lost", lose },
	{ "list", corrupt_list }, { "inversion", invert }, { "held", keep },
	{ "pair", want_write }, { "skip", NULL },
};

static void (*bug)(void);	/* NULL: skip the call */
static atomic_t calls;
static struct kprobe probe;

/*
 * Runs in place of the function. A probe must not sleep; this may. The function goes
 * on behind the call of ftrace at its beginning, with the same arguments.
 */
static long misbehave(long a, long b, long c, long d, long e, long f)
{
	long (*rest)(long, long, long, long, long, long) =
		(void *)probe.addr + MCOUNT_INSN_SIZE;

	if (atomic_inc_return(&calls) % every == 0) {
		if (!bug)
			return 0;
		bug();
	}
	return rest(a, b, c, d, e, f);
}

static int called(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)misbehave;
	return 1;
}

/* With it, the probe is never optimized to a jump, which could not change ip. */
static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static int __init bugtest_init(void)
{
	bool known = false;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(bugs); i++)
		if (!strcmp(kind, bugs[i].kind)) {
			bug = bugs[i].bug;
			known = true;
		}
	if (!every || !known)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		mutex_init(&kept[i]);
	probe.symbol_name = symbol;
	probe.pre_handler = called;
	probe.post_handler = after;
	err = register_kprobe(&probe);
	if (err)
		return err;
	if (kprobe_ftrace(&probe))
		return 0;
	unregister_kprobe(&probe);	/* the function does not begin with a call of ftrace */
	return -EOPNOTSUPP;
}

static void __exit bugtest_exit(void)
{
	unregister_kprobe(&probe);
	synchronize_rcu_tasks();	/* for threads in misbehave() that were preempted */
}

module_init(bugtest_init);
module_exit(bugtest_exit);
MODULE_DESCRIPTION("fsward: misbehaves, to test what finds bugs of the kernel");
MODULE_LICENSE("GPL");
