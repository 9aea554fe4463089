/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fsw_ramdisk: disks in memory, with a log of every bio, snapshots and injected
 * failures.
 *
 * main.c     loads and unloads the module
 * disk.c     makes and removes disks
 * bio.c      performs bios
 * delay.c    delayed bios, of rules and of guarded disks
 * store.c    the contents of a disk, page by page
 * snapshot.c snapshots of the contents
 * log.c      the records of the log
 * inject.c   rules that inject failures
 * ctl.c      the commands
 * From kmod/, shared with fsw_ekm: ring.c, the ring buffer of the log; command.c,
 * the control device; devices.c, both devices together.
 *
 * Lock order: fsw_ctl_lock, fsw_disk.lock, fsw_log_lock. All are mutexes, because
 * submit_bio of a disk without a request queue may sleep.
 */
#ifndef FSW_INTERNAL_H
#define FSW_INTERNAL_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "fsw_ramdisk.h"
#include "ring.h"

/* Copies from kernel memory, which cannot fail. */
static inline void fsw_copy_from(void *to, size_t n, struct iov_iter *from)
{
	WARN_ON_ONCE(copy_from_iter(to, n, from) != n);
}

/* store.c, snapshot.c */

/*
 * A snapshot is a node of a tree. The root of the tree is the present contents of
 * the disk. A snapshot holds the pages in which it differs from toward, the next
 * node on the path to the root. To restore a snapshot, that path is walked and
 * each difference is inverted (Baker's rerooting), so that the cost depends on the
 * pages that differ. Only one snapshot, base, is next to the root. It gets the old
 * contents of each page that is written for the first time after it was made.
 *
 * A snapshot without a name was dropped while it had two or more children.
 */
struct fsw_snap {
	struct list_head node;		/* in fsw_store.snaps */
	struct fsw_snap *toward;	/* the parent; NULL: the disk itself */
	struct fsw_snap *back;		/* the way back, while one is restored */
	struct list_head chunks;	/* of struct fsw_chunk; each page once */
	u64 pages;			/* number of pages in chunks */
	unsigned int children;		/* number of snapshots whose parent is this one */
	char name[FSW_RD_NAME];
};

struct fsw_slot {
	u64 page;		/* number of the page */
	struct page *data;	/* NULL: zeros */
};

#define FSW_CHUNK_SLOTS \
	((PAGE_SIZE - sizeof(struct list_head) - sizeof(u64)) / sizeof(struct fsw_slot))

struct fsw_chunk {
	struct list_head node;
	u64 used;
	struct fsw_slot slots[];
};

/* Set in an entry of live if the base has the old contents of the page. */
#define FSW_SAVED 1UL

struct fsw_store {
	u64 npages;
	unsigned long *live;		/* struct page * (NULL: zeros) | FSW_SAVED */
	unsigned long *scratch;		/* a bit for each page; all 0 between calls */
	struct fsw_snap *base;
	struct list_head snaps;
	unsigned int named;		/* number of snapshots with a name */
	u64 pages;			/* number of pages in live */
	u64 kept;			/* number of pages in snapshots */
};

int fsw_store_init(struct fsw_store *s, u64 npages);
void fsw_store_free(struct fsw_store *s);
int fsw_store_write(struct fsw_store *s, u64 pos, u64 len, struct iov_iter *from);
int fsw_store_zero(struct fsw_store *s, u64 pos, u64 len);
void fsw_store_read(struct fsw_store *s, u64 pos, u64 len, struct iov_iter *to);
struct page *fsw_store_page(const struct fsw_store *s, u64 page);
struct page *fsw_page_alloc(gfp_t gfp);
void fsw_page_free(struct page *page);
extern atomic_long_t fsw_pages;

int fsw_snap_save(struct fsw_store *s, u64 number);
int fsw_snap_make(struct fsw_store *s, const char *name);
int fsw_snap_restore(struct fsw_store *s, const char *name, u64 *pages);
int fsw_snap_drop(struct fsw_store *s, const char *name);
int fsw_snap_changed(struct fsw_store *s, struct fsw_rd_changed *answer);
void fsw_snap_free_all(struct fsw_store *s);

/* inject.c */

struct fsw_rule {
	struct fsw_rd_rule r;
	u64 seen;		/* bios that the rule has counted */
};

struct fsw_rules {
	struct fsw_rule rule[FSW_RD_RULES];
	unsigned int n;
	u64 fired;		/* hits */
};

/* What happens to a bio. */
struct fsw_fate {
	u32 injected;		/* bit 1 << action for each rule that applies */
	u32 error;		/* errno; 0: none */
	u64 tear;		/* bytes that take effect at most */
	unsigned int delay_ms;	/* 0: perform it at once */
	bool held;		/* waits for an answer, and fails without one */
};

int fsw_rules_add(struct fsw_rules *rules, const struct fsw_rd_rule *r);
unsigned int fsw_rules_armed(const struct fsw_rules *rules);
void fsw_rules_ask(struct fsw_rules *rules, u32 op, u32 flags, struct fsw_fate *fate);

/* disk.c, bio.c, delay.c */

struct fsw_disk {
	struct mutex lock;		/* of all fields below */
	unsigned int number;
	struct gendisk *gd;
	struct fsw_store store;
	struct fsw_rules rules;
	bool logging;
	bool guarded;			/* bios other than reads wait for an answer */
	u64 submitted, completed, no_memory;
	struct list_head delayed;	/* of struct fsw_io */
	wait_queue_head_t idle;		/* woken when delayed becomes empty */
};

/* A bio that is being performed. */
struct fsw_io {
	struct fsw_disk *disk;
	struct bio *bio;
	struct fsw_rd_record rec;
	struct fsw_fate fate;
	bool logged;			/* SUBMIT was logged */
	unsigned long start;		/* result of bio_start_io_acct() */
	/* Only of delayed bios: */
	ktime_t due;			/* not performed before */
	void *data;			/* copy of the data of a write */
	struct list_head node;		/* in fsw_disk.delayed */
	struct delayed_work work;
};

extern struct workqueue_struct *fsw_wq;

struct fsw_disk *fsw_disk_get(u32 number);
int fsw_disk_make(u32 number, u64 bytes);
int fsw_disk_remove(u32 number);
u32 fsw_disk_count(void);
void fsw_disk_remove_all(void);

void fsw_submit_bio(struct bio *bio);
void fsw_bio_to_iter(struct bio *bio, struct iov_iter *iter);
blk_status_t fsw_io_do(struct fsw_io *io, struct iov_iter *iter);
void fsw_io_end(struct fsw_io *io, blk_status_t status);
int fsw_io_delay(const struct fsw_io *io);
int fsw_io_answer(struct fsw_disk *d, const struct fsw_rd_answer *a);
void fsw_disk_quiesce(struct fsw_disk *d);

/* log.c */

extern struct mutex fsw_log_lock;	/* of the ring */

bool fsw_log_put(struct fsw_rd_record *rec, struct iov_iter *data, struct kvec place[2]);
void fsw_log_text(u16 type, u32 disk, const char *text, size_t len);

#endif
