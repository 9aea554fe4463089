// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of choice points and of the write-set log. Each is at the first
 * instruction of a function. There, arguments are in registers, and the return
 * address is on top of the stack. ftrace calls the probe; in lib/, which is built
 * without ftrace, a breakpoint does. To fail a call, the probe runs another
 * function in place of the probed one, with the same arguments. That function
 * returns the error to the same caller.
 *
 * A probe that is hit in an interrupt, while the same processor handles another
 * one, is not handled. The kernel counts it as missed.
 */
#include <linux/bio.h>
#include <linux/buffer_head.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/uaccess.h>

#include "check.h"
#include "compat.h"
#include "internal.h"

/* The functions that replace calls that fail. */

static int no_memory(void)
{
	return -ENOMEM;
}

static void *null(void)
{
	return NULL;
}

/*
 * __bh_read() and ext4_read_bh() get a locked buffer, and filemap_read_folio() a
 * locked folio. They unlock it.
 */
static int buffer_not_read(struct buffer_head *bh)
{
	unlock_buffer(bh);
	return -EIO;
}

static int folio_not_read(struct file *file, void *filler, struct folio *folio)
{
	folio_unlock(folio);
	return -EIO;
}

static void *io_error_pointer(void)
{
	return ERR_PTR(-EIO);
}

static long fault(void)
{
	return -EFAULT;
}

/* Both return the number of bytes not copied. _copy_from_user() also clears these bytes. */
static unsigned long nothing_copied_from(void *to, const void __user *from, unsigned long n)
{
	memset(to, 0, n);
	return n;
}

static unsigned long nothing_copied_to(void __user *to, const void *from, unsigned long n)
{
	return n;
}

/* fault_in_iov_iter_readable() returns the number of bytes that are not readable. */
static size_t nothing_there(const struct iov_iter *iter, size_t size)
{
	return size;
}

static void bio_failed(struct bio *bio)
{
	bio_io_error(bio);
}

/* Pages that are not read ahead stay empty. filemap_read_folio() reads them later. */
static void not_read_ahead(struct readahead_control *rac)
{
	struct folio *folio;

	while ((folio = readahead_folio(rac)))
		folio_unlock(folio);
}

/* Reports whether an allocation must not fail. */
static bool exempt(const struct fsw_probe *p, struct pt_regs *regs)
{
	return p->gfp && regs_get_kernel_argument(regs, p->gfp - 1) & __GFP_NOFAIL;
}

#define POINT(symbol, p, f, g) { \
	.kp.symbol_name = symbol, .groups = 1U << (p), .point = p, .instead = f, .gfp = g }
#define SEE(symbol, f, t, a) { \
	.kp.symbol_name = symbol, .groups = 1U << FSW_GROUP_WRITES, .see = f, .type = t, .arg = a }
#define SEE_AND_CHECK(symbol, f, t, a, c) { \
	.kp.symbol_name = symbol, .groups = 1U << FSW_GROUP_WRITES | 1U << FSW_GROUP_CLEAN, \
	.see = f, .type = t, .arg = a, .check = c }
#define CHECK(symbol, group, f, a) { \
	.kp.symbol_name = symbol, .groups = 1U << (group), .arg = a, .check = f }
#define LOCK(symbol) CHECK(symbol, FSW_GROUP_LOCKS, fsw_lock_wanted, 0)
#define UNLOCK(symbol) CHECK(symbol, FSW_GROUP_LOCKS, fsw_lock_released, 0)
#define END(symbol, pair) CHECK(symbol, FSW_GROUP_PAIRS, fsw_pair_ends, pair)

