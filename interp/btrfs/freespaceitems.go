package btrfs

import (
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
	d.chunkOf(k.objectid)
	return nil
}
