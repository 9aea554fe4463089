// SPDX-License-Identifier: GPL-2.0
/* Snapshots of a disk's contents: see struct fsw_snap. */
#include <linux/bitmap.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

/* A position among the slots of a snapshot; zero before the first. */
struct place {
	struct fsw_chunk *chunk;
	u64 i;
};

/* Returns the next slot; NULL after the last one. */
static struct fsw_slot *next_slot(const struct fsw_snap *snap, struct place *at)
{
	if (!at->chunk)
		at->chunk = list_first_entry(&snap->chunks, struct fsw_chunk, node);
	while (!list_entry_is_head(at->chunk, &snap->chunks, node)) {
		if (at->i < at->chunk->used)
			return &at->chunk->slots[at->i++];
		at->chunk = list_next_entry(at->chunk, node);
		at->i = 0;
		cond_resched(); /* there may be millions of slots */
	}
	return NULL;
}

static void chunks_free(struct fsw_snap *snap)
{
	struct fsw_chunk *c, *next;

	list_for_each_entry_safe(c, next, &snap->chunks, node)
		fsw_page_free(virt_to_page(c));
	INIT_LIST_HEAD(&snap->chunks);
	snap->pages = 0;
}

/*
 * fsw_snap_save() - give the base a page that is about to change.
 *
 * The base then owns the page. The caller puts another one into live.
 */
int fsw_snap_save(struct fsw_store *s, u64 number)
{
	struct fsw_snap *base = s->base;
	struct fsw_chunk *c;

	c = list_first_entry_or_null(&base->chunks, struct fsw_chunk, node);
	if (!c || c->used == FSW_CHUNK_SLOTS) {
		struct page *page = fsw_page_alloc(GFP_NOIO);

		if (!page)
			return -ENOMEM;
		c = page_address(page);
		c->used = 0;
		list_add(&c->node, &base->chunks);
	}
	c->slots[c->used].page = number;
	c->slots[c->used].data = fsw_store_page(s, number);
	c->used++;
	base->pages++;
	if (s->live[number]) {
		s->pages--;
		s->kept++;
	}
	s->live[number] |= FSW_SAVED;
	return 0;
}

static struct fsw_snap *find(struct fsw_store *s, const char *name)
{
	struct fsw_snap *snap;

	list_for_each_entry(snap, &s->snaps, node)
		if (!strcmp(snap->name, name))
			return snap;
	return NULL;
}

/* Sets or clears FSW_SAVED for the pages of a snapshot. */
static void mark_saved(struct fsw_store *s, const struct fsw_snap *snap, bool saved)
{
	struct place at = {};
	struct fsw_slot *slot;

	while ((slot = next_slot(snap, &at))) {
		if (saved)
			s->live[slot->page] |= FSW_SAVED;
		else
			s->live[slot->page] &= ~FSW_SAVED;
	}
}

int fsw_snap_make(struct fsw_store *s, const char *name)
{
	struct fsw_snap *snap;

	if (find(s, name))
		return -EEXIST;
	if (s->named == FSW_RD_SNAPSHOTS)
		return -ENOSPC;
	snap = kzalloc(sizeof(*snap), GFP_KERNEL);
	if (!snap)
		return -ENOMEM;
	INIT_LIST_HEAD(&snap->chunks);
	strscpy(snap->name, name, sizeof(snap->name));
	if (s->base) {
		mark_saved(s, s->base, false);
		s->base->toward = snap;
		snap->children = 1;
	}
	s->base = snap;
	list_add_tail(&snap->node, &s->snaps);
	s->named++;
	return 0;
}

/* Moves a page of a snapshot into live, and returns the page that was there. */
static struct page *swap_in(struct fsw_store *s, u64 page, struct page *data)
{
	struct page *old = fsw_store_page(s, page);

	s->pages += !!data - !!old;
	s->kept += !!old - !!data;
	s->live[page] = (unsigned long)data;
	return old;
}

static void drop_page(struct fsw_store *s, struct page *page)
{
	if (page)
		s->kept--;
	fsw_page_free(page);
}

/* Restores the base. The contents that the disk had are freed. */
static void rewind(struct fsw_store *s)
{
	struct place at = {};
	struct fsw_slot *slot;

	while ((slot = next_slot(s->base, &at)))
		drop_page(s, swap_in(s, slot->page, slot->data));
	chunks_free(s->base);
}

/* Restores a child of the base, which the disk equals. The child becomes the base. */
static void step(struct fsw_store *s, struct fsw_snap *child)
{
	struct fsw_snap *base = s->base;
	struct place at = {};
	struct fsw_slot *slot;

	while ((slot = next_slot(child, &at)))
		slot->data = swap_in(s, slot->page, slot->data);
	list_splice_init(&child->chunks, &base->chunks);
	base->pages = child->pages;
	child->pages = 0;
	base->toward = child;
	base->children--;
	child->toward = NULL;
	child->children++;
	s->base = child;
}

