/* SPDX-License-Identifier: GPL-2.0 */
/* What check.c, lock.c, pair.c and clean.c share. */
#ifndef FSW_CHECK_H
#define FSW_CHECK_H

#include <linux/sched.h>
#include <linux/spinlock.h>

#include "fsw_ekm.h"

#define FSW_WINDOW	8	/* places for an entry of a hash table */
#define FSW_HELD	16	/* locks that a thread holds */
#define FSW_PAIRS	2	/* entries of the table in pair.c */

struct fsw_held {
	u64 lock;		/* address */
	unsigned long site;	/* where it was taken */
};

/* A thread that holds something. */
struct fsw_task {
	struct task_struct *task;	/* NULL: free; not a reference */
	u32 n;				/* length of held */
	struct fsw_held held[FSW_HELD];
	struct {
		s32 n;
		unsigned long site;	/* of the last begin */
	} begun[FSW_PAIRS];
};

extern spinlock_t fsw_check_lock;
extern u32 fsw_check_what;	/* FSW_EK_CHECK_* */

/* check.c. The caller of these holds fsw_check_lock. */
struct fsw_task *fsw_task(bool make);
void fsw_task_each(bool (*f)(struct fsw_task *t, u64 arg), u64 arg);
void fsw_task_put(struct fsw_task *t);
void fsw_finding(u32 kind, const char *text);
void fsw_check_full(void);

/* lock.c */
int fsw_locks_alloc(void);
void fsw_locks_free(void);
void fsw_locks_forget(void);
void fsw_locks_left(const struct fsw_task *t, int nr);

/* pair.c */
int fsw_pairs_want(bool on);
void fsw_pairs_left(const struct fsw_task *t, int nr);

/* clean.c */
int fsw_clean_alloc(void);
void fsw_clean_free(void);
void fsw_clean_forget(void);
void fsw_clean_check(void);

#endif
