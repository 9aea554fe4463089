// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of block devices that are clean and have changed: their change is never
 * written. A buffer is known from the end of its first read or write on, with a
 * checksum of its content at the end of the last one.
 */
#include <linux/buffer_head.h>
#include <linux/crc32.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jbd2.h>
#include <linux/kdev_t.h>
#include <linux/vmalloc.h>

#include "check.h"
#include "internal.h"

#define BUFFER_BITS 13

/* A thread may have changed a buffer and not marked it dirty yet. It has this long for it. */
#define GRACE_MS 20

struct buffer {
	struct buffer_head *bh;	/* NULL: free; not a reference */
	u32 sum;
	bool suspect;		/* it was clean and changed */
};

static struct buffer *buffers;

int fsw_clean_alloc(void)
{
	if (!buffers)
		buffers = vzalloc(array_size(1 << BUFFER_BITS, sizeof(*buffers)));
	return buffers ? 0 : -ENOMEM;
}

void fsw_clean_free(void)
{
	vfree(buffers);
}

/* fsw_clean_forget() - forget all buffers. The caller holds fsw_check_lock. */
void fsw_clean_forget(void)
{
	if (buffers)
		memset(buffers, 0, array_size(1 << BUFFER_BITS, sizeof(*buffers)));
}

/* Returns the entry of a buffer, or a free one. */
static struct buffer *entry_of(const struct buffer_head *bh)
{
	u32 at = hash_ptr(bh, BUFFER_BITS);
	struct buffer *free = NULL;
	int i;

	for (i = 0; i < FSW_WINDOW; i++) {
		struct buffer *b = &buffers[(at + i) % (1 << BUFFER_BITS)];

		if (b->bh == bh)
			return b;
		if (!free && !b->bh)
			free = b;
	}
	return free;
}

static bool of_device(const struct buffer_head *bh)
{
	const struct address_space *mapping = bh->b_page ? bh->b_page->mapping : NULL;

	return mapping && !((unsigned long)mapping & PAGE_MAPPING_FLAGS) && mapping->host &&
	       S_ISBLK(mapping->host->i_mode);
}

static u32 sum_of(const struct buffer_head *bh)
{
	return crc32_le(~0, bh->b_data, bh->b_size);
}

/* The end of a read or a write: (bh, uptodate) */
void fsw_clean_known(const struct fsw_probe *p, struct pt_regs *regs)
{
	struct buffer_head *bh = (void *)regs_get_kernel_argument(regs, 0);
	struct buffer *b;
	unsigned long flags;

	if (!(int)regs_get_kernel_argument(regs, 1) || !of_device(bh))
		return;
	spin_lock_irqsave(&fsw_check_lock, flags);
	b = entry_of(bh);
	if (b)
		*b = (struct buffer){ .bh = bh, .sum = sum_of(bh) };
	else
		fsw_check_full();
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

/* The buffer is freed, or need not be written any more. */
void fsw_clean_gone(const struct fsw_probe *p, struct pt_regs *regs)
{
	struct buffer_head *bh = (void *)regs_get_kernel_argument(regs, p->arg);
	struct buffer *b;
	unsigned long flags;

	spin_lock_irqsave(&fsw_check_lock, flags);
	b = entry_of(bh);
	if (b && b->bh == bh)
		b->bh = NULL;
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

/*
 * The journal writes its own blocks, and marks none dirty. It changes its superblock when
 * it gets a feature (jbd2_journal_set_features), and writes it later.
 */
static bool of_journal(const struct buffer_head *bh)
{
	const journal_header_t *h = (void *)bh->b_data;

	return bh->b_size >= sizeof(*h) && h->h_magic == cpu_to_be32(JBD2_MAGIC_NUMBER);
}

static bool is_changed(const struct buffer *b)
{
	const struct buffer_head *bh = b->bh;

	return !of_journal(bh) && buffer_uptodate(bh) && buffer_mapped(bh) && !buffer_locked(bh) &&
	       !buffer_dirty(bh) && !buffer_jbddirty(bh) && sum_of(bh) != b->sum;
}

static void check_one(struct buffer *b, bool last)
{
	char text[FSW_EK_FINDING];
	bool changed = b->bh && is_changed(b);

	if (changed && last && b->suspect) {
		u32 dev = b->bh->b_bdev->bd_dev;

		snprintf(text, sizeof(text),
			 "block %llu of device %u:%u, of %zu bytes, has changed and is not dirty",
			 (u64)b->bh->b_blocknr, MAJOR(dev), MINOR(dev), b->bh->b_size);
		fsw_finding(FSW_EK_UNDIRTIED, text);
		b->sum = sum_of(b->bh); /* once is enough */
	}
	b->suspect = changed && !last;
}

/* fsw_clean_check() - report the buffers that changed and stay clean. It sleeps. */
void fsw_clean_check(void)
{
	int i, pass;

	for (pass = 0; pass < 2; pass++) {
		if (pass)
			msleep(GRACE_MS);
		for (i = 0; i < 1 << BUFFER_BITS; i++) {
			if (!READ_ONCE(buffers[i].bh))
				continue;
			spin_lock_irq(&fsw_check_lock);
			check_one(&buffers[i], pass);
			spin_unlock_irq(&fsw_check_lock);
		}
	}
}
