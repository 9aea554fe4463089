// SPDX-License-Identifier: GPL-2.0
/*
 * The write set: the blocks that could be written now, and those that are on the
 * disk. Each function here logs one event of a watched device, with the contents of
 * the block at that moment.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#include "bioflags.h"
#include "internal.h"

static u32 watched[FSW_EK_DEVICES];	/* 0: free */

static bool is_watched(u32 dev)
{
	int i;

	for (i = 0; dev && i < FSW_EK_DEVICES; i++)
		if (READ_ONCE(watched[i]) == dev)
			return true;
	return false;
}

int fsw_watch(const struct fsw_ek_watch *w)
{
	int i, slot = -1;

	if (!w->dev || w->on > 1)
		return -EINVAL;
	for (i = 0; i < FSW_EK_DEVICES; i++)
		if (watched[i] == w->dev || (slot < 0 && !watched[i])) {
			slot = i;
			if (watched[i] == w->dev)
				break;
		}
	if (slot < 0)
		return w->on ? -ENOSPC : -ENODEV;
	if (!w->on && watched[slot] != w->dev)
		return -ENODEV;
	WRITE_ONCE(watched[slot], w->on ? w->dev : 0);
	return 0;
}

static void put(struct fsw_ek_record *rec, const void *data)
{
	rec->data_len = data ? rec->data_len : 0;
	fsw_log_put(rec, data, NULL);
}

static void *argument(const struct fsw_probe *p, struct pt_regs *regs)
{
	return (void *)regs_get_kernel_argument(regs, p->arg);
}

/* Buffers. */

static void see_buffer(u32 type, struct buffer_head *bh, int status)
{
	struct fsw_ek_record rec = { .type = type, .status = status };
	bool contents = type == FSW_EK_T_BUFFER_DIRTY || type == FSW_EK_T_BUFFER_JOURNAL ||
			type == FSW_EK_T_BUFFER_SUBMIT;

	if (!bh || !buffer_mapped(bh) || !bh->b_bdev)
		return;
	rec.dev = bh->b_bdev->bd_dev;
	if (!is_watched(rec.dev))
		return;
	fsw_thread_saw();
	rec.object = (unsigned long)bh;
	rec.pos = (u64)bh->b_blocknr * bh->b_size;
	rec.len = bh->b_size;
	/* In a large folio b_page is the first page, and bh_offset() is relative to it. */
	rec.pfn = page_to_pfn(bh->b_page) + (bh_offset(bh) >> PAGE_SHIFT);
	rec.page_off = offset_in_page(bh_offset(bh));
	rec.flags = (buffer_dirty(bh) ? FSW_EK_F_DIRTY : 0) |
		    (buffer_locked(bh) ? FSW_EK_F_WRITEBACK : 0);
	rec.data_len = min_t(size_t, bh->b_size, FSW_EK_DATA);
	put(&rec, contents ? bh->b_data : NULL);
}

void fsw_see_buffer(const struct fsw_probe *p, struct pt_regs *regs)
{
	see_buffer(p->type, argument(p, regs), 0);
}

/* submit_bh(opf, bh) */
void fsw_see_submit_bh(const struct fsw_probe *p, struct pt_regs *regs)
{
	if (op_is_write(regs_get_kernel_argument(regs, 0)))
		see_buffer(p->type, argument(p, regs), 0);
}

/* end_buffer_write_sync(bh, uptodate) */
void fsw_see_written(const struct fsw_probe *p, struct pt_regs *regs)
{
	see_buffer(p->type, argument(p, regs), (int)regs_get_kernel_argument(regs, 1) ? 0 : -EIO);
}

/* Folios. */

static bool any_watched(void)
{
	int i;

	for (i = 0; i < FSW_EK_DEVICES; i++)
		if (READ_ONCE(watched[i]))
			return true;
	return false;
}

/*
 * Returns the device of a folio's file if it is watched, or else 0. Btrfs can have
 * several devices, and its super_block does not name them. So its folios have the
 * anonymous device number of the superblock, and are logged if any device is
 * watched.
 */
