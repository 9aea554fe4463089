/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fsw_ekm: choices, choice points, and logs of what a file system does, in an
 * unmodified kernel.
 *
 * main.c     loads and unloads the module
 * member.c   the members of the checked system: process trees and threads
 * site.c     call sites
 * choose.c   the sequence of choices
 * point.c    choice points in the kernel
 * writeset.c the write set: blocks that become dirty, are submitted and written
 * syscall.c  the log of system calls that change files
 * probe.c    the probes of point.c and writeset.c, in place while they are needed
 * check.c    what the checks of lock.c, pair.c and clean.c share
 * lock.c     the graph of locks
 * pair.c     calls that come in pairs
 * clean.c    buffers that change and stay clean
 * thread.c   kernel threads: those that serve the file system, and held ones
 * log.c      the records of the log
 * ctl.c      the commands
 * From kmod/, shared with fsw_ramdisk: ring.c, the ring buffer of the log;
 * command.c, the control device; devices.c, both devices together.
 *
 * Probes are hit in any context. Spinlocks, taken with interrupts off, protect what
 * they share with commands. Lock order: fsw_check_lock or choose_lock, site_lock,
 * fsw_log_lock.
 * Commands run one at a time, under fsw_ctl_lock.
 */
#ifndef FSW_INTERNAL_H
#define FSW_INTERNAL_H

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "fsw_ekm.h"
#include "ring.h"

/* member.c */

bool fsw_is_member(void);
int fsw_member_set(const struct fsw_ek_member *m);

/* site.c */

#define FSW_FRAMES 32

/* A call site. */
struct fsw_site {
	unsigned int n;				/* length of frames */
	unsigned long frames[FSW_FRAMES];	/* return addresses, the innermost first */
	u64 stack;				/* hash of the frames */
	char text[FSW_EK_TEXT];			/* the first frame of no inner function */
};

int fsw_site_init(void);
void fsw_site_exit(void);
u64 fsw_hash_text(const char *text);
void fsw_site_take(struct fsw_site *site, unsigned long caller);
bool fsw_site_has(const struct fsw_site *site, u64 symbol);
void fsw_symbol(char *text, unsigned long address);

/* choose.c */

/* fsw_choose.h declares what other modules call. */
int fsw_choose_init(void);
void fsw_choose_exit(void);
u32 fsw_choose(u32 point, u32 bound, const struct fsw_site *site);
u32 fsw_choose_call(u32 bound, const struct fsw_site *site);
int fsw_choose_load(const struct fsw_ek_load *l);
void fsw_choose_start(void);
void fsw_choose_state(struct fsw_ek_run *r);
int fsw_choose_taken(struct fsw_ek_taken *t);

/* point.c */

int fsw_point_init(void);
void fsw_point_exit(void);
bool fsw_point_ask(u32 point, bool thread, unsigned long caller, bool exempt);
int fsw_point_set(const struct fsw_ek_set *set);
int fsw_point_stat(struct fsw_ek_stat *stat);
int fsw_point_sites(struct fsw_ek_sites *sites);

/* probe.c */

/* Groups of probes: points, and */
#define FSW_GROUP_WRITES 31	/* the write set */
#define FSW_GROUP_LOCKS 30	/* the checks */
#define FSW_GROUP_PAIRS 29
#define FSW_GROUP_CLEAN 28
#define FSW_GROUPS_CHECK (1U << FSW_GROUP_LOCKS | 1U << FSW_GROUP_PAIRS | 1U << FSW_GROUP_CLEAN)

struct fsw_probe {
	struct kprobe kp;
	u32 groups;		/* bit 1 << group for each group that needs the probe */
	u32 point;		/* enum fsw_ek_point; 0: none */
	u32 gfp;		/* number of the argument with GFP flags, from 1; 0: none */
	void *instead;		/* function that replaces a call that fails */
	/* see() logs an event of the write set. */
	void (*see)(const struct fsw_probe *p, struct pt_regs *regs);
	u32 type;		/* enum fsw_ek_type, for see() */
	u32 arg;		/* number of the argument that see() logs, from 0; of check() */
	/* check() is called while its group is wanted. */
	void (*check)(const struct fsw_probe *p, struct pt_regs *regs);
	bool on;		/* in place */
};

int fsw_probes_want(u32 groups);
void fsw_probes_exit(void);
u32 fsw_probes_wanted(void);
u32 fsw_probes_on(u32 group);
u64 fsw_probes_missed(void);

/* writeset.c */

void fsw_see_buffer(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_see_submit_bh(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_see_written(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_see_folio(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_see_submit(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_see_end(const struct fsw_probe *p, struct pt_regs *regs);
int fsw_watch(const struct fsw_ek_watch *w);

/* syscall.c */

int fsw_syscalls_init(void);
void fsw_syscalls_exit(void);
int fsw_syscalls_want(bool on);
u64 fsw_syscalls_missed(void);
u32 fsw_syscalls_on(void);

/* thread.c */

void fsw_thread_saw(void);
int fsw_threads(struct fsw_ek_threads *a);
int fsw_hold(struct fsw_ek_hold *a);
void fsw_stray(struct fsw_ek_stray *a);
void fsw_release_all(void);

/* check.c */

int fsw_check(const struct fsw_ek_check *c);
int fsw_findings(struct fsw_ek_findings *a);
void fsw_check_exit(void);

/* lock.c */

void fsw_lock_made(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_lock_wanted(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_lock_released(const struct fsw_probe *p, struct pt_regs *regs);
int fsw_edges(struct fsw_ek_edges *a);

/* pair.c */

enum fsw_pair {
	FSW_PAIR_HANDLE,	/* a handle of a journal */
	FSW_PAIR_WRITE,		/* write access to a mount */
};

void fsw_pair_ends(const struct fsw_probe *p, struct pt_regs *regs);

/* clean.c */

void fsw_clean_known(const struct fsw_probe *p, struct pt_regs *regs);
void fsw_clean_gone(const struct fsw_probe *p, struct pt_regs *regs);

/* log.c */

extern spinlock_t fsw_log_lock;	/* of the ring */
extern u32 fsw_log_what;	/* FSW_EK_LOG_*: what is logged */

u64 fsw_log_put(struct fsw_ek_record *rec, const void *data, const void *more);
void fsw_log_order(bool on);

static inline bool fsw_logs(u32 what)
{
	return READ_ONCE(fsw_log_what) & what;
}

#endif