static void unlink_snap(struct fsw_snap *snap)
{
	if (snap->toward)
		snap->toward->children--;
	list_del(&snap->node);
	chunks_free(snap);
	kfree(snap);
}

/* Frees a snapshot without a name and without children. */
static void prune_leaf(struct fsw_store *s, struct fsw_snap *snap)
{
	struct place at = {};
	struct fsw_slot *slot;

	while ((slot = next_slot(snap, &at)))
		drop_page(s, slot->data);
	if (s->base == snap) {
		mark_saved(s, snap, false);
		s->base = NULL;
	}
	unlink_snap(snap);
}

/* Sets or clears the bits in scratch of the pages that a snapshot has. */
static void mark_scratch(struct fsw_store *s, const struct fsw_snap *snap, bool set)
{
	struct place at = {};
	struct fsw_slot *slot;

	while ((slot = next_slot(snap, &at)))
		__assign_bit(slot->page, s->scratch, set);
}

/* Frees a snapshot without a name and with one child. The child gets the pages that it lacks. */
static void prune_link(struct fsw_store *s, struct fsw_snap *snap, struct fsw_snap *child)
{
	struct fsw_chunk *c;
	u64 i, kept;

	mark_scratch(s, child, true);
	list_for_each_entry(c, &snap->chunks, node) {
		for (i = 0, kept = 0; i < c->used; i++) {
			if (test_bit(c->slots[i].page, s->scratch))
				drop_page(s, c->slots[i].data);
			else
				c->slots[kept++] = c->slots[i];
		}
		snap->pages -= c->used - kept;
		c->used = kept;
	}
	mark_scratch(s, child, false);
	list_splice_tail_init(&snap->chunks, &child->chunks);
	child->pages += snap->pages;
	child->toward = snap->toward;
	if (child->toward) {
		child->toward->children++;
	} else {
		s->base = child;
		mark_saved(s, child, true);
	}
	unlink_snap(snap);
}

/* Frees the snapshots without a name that have at most one child. */
static void prune(struct fsw_store *s)
{
	struct fsw_snap *snap, *child;
again:
	list_for_each_entry(snap, &s->snaps, node) {
		if (snap->name[0] || snap->children > 1)
			continue;
		if (snap->children) {
			list_for_each_entry(child, &s->snaps, node)
				if (child->toward == snap)
					break;
			prune_link(s, snap, child);
		} else {
			prune_leaf(s, snap);
		}
		goto again;
	}
}

/* Restores a snapshot. Sets pages to the number of pages restored on the path. */
int fsw_snap_restore(struct fsw_store *s, const char *name, u64 *pages)
{
	struct fsw_snap *to = find(s, name), *snap;

	if (!to)
		return -ENOENT;
	for (snap = to; snap->toward; snap = snap->toward)
		snap->toward->back = snap;
	*pages = s->base->pages;
	rewind(s);
	while (s->base != to) {
		*pages += s->base->back->pages;
		step(s, s->base->back);
	}
	prune(s);
	return 0;
}

int fsw_snap_drop(struct fsw_store *s, const char *name)
{
	struct fsw_snap *snap = find(s, name);

	if (!snap)
		return -ENOENT;
	snap->name[0] = 0;
	s->named--;
	prune(s);
	return 0;
}

/* Lists the pages in which the disk may differ from a snapshot: those of the path to it. */
int fsw_snap_changed(struct fsw_store *s, struct fsw_rd_changed *answer)
{
	struct fsw_snap *from = find(s, answer->name), *snap;
	u64 page;

	if (!from)
		return -ENOENT;
	for (snap = from; snap; snap = snap->toward)
		mark_scratch(s, snap, true);
	answer->count = 0;
	page = answer->from;
	for_each_set_bit_from(page, s->scratch, s->npages) {
		if (answer->count == FSW_RD_NUMBERS)
			break;
		answer->pages[answer->count++] = page;
	}
	for (snap = from; snap; snap = snap->toward)
		mark_scratch(s, snap, false);
	return 0;
}

void fsw_snap_free_all(struct fsw_store *s)
{
	struct fsw_snap *snap, *next;
	struct fsw_slot *slot;

	list_for_each_entry_safe(snap, next, &s->snaps, node) {
		struct place at = {};

		while ((slot = next_slot(snap, &at)))
			fsw_page_free(slot->data);
		snap->toward = NULL;
		unlink_snap(snap);
	}
	s->base = NULL;
}