static u32 folio_device(const struct address_space *mapping)
{
	const struct super_block *sb;
	const struct inode *inode;
	u32 dev;

	if (!mapping || (unsigned long)mapping & PAGE_MAPPING_FLAGS)
		return 0;
	inode = mapping->host;
	if (!inode)
		return 0;
	sb = inode->i_sb;
	if (!sb->s_bdev && sb->s_type->fs_flags & FS_REQUIRES_DEV)
		return any_watched() ? sb->s_dev : 0;
	if (S_ISBLK(inode->i_mode) && sb_is_blkdev_sb(inode->i_sb))
		dev = inode->i_rdev;
	else
		dev = sb->s_bdev ? sb->s_bdev->bd_dev : 0;
	return is_watched(dev) ? dev : 0;
}

void fsw_see_folio(const struct fsw_probe *p, struct pt_regs *regs)
{
	struct folio *folio = argument(p, regs);
	const struct address_space *mapping = READ_ONCE(folio->mapping);
	struct fsw_ek_record rec = { .type = p->type, .dev = folio_device(mapping) };
	long i;

	if (!rec.dev)
		return;
	fsw_thread_saw();
	rec.object = (unsigned long)folio;
	rec.ino = mapping->host->i_ino;
	rec.pos = folio_pos(folio);
	rec.len = folio_size(folio);
	rec.pfn = folio_pfn(folio);
	rec.flags = (folio_test_dirty(folio) ? FSW_EK_F_DIRTY : 0) |
		    (folio_test_writeback(folio) ? FSW_EK_F_WRITEBACK : 0);
	if (p->type != FSW_EK_T_FOLIO_DIRTY) {
		put(&rec, NULL);
		return;
	}
	rec.len = PAGE_SIZE;
	for (i = 0; i < folio_nr_pages(folio); i++) {
		void *data = kmap_local_folio(folio, i * PAGE_SIZE);

		rec.data_len = PAGE_SIZE;
		put(&rec, data);
		kunmap_local(data);
		rec.pos += PAGE_SIZE;
		rec.pfn++;
	}
}

/* Bios. */

static bool bio_record(struct bio *bio, struct fsw_ek_record *rec)
{
	if (!bio->bi_bdev || !is_watched(bio->bi_bdev->bd_dev))
		return false;
	rec->dev = bio->bi_bdev->bd_dev;
	rec->object = (unsigned long)bio;
	rec->pos = bio->bi_iter.bi_sector << SECTOR_SHIFT;
	rec->len = bio->bi_iter.bi_size;
	rec->flags = fsw_bio_operation(bio) | fsw_bio_flags(bio->bi_opf) << FSW_EK_BIO_FLAGS;
	fsw_thread_saw();
	return true;
}

void fsw_see_submit(const struct fsw_probe *p, struct pt_regs *regs)
{
	struct bio *bio = argument(p, regs);
	struct fsw_ek_record rec = { .type = FSW_EK_T_BIO_SUBMIT };
	struct bvec_iter iter;
	struct bio_vec bv;

	if (!bio_record(bio, &rec))
		return;
	put(&rec, NULL);
	if (!op_is_write(bio_op(bio)) || !bio_has_data(bio))
		return;
	rec.type = FSW_EK_T_BIO_DATA;
	bio_for_each_segment(bv, bio, iter) {
		void *data = bvec_kmap_local(&bv);

		rec.pos = iter.bi_sector << SECTOR_SHIFT;
		rec.len = rec.data_len = bv.bv_len;
		rec.pfn = page_to_pfn(bv.bv_page);
		rec.page_off = bv.bv_offset;
		put(&rec, data);
		kunmap_local(data);
	}
}

/* The iterator of the bio has moved on. Only rec.object identifies the bio. */
void fsw_see_end(const struct fsw_probe *p, struct pt_regs *regs)
{
	struct bio *bio = argument(p, regs);
	struct fsw_ek_record rec = { .type = FSW_EK_T_BIO_END };

	if (!bio_record(bio, &rec))
		return;
	rec.status = blk_status_to_errno(bio->bi_status);
	put(&rec, NULL);
}
