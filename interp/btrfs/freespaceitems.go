package btrfs

import (
	"math"
	"math/bits"

	"fsward/interp/disk"
)

// maxBitmapBits is what one free_space_bitmap covers at most (BTRFS_FREE_SPACE_BITMAP_BITS), in sectors.
const maxBitmapBits = 256 * 8

// usesBitmaps is the flag of a block group whose free space stands in bitmaps (BTRFS_FREE_SPACE_USING_BITMAPS).
const usesBitmaps = 1 << 0

// freeSpaceInfo follows check_free_space_info.
func (d *decoder) freeSpaceInfo(k key, r disk.Region) error {
	if r.Len() != freeSpaceInfoLayout.size {
		return sizeError(&itemTypes[kindFreeSpaceInfo], r, freeSpaceInfoLayout.size)
	}
	if err := d.freeSpaceRange(k, r); err != nil {
		return err
	}
	count, flags := uint64(r.U32(0)), r.U32(4)
	switch most := k.offset / uint64(d.ctx.sectorSize); {
	case flags&^usesBitmaps != 0:
		return violatedAt(itemRule, r.Addr()+4, "flags of a free_space_info is %#x", flags)
	case count > most:
		return violatedAt(itemRule, r.Addr(), "extent_count of a free_space_info is %d, the block group has %d sectors", count, most)
	}
	d.begin(kindFreeSpaceInfo, k.objectid, k.offset, 0)
	return d.structure(&freeSpaceInfoLayout, r, r.Len())
}

// freeSpaceRange checks a key of the free space tree: the address and length of what it is about.
func (d *decoder) freeSpaceRange(k key, r disk.Region) error {
	if !d.ctx.aligned(k.objectid) || !d.ctx.aligned(k.offset) || k.offset == 0 || k.objectid+k.offset < k.objectid {
		return violatedAt(itemRule, r.Addr(), "%d bytes from %d are no whole sectors", k.offset, k.objectid)
	}
	return nil
}

// freeSpaceExtent is all in its key.
func (d *decoder) freeSpaceExtent(k key, r disk.Region) error {
	if r.Len() != 0 {
		return sizeError(&itemTypes[kindFreeSpaceExtent], r, 0)
	}
	if err := d.freeSpaceRange(k, r); err != nil {
		return err
	}
	d.begin(kindFreeSpaceExtent, k.objectid, k.offset, 0)
	d.chunkOf(k.objectid)
	return nil
}

// freeSpaceBitmap has a bit for each sector of the range in its key (free_space_bitmap_size).
func (d *decoder) freeSpaceBitmap(k key, r disk.Region) error {
	if err := d.freeSpaceRange(k, r); err != nil {
		return err
	}
	sectors := k.offset / uint64(d.ctx.sectorSize)
	if sectors > maxBitmapBits || uint64(r.Len()) != (sectors+7)/8 {
		return violatedAt(itemRule, r.Addr(), "free_space_bitmap has %d bytes for %d sectors", r.Len(), sectors)
	}
	d.begin(kindFreeSpaceBitmap, k.objectid, k.offset, 0)
	d.num(fieldSize, uint64(r.Len()))
	free := 0
	for _, b := range r.Bytes() {
		free += bits.OnesCount8(b)
	}
	d.num(fieldFree, uint64(free))
	d.num(fieldFirst, bit(r, 0))
	d.num(fieldLast, bit(r, sectors-1))
	d.chunkOf(k.objectid)
	for from := uint64(0); from < sectors; from++ {
		if bit(r, from) == 0 {
			continue
		}
		end := from + 1
		for end < sectors && bit(r, end) == 1 {
			end++
		}
		d.begin(kindFreeSpaceRun, k.objectid, k.offset, k.objectid+from*uint64(d.ctx.sectorSize))
		d.num(fieldEndOffset, k.objectid+end*uint64(d.ctx.sectorSize))
		d.chunkOf(k.objectid)
		from = end
	}
	return nil
}

// bit returns a bit of a bitmap (le_test_bit).
func bit(r disk.Region, i uint64) uint64 { return uint64(r.U8(int(i/8)) >> (i % 8) & 1) }

// freeSpace answers whether a part of the bytes from start is free by the tree of free space.
func (v *view) freeSpace(d *decoder, start, length uint64) error {
	root, ok, err := v.treeRoot(freeSpaceTreeID)
	if !ok || err != nil || length == 0 || start+length < start {
		return err
	}
	end := start + length
	last := key{end - 1, math.MaxUint8, math.MaxUint64}
	p, ok, err := v.seek(kindFreeSpace, freeSpaceTreeID, root.pointer, last)
	if err == nil {
		ok, err = p.back(ok, last)
	}
	for seen := 0; ok && err == nil; ok, err = p.move(-1) {
		if seen++; seen > maxGroup {
			return &budgetError{"items of free space in one extent", maxGroup}
		}
		k := p.key()
		item := p.item()
		if k.objectid+k.offset > start && isFree(k, item.data(), max(start, k.objectid), min(end, k.objectid+k.offset), uint64(v.state.sb.sectorSize())) {
			d.begin(kindFreeSpace, start, length, 0)
			return nil
		}
		if k.objectid <= start {
			return nil
		}
	}
	return err
}

// isFree tells whether an item of the free space tree says of any sector from start to end, which it has, that it is free.
func isFree(k key, r disk.Region, start, end, sector uint64) bool {
	switch k.typ {
	case freeSpaceExtentKey:
		return true
	case freeSpaceBitmapKey:
		for i := (start - k.objectid) / sector; i*sector < end-k.objectid && i < uint64(r.Len())*8; i++ {
			if bit(r, i) == 1 {
				return true
			}
		}
	}
	return false
}
