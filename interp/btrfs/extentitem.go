package btrfs

import (
	"math"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// extentItem follows check_extent_item: an extent and the back references that fit inside the item.
// Its generation is held to that of the superblock itself, as btrfs check does.
func (d *decoder) extentItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	bad := func(format string, args ...any) error {
		return violatedAt(itemRule, r.Addr(), ondisk.ItemTypes[kind].Name+": "+format, args...)
	}
	v, ok := ondisk.ViewExtentItem(r)
	if !ok {
		return bad("%d bytes, at least %d are needed", r.Len(), ondisk.ExtentItemSize)
	}
	refs, generation, flags := v.Refs(), v.Generation(), v.Flags()
	treeBlock := flags&ondisk.ExtentFlagTreeBlock != 0
	switch {
	case kind == ondisk.KindMetadataItem && d.ctx.incompat&ondisk.IncompatSkinnyMetadata == 0:
		return bad("the feature SKINNY_METADATA is off")
	case !d.ctx.aligned(k.ObjectID):
		return bad("its address %d is not a multiple of sectorsize", k.ObjectID)
	case kind == ondisk.KindMetadataItem && k.Offset >= ondisk.MaxLevel:
		return bad("level is %d, at most %d", k.Offset, ondisk.MaxLevel-1)
	case generation > d.ctx.generation:
		return bad("generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case flags&^(ondisk.ExtentFlagData|ondisk.ExtentFlagTreeBlock|ondisk.ExtentFlagFullBackref) != 0:
		return bad("flags is %#x", flags)
	case flags&ondisk.ExtentFlagData != 0 == treeBlock:
		return bad("flags is %#x: an extent is either of data or a tree block", flags)
	case !treeBlock && flags&ondisk.ExtentFlagFullBackref != 0:
		return bad("flags is %#x: full_backref is for tree blocks", flags)
	case !treeBlock && kind == ondisk.KindMetadataItem:
		return bad("flags is %#x: it is of data", flags)
	case kind == ondisk.KindExtentItem && (k.Offset == 0 || !d.ctx.aligned(k.Offset) || k.ObjectID+k.Offset < k.ObjectID):
		return bad("length is %d", k.Offset)
	case kind == ondisk.KindExtentItem && treeBlock && k.Offset != uint64(d.ctx.nodeSize):
		return bad("length of a tree block is %d, nodesize is %d", k.Offset, d.ctx.nodeSize)
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	if err := d.structure(&ondisk.ExtentItemLayout, r, ondisk.ExtentItemSize); err != nil {
		return err
	}
	d.chunkOf(k.ObjectID)
	if treeBlock {
		d.num(ondisk.FieldFullBackref, flags&ondisk.ExtentFlagFullBackref>>8)
	}
	off := uint64(ondisk.ExtentItemSize)
	if kind == ondisk.KindExtentItem && treeBlock {
		info, err := r.Sub(off, ondisk.TreeBlockInfoSize)
		if err != nil {
			return bad("%d bytes end within its btrfs_tree_block_info", r.Len())
		}
		level := ondisk.TreeBlockInfo{Region: info}.Level()
		if level >= ondisk.MaxLevel {
			return bad("level is %d, at most %d", level, ondisk.MaxLevel-1)
		}
		d.num(ondisk.FieldLevel, uint64(level))
		off += ondisk.TreeBlockInfoSize
	}
	inline, err := d.inlineRefs(k.ObjectID, r, off, treeBlock)
	if err != nil {
		return err
	}
	if inline > refs {
		return bad("refs is %d, the back references in the item are %d", refs, inline)
	}
	return nil
}

// inlineRefs reads the back references behind an extent item and returns how many they stand for.
// They are in the order of their type and, within one, of falling sequence:
// lookup_inline_extent_backref relies on it.
func (d *decoder) inlineRefs(bytenr uint64, r disk.Region, off uint64, treeBlock bool) (refs uint64, err error) {
	lastType, lastSeq := uint8(0), uint64(math.MaxUint64)
	for off < uint64(r.Len()) {
		typ := r.U8(int(off))
		rest, size := off+1, uint64(8)
		switch typ {
		case ondisk.ExtentDataRefKey:
			size = uint64(ondisk.ExtentDataRefSize)
		case ondisk.SharedDataRefKey:
			size = 8 + uint64(ondisk.SharedDataRefSize)
		case ondisk.TreeBlockRefKey, ondisk.SharedBlockRefKey, ondisk.ExtentOwnerRefKey:
		default:
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference has type %d", typ)
		}
		ref, err := r.Sub(rest, size)
		if err != nil {
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference of type %d lies beyond the end of the item", typ)
		}
		if blockRef := typ == ondisk.TreeBlockRefKey || typ == ondisk.SharedBlockRefKey; typ != ondisk.ExtentOwnerRefKey && blockRef != treeBlock {
			return 0, violatedAt(itemRule, r.Addr()+off, "a back reference of type %d does not fit the flags of its extent", typ)
		}
		seq := ref.U64(0) // behind the type stands an address, or a btrfs_extent_data_ref
		switch typ {
		case ondisk.ExtentOwnerRefKey:
			if d.ctx.incompat&ondisk.IncompatSimpleQuota == 0 || treeBlock || lastType != 0 {
				return 0, violatedAt(itemRule, r.Addr()+off, "an extent_owner_ref out of place: it comes first, on data, with the feature SIMPLE_QUOTA")
			}
			d.begin(ondisk.KindExtentOwnerRef, bytenr, seq, 0)
			d.num(ondisk.FieldRoot, seq)
		case ondisk.TreeBlockRefKey, ondisk.SharedBlockRefKey:
			refs++
			err = d.blockRef(ondisk.KindByType[typ], bytenr, seq, ref)
		case ondisk.ExtentDataRefKey:
			refs += uint64(ondisk.ExtentDataRef{Region: ref}.Count())
			seq = ondisk.ExtentDataRefHash(ref.Bytes())
			err = d.extentDataRef(bytenr, ref)
		case ondisk.SharedDataRefKey:
			var count disk.Region
			if count, err = ref.Sub(size-ondisk.SharedDataRefSize, ondisk.SharedDataRefSize); err == nil {
				refs += uint64(ondisk.SharedDataRef{Region: count}.Count())
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
func (d *decoder) keyedRef(kind change.Kind, k ondisk.Key, r disk.Region) error {
	size := 0
	if layout := ondisk.ItemTypes[kind].Layout; layout != nil {
		size = layout.Size
	}
	if r.Len() != size {
		return sizeError(&ondisk.ItemTypes[kind], r, size)
	}
	if !d.ctx.aligned(k.ObjectID) {
		return violatedAt(itemRule, r.Addr(), "%s of an extent at %d, which is not a multiple of sectorsize", ondisk.ItemTypes[kind].Name, k.ObjectID)
	}
	switch kind {
	case ondisk.KindExtentDataRef:
		// Where hashes are the same, each next item takes the next offset that is free.
		if h := ondisk.ExtentDataRefHash(r.Bytes()); k.Offset-h > maxHashChain {
			return violatedAt(itemRule, r.Addr(), "the key offset of an extent_data_ref is %#x, its hash is %#x", k.Offset, h)
		}
		return d.extentDataRef(k.ObjectID, r)
	case ondisk.KindSharedDataRef:
		return d.sharedDataRef(k.ObjectID, k.Offset, r)
	default:
		return d.blockRef(kind, k.ObjectID, k.Offset, r)
	}
}

// maxHashChain bounds how far an extent_data_ref stands behind its hash.
const maxHashChain = 1 << 16

// blockRef puts a reference from a tree or from a shared block.
func (d *decoder) blockRef(kind change.Kind, bytenr, from uint64, r disk.Region) error {
	d.begin(kind, bytenr, from, 0)
	if kind == ondisk.KindTreeBlockRef {
		d.num(ondisk.FieldRoot, from)
		return nil
	}
	d.num(ondisk.FieldParent, from)
	return d.ctx.checkParent(kind, from, r)
}

func (c *itemContext) checkParent(kind change.Kind, parent uint64, r disk.Region) error {
	if !c.aligned(parent) {
		return violatedAt(itemRule, r.Addr(), "parent of a %s is %d, not a multiple of sectorsize", ondisk.ItemTypes[kind].Name, parent)
	}
	return nil
}

// extentDataRef puts a reference from a file under its hash, which is the key of one that stands
// alone unless another has the same.
func (d *decoder) extentDataRef(bytenr uint64, r disk.Region) error {
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "extent_data_ref: "+format, args...)
	}
	ref := ondisk.ExtentDataRef{Region: r}
	root, inode, offset, count := ref.Root(), ref.ObjectID(), ref.Offset(), ref.Count()
	switch {
	// A file tree, balance's tree of data, or the root tree, which has the v1 space cache.
	case !ondisk.IsFileTree(root) && root != ondisk.DataRelocTreeID && root != ondisk.RootTreeID:
		return bad(ondisk.ExtentDataRefRootAt, "root is %s", change.NumText(root))
	case !inodeID(inode) || inode == ondisk.RootTreeDirID:
		return bad(ondisk.ExtentDataRefObjectIDAt, "objectid is %s", change.NumText(inode))
	case !d.ctx.aligned(offset):
		return bad(ondisk.ExtentDataRefOffsetAt, "offset is %d, not a multiple of sectorsize", offset)
	case count == 0:
		return bad(ondisk.ExtentDataRefCountAt, "count is 0")
	}
	d.begin(ondisk.KindExtentDataRef, bytenr, ondisk.ExtentDataRefHash(r.Bytes()), nameID(r.Bytes()[:ondisk.ExtentDataRefCountAt])) // of root, objectid, offset
	return d.structure(&ondisk.ExtentDataRefLayout, r, r.Len())
}

func (d *decoder) sharedDataRef(bytenr, parent uint64, r disk.Region) error {
	d.begin(ondisk.KindSharedDataRef, bytenr, parent, 0)
	if (ondisk.SharedDataRef{Region: r}).Count() == 0 {
		return violatedAt(itemRule, r.Addr(), "count of a shared_data_ref is 0")
	}
	if err := d.structure(&ondisk.SharedDataRefLayout, r, r.Len()); err != nil {
		return err
	}
	d.num(ondisk.FieldParent, parent)
	return d.ctx.checkParent(ondisk.KindSharedDataRef, parent, r)
}

// nameID is a number that tells apart the names in one item, FNV-1a. It has nothing to do with the
// hash in the item's key, which they share.
func nameID(name []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range name {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
