// SPDX-License-Identifier: GPL-2.0
/* The contents of a disk: a table of pages. A page is allocated when it is first written. */
#include <linux/highmem.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "internal.h"

static_assert(PAGE_SIZE == FSW_RD_PAGE);

/* Number of pages of all disks and snapshots. */
atomic_long_t fsw_pages;

static int get_pages(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%ld\n", atomic_long_read(&fsw_pages));
}

static const struct kernel_param_ops pages_ops = { .get = get_pages };
module_param_cb(pages, &pages_ops, NULL, 0444);
MODULE_PARM_DESC(pages, "pages of memory for contents and snapshots of all disks");

int fsw_store_init(struct fsw_store *s, u64 npages)
{
	memset(s, 0, sizeof(*s));
	INIT_LIST_HEAD(&s->snaps);
	s->npages = npages;
	s->live = vzalloc(array_size(npages, sizeof(*s->live)));
	s->scratch = vzalloc(array_size(BITS_TO_LONGS(npages), sizeof(long)));
	if (!s->live || !s->scratch) {
		vfree(s->live);
		vfree(s->scratch);
		return -ENOMEM;
	}
	return 0;
}

struct page *fsw_store_page(const struct fsw_store *s, u64 page)
{
	return (struct page *)(s->live[page] & ~FSW_SAVED);
}

struct page *fsw_page_alloc(gfp_t gfp)
{
	struct page *page = alloc_page(gfp);

	if (page)
		atomic_long_inc(&fsw_pages);
	return page;
}

void fsw_page_free(struct page *page)
{
	if (!page)
		return;
	__free_page(page);
	atomic_long_dec(&fsw_pages);
}

void fsw_store_free(struct fsw_store *s)
{
	u64 i;

	fsw_snap_free_all(s);
	for (i = 0; i < s->npages; i++) {
		fsw_page_free(fsw_store_page(s, i));
		if (!(i % 4096))
			cond_resched();
	}
	vfree(s->live);
	vfree(s->scratch);
}

/* Reports whether the base lacks the contents of a page, so that a write must save it. */
static bool unsaved(const struct fsw_store *s, u64 page)
{
	return s->base && !(s->live[page] & FSW_SAVED);
}

/* Makes a page writable: it exists, and no snapshot shares it. Its contents do not change. */
static int page_own(struct fsw_store *s, u64 i)
{
	struct page *old = fsw_store_page(s, i);
	bool save = unsaved(s, i);
	struct page *new;
	int err;

	if (old && !save)
		return 0;
	new = fsw_page_alloc(GFP_NOIO | __GFP_HIGHMEM);
	if (!new)
		return -ENOMEM;
	if (save) {
		err = fsw_snap_save(s, i);
		if (err) {
			fsw_page_free(new);
			return err;
		}
	}
	if (old)
		copy_highpage(new, old);
	else
		clear_highpage(new);
	s->live[i] = (unsigned long)new | (s->live[i] & FSW_SAVED);
	s->pages++;
	return 0;
}

/* Makes a page that exists zeros, and frees it or gives it to the base. */
static int page_clear(struct fsw_store *s, u64 i)
{
	int err;

	if (unsaved(s, i)) {
		err = fsw_snap_save(s, i);
		if (err)
			return err;
	} else {
		fsw_page_free(fsw_store_page(s, i));
		s->pages--;
	}
	s->live[i] &= FSW_SAVED;
	return 0;
}

/* The part of a range that lies in one page. */
struct piece {
	u64 i;		/* number of the page */
	size_t off, n;	/* bytes in the page */
};

static struct piece first_piece(u64 pos, u64 end)
{
	size_t off = offset_in_page(pos);

	return (struct piece){ pos >> PAGE_SHIFT, off, min_t(u64, end - pos, PAGE_SIZE - off) };
}

/*
 * Writes all or, with -ENOMEM, nothing: every page is made writable before the
 * first byte is written.
 */
int fsw_store_write(struct fsw_store *s, u64 pos, u64 len, struct iov_iter *from)
{
	u64 end = pos + len, at;
	struct piece p;
	void *to;
	int err;

	for (at = pos; at < end; at += p.n) {
		p = first_piece(at, end);
		err = page_own(s, p.i);
		if (err)
			return err;
	}
	for (at = pos; at < end; at += p.n) {
		p = first_piece(at, end);
		to = kmap_local_page(fsw_store_page(s, p.i));
		fsw_copy_from(to + p.off, p.n, from);
		kunmap_local(to);
	}
	return 0;
}

/*
 * Makes a range zeros. With -ENOMEM some whole pages may be zeros already. The
 * base got each of them before, so that no snapshot loses it.
 */
int fsw_store_zero(struct fsw_store *s, u64 pos, u64 len)
{
	u64 end = pos + len;
	struct piece p;
	int err;

	for (; pos < end; pos += p.n) {
		p = first_piece(pos, end);
		if (!fsw_store_page(s, p.i))
			continue;
		if (p.n == PAGE_SIZE) {
			err = page_clear(s, p.i);
		} else {
			err = page_own(s, p.i);
			if (!err)
				memzero_page(fsw_store_page(s, p.i), p.off, p.n);
		}
		if (err)
			return err;
	}
	return 0;
}

void fsw_store_read(struct fsw_store *s, u64 pos, u64 len, struct iov_iter *to)
{
	u64 end = pos + len;
	struct page *page;
	struct piece p;

	for (; pos < end; pos += p.n) {
		p = first_piece(pos, end);
		page = fsw_store_page(s, p.i);
		if (page)
			copy_page_to_iter(page, p.off, p.n, to);
		else
			iov_iter_zero(p.n, to);
	}
}