static struct fsw_probe probes[] = {
	POINT("should_failslab", FSW_EK_SLAB, no_memory, 2),
	POINT("kmem_cache_alloc_noprof", FSW_EK_SLAB, null, 2),
	POINT("kmem_cache_alloc_lru_noprof", FSW_EK_SLAB, null, 3),
	POINT("kmem_cache_alloc_node_noprof", FSW_EK_SLAB, null, 2),
	POINT("kmem_cache_alloc_bulk_noprof", FSW_EK_SLAB, null, 2),
	POINT("__kmalloc_noprof", FSW_EK_SLAB, null, 2),
	POINT("__kmalloc_node_noprof", FSW_EK_SLAB, null, FSW_GFP_OF_NODE),
	POINT("__kmalloc_node_track_caller_noprof", FSW_EK_SLAB, null, FSW_GFP_OF_NODE),
	POINT("__kmalloc_cache_noprof", FSW_EK_SLAB, null, 2),
	POINT("__kmalloc_cache_node_noprof", FSW_EK_SLAB, null, 2),
	POINT(FSW_ALLOC_PAGES, FSW_EK_PAGE, null, 1),
	POINT("__bread_gfp", FSW_EK_BREAD, null, 0),
	POINT("__bh_read", FSW_EK_BREAD, buffer_not_read, 0),
	POINT("ext4_read_bh", FSW_EK_BREAD, buffer_not_read, 0),
	POINT("read_cache_folio", FSW_EK_READ, io_error_pointer, 0),
	POINT("read_cache_page", FSW_EK_READ, io_error_pointer, 0),
	POINT("read_cache_page_gfp", FSW_EK_READ, io_error_pointer, 0),
	POINT("filemap_read_folio", FSW_EK_READ, folio_not_read, 0),
	POINT("read_pages", FSW_EK_READ, not_read_ahead, 0),
	POINT("_copy_from_user", FSW_EK_USER, nothing_copied_from, 0),
	POINT("_copy_to_user", FSW_EK_USER, nothing_copied_to, 0),
	POINT("strncpy_from_user", FSW_EK_USER, fault, 0),
	POINT("fault_in_iov_iter_readable", FSW_EK_USER, nothing_there, 0),
	{
		.kp.symbol_name = "submit_bio_noacct",
		.groups = 1U << FSW_EK_SUBMIT | 1U << FSW_GROUP_WRITES,
		.point = FSW_EK_SUBMIT,
		.instead = bio_failed,
		.see = fsw_see_submit,
	},
	{
		.kp.symbol_name = "bio_endio",
		.groups = 1U << FSW_EK_END | 1U << FSW_GROUP_WRITES,
		.point = FSW_EK_END,
		.see = fsw_see_end,
	},
	SEE("mark_buffer_dirty", fsw_see_buffer, FSW_EK_T_BUFFER_DIRTY, 0),
	SEE("jbd2_journal_dirty_metadata", fsw_see_buffer, FSW_EK_T_BUFFER_JOURNAL, 1),
	SEE("__lock_buffer", fsw_see_buffer, FSW_EK_T_BUFFER_LOCK, 0),
	SEE("unlock_buffer", fsw_see_buffer, FSW_EK_T_BUFFER_UNLOCK, 0),
	SEE("submit_bh", fsw_see_submit_bh, FSW_EK_T_BUFFER_SUBMIT, 1),
	SEE_AND_CHECK("end_buffer_write_sync", fsw_see_written, FSW_EK_T_BUFFER_WRITTEN, 0,
		      fsw_clean_known),
	SEE_AND_CHECK("end_buffer_async_write", fsw_see_written, FSW_EK_T_BUFFER_WRITTEN, 0,
		      fsw_clean_known),
	SEE_AND_CHECK("__bforget", fsw_see_buffer, FSW_EK_T_BUFFER_FORGET, 0, fsw_clean_gone),
	SEE_AND_CHECK("jbd2_journal_forget", fsw_see_buffer, FSW_EK_T_BUFFER_FORGET, 1,
		      fsw_clean_gone),
	SEE("folio_mark_dirty", fsw_see_folio, FSW_EK_T_FOLIO_DIRTY, 0),
	SEE("folio_redirty_for_writepage", fsw_see_folio, FSW_EK_T_FOLIO_REDIRTY, 1),
	SEE("folio_clear_dirty_for_io", fsw_see_folio, FSW_EK_T_FOLIO_CLEAN, 0),
	SEE("__folio_cancel_dirty", fsw_see_folio, FSW_EK_T_FOLIO_CANCEL, 0),
	SEE("__folio_start_writeback", fsw_see_folio, FSW_EK_T_FOLIO_WRITEBACK, 0),
	SEE("folio_end_writeback", fsw_see_folio, FSW_EK_T_FOLIO_WRITTEN, 0),
	SEE("block_invalidate_folio", fsw_see_folio, FSW_EK_T_FOLIO_DROP, 0),
	CHECK("end_buffer_read_sync", FSW_GROUP_CLEAN, fsw_clean_known, 0),
	CHECK("free_buffer_head", FSW_GROUP_CLEAN, fsw_clean_gone, 0),
	CHECK("__mutex_init", FSW_GROUP_LOCKS, fsw_lock_made, 0),
	CHECK("__init_rwsem", FSW_GROUP_LOCKS, fsw_lock_made, 0),
	LOCK("mutex_lock"), LOCK("mutex_lock_io"),
	LOCK("mutex_lock_killable"), LOCK("mutex_lock_interruptible"),
	LOCK("down_read"), LOCK("down_read_killable"), LOCK("down_read_interruptible"),
	LOCK("down_write"), LOCK("down_write_killable"),
	UNLOCK("mutex_unlock"), UNLOCK("up_read"), UNLOCK("up_write"),
	END("jbd2_journal_stop", FSW_PAIR_HANDLE),
	END("mnt_drop_write", FSW_PAIR_WRITE), END("mnt_drop_write_file", FSW_PAIR_WRITE),
};

