package btrfs

import (
	"math"

	"fsward/change"
	"fsward/interp/disk"
)

// extentItem follows check_extent_item: an extent and the back references that fit inside the item. Its
// generation is held to that of the superblock itself, as btrfs check does.
func (d *decoder) extentItem(kind change.Kind, k key, r disk.Region) error {
	const blockInfoSize = 18 // struct btrfs_tree_block_info
	bad := func(format string, args ...any) error {
		return violatedAt(itemRule, r.Addr(), itemTypes[kind].name+": "+format, args...)
	}
	if r.Len() < extentItemLayout.size {
		return bad("%d bytes, at least %d are needed", r.Len(), extentItemLayout.size)
	}
	refs, generation, flags := r.U64(0), r.U64(8), r.U64(16)
	treeBlock := flags&extentFlagTreeBlock != 0
	switch {
	case kind == kindMetadataItem && d.ctx.incompat&incompatSkinnyMetadata == 0:
		return bad("the feature SKINNY_METADATA is off")
	case !d.ctx.aligned(k.objectid):
		return bad("its address %d is not a multiple of sectorsize", k.objectid)
	case kind == kindMetadataItem && k.offset >= maxLevel:
		return bad("level is %d, at most %d", k.offset, maxLevel-1)
	case generation > d.ctx.generation:
		return bad("generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case flags&^(extentFlagData|extentFlagTreeBlock|extentFlagFullBackref) != 0:
		return bad("flags is %#x", flags)
	case flags&extentFlagData != 0 == treeBlock:
		return bad("flags is %#x: an extent is either of data or a tree block", flags)
	case !treeBlock && flags&extentFlagFullBackref != 0:
		return bad("flags is %#x: full_backref is for tree blocks", flags)
	case !treeBlock && kind == kindMetadataItem:
		return bad("flags is %#x: it is of data", flags)
	case kind == kindExtentItem && (k.offset == 0 || !d.ctx.aligned(k.offset) || k.objectid+k.offset < k.objectid):
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
	inline, err := d.inlineRefs(k.objectid, r, off, treeBlock)
	if err != nil {
		return err
	}
	if inline > refs {
		return bad("refs is %d, the back references in the item are %d", refs, inline)
	}
	return nil
}

// inlineRefs reads the back references behind an extent item and returns how many they stand for. They
// are in the order of their type and, within one, of falling sequence: lookup_inline_extent_backref
// relies on it.
func (d *decoder) inlineRefs(bytenr uint64, r disk.Region, off uint64, treeBlock bool) (refs uint64, err error) {
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
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference has type %d", typ)
		}
		ref, err := r.Sub(rest, size)
		if err != nil {
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference of type %d lies beyond the end of the item", typ)
		}
		if blockRef := typ == treeBlockRefKey || typ == sharedBlockRefKey; typ != extentOwnerRefKey && blockRef != treeBlock {
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference of type %d does not fit the flags of its extent", typ)
		}
		seq := ref.U64(0)
		switch typ {
		case extentOwnerRefKey:
			if d.ctx.incompat&incompatSimpleQuota == 0 || treeBlock || lastType != 0 {
				return 0, violatedAt(itemRule, r.Addr()+off, "an extent_owner_ref out of place: it comes first, on data, with the feature SIMPLE_QUOTA")
			}
			d.begin(kindExtentOwnerRef, bytenr, seq, 0)
			d.num(fieldRoot, seq)
		case treeBlockRefKey, sharedBlockRefKey:
			refs++
			err = d.blockRef(kindByType[typ], bytenr, seq, ref)
		case extentDataRefKey:
			refs += uint64(ref.U32(24))
			seq = extentDataRefHash(ref.Bytes())
			err = d.extentDataRef(bytenr, ref)
		case sharedDataRefKey:
			refs += uint64(ref.U32(8))
			var count disk.Region
			if count, err = ref.Sub(8, uint64(sharedDataRefLayout.size)); err == nil {
				err = d.sharedDataRef(bytenr, seq, count)
			}
		}
		if err != nil {
			return 0, err
		}
		if typ < lastType || typ == lastType && seq > lastSeq {
			return 0, violatedAt(itemRule, r.Addr()+off, "back references are out of order: type %d sequence %#x after type %d sequence %#x", typ, seq, lastType, lastSeq)
		}
		lastType, lastSeq = typ, seq
		off = rest + size
	}
	return refs, nil
}

// keyedRef reads a back reference that has an item of its own, as check_simple_keyed_refs and
// check_extent_data_ref do.
func (d *decoder) keyedRef(kind change.Kind, k key, r disk.Region) error {
	size := 0
	if layout := itemTypes[kind].layout; layout != nil {
		size = layout.size
	}
	if r.Len() != size {
		return sizeError(&itemTypes[kind], r, size)
	}
	if !d.ctx.aligned(k.objectid) {
		return violatedAt(itemRule, r.Addr(), "%s of an extent at %d, which is not a multiple of sectorsize", itemTypes[kind].name, k.objectid)
	}
	switch kind {
	case kindExtentDataRef:
		// Where hashes are the same, each next item takes the next offset that is free.
		if h := extentDataRefHash(r.Bytes()); k.offset-h > maxHashChain {
			return violatedAt(itemRule, r.Addr(), "the key offset of an extent_data_ref is %#x, its hash is %#x", k.offset, h)
		}
		return d.extentDataRef(k.objectid, r)
	case kindSharedDataRef:
		return d.sharedDataRef(k.objectid, k.offset, r)
	default:
		return d.blockRef(kind, k.objectid, k.offset, r)
	}
}

// maxHashChain bounds how far an extent_data_ref stands behind its hash.
const maxHashChain = 1 << 16

// blockRef puts a reference from a tree or from a shared block.
func (d *decoder) blockRef(kind change.Kind, bytenr, from uint64, r disk.Region) error {
	d.begin(kind, bytenr, from, 0)
	if kind == kindTreeBlockRef {
		d.num(fieldRoot, from)
		return nil
	}
	d.num(fieldParent, from)
	return d.checkParent(kind, from, r)
}

func (d *decoder) checkParent(kind change.Kind, parent uint64, r disk.Region) error {
	if !d.ctx.aligned(parent) {
		return violatedAt(itemRule, r.Addr(), "parent of a %s is %d, not a multiple of sectorsize", itemTypes[kind].name, parent)
	}
	return nil
}

// extentDataRef puts a reference from a file under its hash, which is the key of one that stands alone
// unless another has the same.
func (d *decoder) extentDataRef(bytenr uint64, r disk.Region) error {
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "extent_data_ref: "+format, args...)
	}
	root, inode, offset, count := r.U64(0), r.U64(8), r.U64(16), r.U32(24)
	switch {
	// A file tree, balance's tree of data, or the root tree, which has the v1 space cache.
	case !fileTree(root) && root != dataRelocTreeID && root != rootTreeID:
		return bad(0, "root is %s", change.NumText(root))
	case !inodeID(inode) || inode == rootTreeDirID:
		return bad(8, "objectid is %s", change.NumText(inode))
	case !d.ctx.aligned(offset):
		return bad(16, "offset is %d, not a multiple of sectorsize", offset)
	case count == 0:
		return bad(24, "count is 0")
	}
	d.begin(kindExtentDataRef, bytenr, extentDataRefHash(r.Bytes()), nameID(r.Bytes()[:24])) // of root, objectid, offset
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
	return d.checkParent(kindSharedDataRef, parent, r)
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
