/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fsw_ramdisk: disks in memory whose every bio can be logged, whose contents can
 * be put back, and whose errors are chosen.
 *
 * main.c     the module
 * disk.c     makes and removes disks
 * bio.c      what is done with a bio
 * delay.c    bios that a rule holds up, or a guard
 * store.c    contents, page by page
 * snapshot.c named states of the contents, and the way from one to the other
 * log.c      the records of the log
 * inject.c   rules of errors
 * ctl.c      the commands
 * From kmod/, which fsw_ekm is built with too: ring.c, the log; command.c, how a
 * command arrives; devices.c, what both modules do alike with these.
 *
 * Locks, in the order in which they are taken: fsw_ctl_lock, fsw_disk.lock,
 * fsw_log_lock. All are mutexes: submit_bio of a disk without a request queue
 * may sleep.
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

/* Copies out of kernel memory, where no copy fails. */
static inline void fsw_copy_from(void *to, size_t n, struct iov_iter *from)
{
	WARN_ON_ONCE(copy_from_iter(to, n, from) != n);
}

/* store.c, snapshot.c */

/*
 * A snapshot is a node of a tree whose root is what the disk holds now. It knows
 * in which pages it differs from the next node on the way there, toward, and
 * what it has in them. To restore it, the way is gone and each difference turned
 * round (Baker's rerooting), so that the cost is that of the pages that differ.
 * One snapshot alone is next to the disk, base: it is given what a write is about
 * to change for the first time since.
 *
 * A snapshot without a name was dropped while two or more others hang on it.
 */
struct fsw_snap {
	struct list_head node;		/* in fsw_store.snaps */
	struct fsw_snap *toward;	/* NULL: the disk itself */
	struct fsw_snap *back;		/* of a restore under way */
	struct list_head chunks;	/* of struct fsw_chunk, each page once */
	u64 pages;			/* in chunks */
	unsigned int children;		/* whose toward is this */
	char name[FSW_RD_NAME];
};

struct fsw_slot {
	u64 page;		/* its number */
	struct page *data;	/* NULL: zeros */
};

#define FSW_CHUNK_SLOTS \
	((PAGE_SIZE - sizeof(struct list_head) - sizeof(u64)) / sizeof(struct fsw_slot))

struct fsw_chunk {
	struct list_head node;
	u64 used;
	struct fsw_slot slots[];
};

/* A bit of an entry of live: the base has what the page was. */
#define FSW_SAVED 1UL

struct fsw_store {
	u64 npages;
	unsigned long *live;		/* struct page * (NULL: zeros) | FSW_SAVED */
	unsigned long *scratch;		/* a bit for each page, all 0 between calls */
	struct fsw_snap *base;
	struct list_head snaps;
	unsigned int named;
	u64 pages;			/* in live */
	u64 kept;			/* in snapshots */
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
	u64 seen;
};

struct fsw_rules {
	struct fsw_rule rule[FSW_RD_RULES];
	unsigned int n;
	u64 fired;
};

/* What the rules say of one bio. */
struct fsw_fate {
	u32 injected;		/* bit 1 << action for each that applies */
	u32 error;		/* errno, 0 for none */
	u64 tear;		/* bytes that take effect */
	unsigned int delay_ms;
	bool held;		/* for its answer, and fails without */
};

int fsw_rules_add(struct fsw_rules *rules, const struct fsw_rd_rule *r);
unsigned int fsw_rules_armed(const struct fsw_rules *rules);
void fsw_rules_ask(struct fsw_rules *rules, u32 op, u32 flags, struct fsw_fate *fate);

/* disk.c, bio.c, delay.c */

struct fsw_disk {
	struct mutex lock;		/* of all below */
	unsigned int number;
	struct gendisk *gd;
	struct fsw_store store;
	struct fsw_rules rules;
	bool logging;
	bool guarded;			/* what changes it waits for its answer */
	u64 submitted, completed, no_memory;
	struct list_head delayed;	/* of struct fsw_io */
	wait_queue_head_t idle;		/* delayed has become empty */
};

/* A bio on its way. */
struct fsw_io {
	struct fsw_disk *disk;
	struct bio *bio;
	struct fsw_rd_record rec;
	struct fsw_fate fate;
	bool logged;			/* its SUBMIT was */
	unsigned long start;		/* bio_start_io_acct() */
	ktime_t due;			/* of a delayed bio: not before */
	void *data;			/* of a delayed write: a copy */
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