/* Makes a bio report an error. What it did stays done. */
static void end_badly(struct bio *bio)
{
	bio->bi_status = BLK_STS_IOERR;
}

/* Reports whether a probe was hit in a thread. A breakpoint itself counts as an NMI. */
static bool in_thread(struct kprobe *kp)
{
	unsigned int context = preempt_count();

	if (!kprobe_ftrace(kp))
		context -= NMI_OFFSET + HARDIRQ_OFFSET;
	return !(context & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

static u64 missed;	/* hits missed by probes that were removed */
static u32 wanted;	/* groups whose probes are in place */

static int hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct fsw_probe *p = container_of(kp, struct fsw_probe, kp);
	unsigned long caller = regs_get_kernel_stack_nth(regs, 0);

	if (p->point == FSW_EK_END) {
		struct bio *bio = (struct bio *)regs_get_kernel_argument(regs, 0);

		if (fsw_point_ask(p->point, in_thread(kp), caller, bio->bi_status))
			end_badly(bio);
	}
	if (p->check && READ_ONCE(fsw_check_what) && wanted & p->groups & FSW_GROUPS_CHECK)
		p->check(p, regs);
	if (p->see && fsw_logs(FSW_EK_LOG_WRITES))
		p->see(p, regs);
	if (p->instead && fsw_point_ask(p->point, in_thread(kp), caller, exempt(p, regs))) {
		regs->ip = (unsigned long)p->instead;
		return 1;
	}
	return 0;
}

/* A probe with a post handler is never optimized to a jump, which could not change ip. */
static void after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static int place(struct fsw_probe *p)
{
	const char *symbol = p->kp.symbol_name;
	int err;

	/* Clear what the kernel left in it the last time. */
	p->kp = (struct kprobe){ .symbol_name = symbol, .pre_handler = hit, .post_handler = after };
	err = register_kprobe(&p->kp);
	p->on = !err;
	return err;
}

static void remove_unwanted(void)
{
	struct kprobe *gone[ARRAY_SIZE(probes)];
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].on && !(probes[i].groups & wanted))
			gone[n++] = &probes[i].kp;
	if (!n)
		return;
	unregister_kprobes(gone, n);
	for (i = 0; i < n; i++) {
		missed += gone[i]->nmissed;
		container_of(gone[i], struct fsw_probe, kp)->on = false;
	}
}

/*
 * fsw_probes_exit() - remove all probes before the module is unloaded. It waits for
 * preempted threads that may still run a function of the module.
 */
void fsw_probes_exit(void)
{
	fsw_probes_want(0);
	synchronize_rcu_tasks();
}

/*
 * fsw_probes_want() - put exactly the probes of some groups in place.
 *
 * Functions that the kernel does not have are left out. Returns -ENOENT if it has
 * none of a group. The caller holds fsw_ctl_lock.
 */
int fsw_probes_want(u32 groups)
{
	u32 served = 0, before = wanted;
	int i, err;

	wanted = groups;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct fsw_probe *p = &probes[i];

		if (!(p->groups & groups))
			continue;
		err = p->on ? 0 : place(p);
		if (!err)
			served |= p->groups;
		else if (err != -ENOENT)
			goto undo;
	}
	err = -ENOENT;
	if (groups & ~served)
		goto undo;
	remove_unwanted();
	return 0;

undo:
	wanted = before;
	remove_unwanted();
	return err;
}

u32 fsw_probes_wanted(void)
{
	return wanted;
}

/* fsw_probes_on() - number of probes of a group that are in place. */
u32 fsw_probes_on(u32 group)
{
	u32 n = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		n += probes[i].on && probes[i].groups & 1U << group;
	return n;
}

u64 fsw_probes_missed(void)
{
	u64 n = missed;
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].on)
			n += probes[i].kp.nmissed;
	return n;
}
