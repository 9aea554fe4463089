package btrfs

import (
	"math"
	"math/bits"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// maxBitmapBits bounds the sectors that one free_space_bitmap covers
// (BTRFS_FREE_SPACE_BITMAP_BITS).
const maxBitmapBits = 256 * 8

// usesBitmaps is the flag of a block group that stores its free space in bitmaps
// (BTRFS_FREE_SPACE_USING_BITMAPS).
const usesBitmaps = 1 << 0

// freeSpaceInfo decodes the summary of the free space of a block group. It follows
// check_free_space_info.
func (d *decoder) freeSpaceInfo(k ondisk.Key, r disk.Region) error {
	info, ok := ondisk.ViewFreeSpaceInfo(r)
	if !ok || r.Len() > ondisk.FreeSpaceInfoSize {
		t := &ondisk.ItemTypes[ondisk.KindFreeSpaceInfo]
		return sizeError(t, r, ondisk.FreeSpaceInfoSize)
	}
	if err := d.ctx.freeSpaceRange(k, r); err != nil {
		return err
	}
	count, flags := uint64(info.ExtentCount()), info.Flags()
	switch most := k.Offset / uint64(d.ctx.sectorSize); {
	case flags&^usesBitmaps != 0:
		return violatedAt(itemRule, r.Addr()+ondisk.FreeSpaceInfoFlagsAt,
			"flags of a free_space_info is %#x", flags)
	case count > most:
		return violatedAt(itemRule, r.Addr(),
			"extent_count of a free_space_info is %d, the block group has %d sectors", count, most)
	}
	d.begin(ondisk.KindFreeSpaceInfo, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.FreeSpaceInfoLayout, r, r.Len())
}

// freeSpaceRange checks a key of the free space tree, which is an address and a length.
func (c *itemContext) freeSpaceRange(k ondisk.Key, r disk.Region) error {
	wraps := k.ObjectID+k.Offset < k.ObjectID
	if !c.aligned(k.ObjectID) || !c.aligned(k.Offset) || k.Offset == 0 || wraps {
		return violatedAt(itemRule, r.Addr(), "%d bytes from %d are no whole sectors",
			k.Offset, k.ObjectID)
	}
	return nil
}

// freeSpaceExtent decodes a free extent, which consists of its key.
func (d *decoder) freeSpaceExtent(k ondisk.Key, r disk.Region) error {
	if r.Len() != 0 {
		return sizeError(&ondisk.ItemTypes[ondisk.KindFreeSpaceExtent], r, 0)
	}
	if err := d.ctx.freeSpaceRange(k, r); err != nil {
		return err
	}
	d.begin(ondisk.KindFreeSpaceExtent, k.ObjectID, k.Offset, 0)
	d.chunkOf(k.ObjectID)
	return nil
}

// freeSpaceBitmap decodes a bitmap of free space, and each run of set bits. It has a bit for each
// sector of the range in its key (free_space_bitmap_size).
func (d *decoder) freeSpaceBitmap(k ondisk.Key, r disk.Region) error {
	if err := d.ctx.freeSpaceRange(k, r); err != nil {
		return err
	}
	sectors := k.Offset / uint64(d.ctx.sectorSize)
	if sectors > maxBitmapBits || uint64(r.Len()) != (sectors+7)/8 {
		return violatedAt(itemRule, r.Addr(), "free_space_bitmap has %d bytes for %d sectors",
			r.Len(), sectors)
	}
	d.begin(ondisk.KindFreeSpaceBitmap, k.ObjectID, k.Offset, 0)
	d.num(ondisk.FieldSize, uint64(r.Len()))
	free := 0
	for _, b := range r.Bytes() {
		free += bits.OnesCount8(b)
	}
	d.num(ondisk.FieldFree, uint64(free))
	d.num(ondisk.FieldFirst, bit(r, 0))
	d.num(ondisk.FieldLast, bit(r, sectors-1))
	d.chunkOf(k.ObjectID)
	for from := uint64(0); from < sectors; from++ {
		if bit(r, from) == 0 {
			continue
		}
		end := from + 1
		for end < sectors && bit(r, end) == 1 {
			end++
		}
		d.begin(ondisk.KindFreeSpaceRun, k.ObjectID, k.Offset, k.ObjectID+from*uint64(d.ctx.sectorSize))
		d.num(ondisk.FieldEndOffset, k.ObjectID+end*uint64(d.ctx.sectorSize))
		d.chunkOf(k.ObjectID)
		from = end
	}
	return nil
}

// bit returns a bit of a bitmap (le_test_bit).
func bit(r disk.Region, i uint64) uint64 { return uint64(r.U8(int(i/8)) >> (i % 8) & 1) }

// freeSpace puts an object if the free space tree marks any of length bytes from start as free.
func (v *view) freeSpace(d *decoder, start, length uint64) error {
	root, ok, err := v.treeRoot(ondisk.FreeSpaceTreeID)
	if !ok || err != nil || length == 0 || start+length < start {
		return err
	}
	end := start + length
	last := ondisk.Key{ObjectID: end - 1, Type: math.MaxUint8, Offset: math.MaxUint64}
	p, ok, err := v.seek(ondisk.KindFreeSpace, ondisk.FreeSpaceTreeID, root.pointer, last)
	if err == nil {
		ok, err = p.back(ok, last)
	}
	for seen := 0; ok && err == nil; ok, err = p.move(-1) {
		if seen++; seen > maxGroup {
			return &budgetError{"items of free space in one extent", maxGroup}
		}
		k := p.key()
		item := p.item()
		if itemEnd := k.ObjectID + k.Offset; itemEnd > start {
			from, to := max(start, k.ObjectID), min(end, itemEnd)
			if isFree(k, item.data(), from, to, uint64(v.state.sb.SectorSize())) {
				d.begin(ondisk.KindFreeSpace, start, length, 0)
				return nil
			}
		}
		if k.ObjectID <= start {
			return nil
		}
	}
	return err
}

// isFree reports whether an item of the free space tree marks any sector in [start, end) as free.
// The range lies within that of the item.
func isFree(k ondisk.Key, r disk.Region, start, end, sector uint64) bool {
	switch k.Type {
	case ondisk.FreeSpaceExtentKey:
		return true
	case ondisk.FreeSpaceBitmapKey:
		count := uint64(r.Len()) * 8
		for i := (start - k.ObjectID) / sector; i*sector < end-k.ObjectID && i < count; i++ {
			if bit(r, i) == 1 {
				return true
			}
		}
	}
	return false
}
