package btrfs

import (
	"math"

	"fsward/change"
	"fsward/interp/disk"
)

// extentItem follows check_extent_item: an extent and the back references that fit inside the item.
func (d *decoder) extentItem(kind change.Kind, k key, r disk.Region) error {
	const blockInfoSize = 18 // struct btrfs_tree_block_info
	bad := func(format string, args ...any) error {
		return violatedAt(itemRule, r.Addr(), itemTypes[kind].name+": "+format, args...)
	}
	if r.Len() < extentItemLayout.size {
		return bad("%d bytes, at least %d are needed", r.Len(), extentItemLayout.size)
	}
	sector := uint64(d.ctx.sectorSize)
	generation, flags := r.U64(8), r.U64(16)
	treeBlock := flags&extentFlagTreeBlock != 0
	switch {
	case k.objectid%sector != 0:
		return bad("its address is not a multiple of sectorsize")
	case generation > d.ctx.generation+1:
		return bad("generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case flags&^(extentFlagData|extentFlagTreeBlock|extentFlagFullBackref) != 0:
		return bad("flags is %#x", flags)
	case flags&extentFlagData != 0 == treeBlock:
		return bad("flags is %#x: an extent is either of data or a tree block", flags)
	case flags&extentFlagFullBackref != 0 && !treeBlock:
		return bad("flags is %#x: full_backref is for tree blocks", flags)
	case kind == kindMetadataItem && (!treeBlock || k.offset >= maxLevel):
		return bad("flags is %#x, level is %d", flags, k.offset)
	case kind == kindExtentItem && (k.offset == 0 || k.offset%sector != 0 || k.objectid+k.offset < k.objectid):
		return bad("length is %d", k.offset)
	case kind == kindExtentItem && treeBlock && k.offset != uint64(d.ctx.nodeSize):
		return bad("length of a tree block is %d, nodesize is %d", k.offset, d.ctx.nodeSize)
	}
	d.begin(kind, k.objectid, k.offset, 0)
	if err := d.structure(&extentItemLayout, r, extentItemLayout.size); err != nil {
		return err
	}
	d.chunkOf(k.objectid)
	if treeBlock {
		d.num(fieldFullBackref, flags&extentFlagFullBackref>>8)
	}
	off := uint64(extentItemLayout.size)
	if kind == kindExtentItem && treeBlock {
		info, err := r.Sub(off, blockInfoSize)
		if err != nil {
			return bad("%d bytes end within its btrfs_tree_block_info", r.Len())
		}
		level := info.U8(keySize)
		if level >= maxLevel {
			return bad("level is %d, at most %d", level, maxLevel-1)
		}
		d.num(fieldLevel, uint64(level))
		off += blockInfoSize
	}
	return d.inlineRefs(k.objectid, r, off, treeBlock)
}

// inlineRefs reads the back references behind an extent item. They stand in the order of their type
// and, within one, of falling sequence: lookup_inline_extent_backref relies on it.
func (d *decoder) inlineRefs(bytenr uint64, r disk.Region, off uint64, treeBlock bool) error {
	lastType, lastSeq := uint8(0), uint64(math.MaxUint64)
	for off < uint64(r.Len()) {
		typ := r.U8(int(off))
		rest, size := off+1, uint64(8)
		switch typ {
		case extentDataRefKey:
			size = uint64(extentDataRefLayout.size)
		case sharedDataRefKey:
			size = 8 + uint64(sharedDataRefLayout.size)
		case treeBlockRefKey, sharedBlockRefKey, extentOwnerRefKey:
		default:
			return violatedAt(itemRule, r.Addr()+off, "a back reference has type %d", typ)
		}
		ref, err := r.Sub(rest, size)
		if err != nil {
			return violatedAt(itemRule, r.Addr()+off, "a back reference of type %d lies beyond the end of the item", typ)
		}
		if blockRef := typ == treeBlockRefKey || typ == sharedBlockRefKey; blockRef != treeBlock {
			return violatedAt(itemRule, r.Addr()+off, "a back reference of type %d does not fit the flags of its extent", typ)
		}
		seq := ref.U64(0)
		switch typ {
		case treeBlockRefKey:
			d.blockRef(kindTreeBlockRef, bytenr, seq)
		case sharedBlockRefKey:
			d.blockRef(kindSharedBlockRef, bytenr, seq)
		case extentDataRefKey:
			seq = extentDataRefHash(ref.Bytes())
			if err := d.extentDataRef(bytenr, ref); err != nil {
				return err
			}
		case sharedDataRefKey:
			count, err := ref.Sub(8, uint64(sharedDataRefLayout.size))
			if err != nil {
				return err
			}
			if err := d.sharedDataRef(bytenr, seq, count); err != nil {
				return err
			}
		}
		if typ < lastType || typ == lastType && seq > lastSeq {
			return violatedAt(itemRule, r.Addr()+off, "back references are out of order: type %d sequence %#x after type %d sequence %#x", typ, seq, lastType, lastSeq)
		}
		lastType, lastSeq = typ, seq
		off = rest + size
	}
	return nil
}

// blockRef puts a reference from a tree or from a shared block.
func (d *decoder) blockRef(kind change.Kind, bytenr, from uint64) {
	d.begin(kind, bytenr, from, 0)
	if kind == kindTreeBlockRef {
		d.num(fieldRoot, from)
	} else {
		d.num(fieldParent, from)
	}
}

// extentDataRef puts a reference from a file under its hash, which is the key of one that stands alone
// unless another has the same.
func (d *decoder) extentDataRef(bytenr uint64, r disk.Region) error {
	d.begin(kindExtentDataRef, bytenr, extentDataRefHash(r.Bytes()), nameID(r.Bytes()[:24])) // of root, objectid, offset
	if r.U32(24) == 0 {
		return violatedAt(itemRule, r.Addr()+24, "count of an extent_data_ref is 0")
	}
	return d.structure(&extentDataRefLayout, r, r.Len())
}

func (d *decoder) sharedDataRef(bytenr, parent uint64, r disk.Region) error {
	d.begin(kindSharedDataRef, bytenr, parent, 0)
	if r.U32(0) == 0 {
		return violatedAt(itemRule, r.Addr(), "count of a shared_data_ref is 0")
	}
	if err := d.structure(&sharedDataRefLayout, r, r.Len()); err != nil {
		return err
	}
	d.num(fieldParent, parent)
	return nil
}

// extentDataRefHash is hash_extent_data_ref of a btrfs_extent_data_ref.
func extentDataRefHash(ref []byte) uint64 {
	high := rawCRC32C(math.MaxUint32, ref[0:8])
	low := rawCRC32C(math.MaxUint32, ref[8:24])
	return uint64(high)<<31 ^ uint64(low)
}

// nameID is a number that tells apart the names in one item, FNV-1a. It has nothing to do with the hash
// in the item's key, which they share.
func nameID(name []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range name {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
