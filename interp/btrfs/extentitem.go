package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// extentItem decodes an extent, and the back references inside its item.
func (d *decoder) extentItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	v, ok := ondisk.ViewExtentItem(r)
	if !ok {
		return extentItemError(kind, r, "%d bytes, at least %d are needed",
			r.Len(), ondisk.ExtentItemSize)
	}
	if err := d.ctx.checkExtentItem(kind, k, v); err != nil {
		return err
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	if err := d.structure(&ondisk.ExtentItemLayout, r, ondisk.ExtentItemSize); err != nil {
		return err
	}
	d.chunkOf(k.ObjectID)
	flags := v.Flags()
	treeBlock := flags&ondisk.ExtentFlagTreeBlock != 0
	if treeBlock {
		d.num(ondisk.FieldFullBackref, flags&ondisk.ExtentFlagFullBackref>>8)
	}
	off := uint64(ondisk.ExtentItemSize)
	if kind == ondisk.KindExtentItem && treeBlock {
		info, err := r.Sub(off, ondisk.TreeBlockInfoSize)
		if err != nil {
			return extentItemError(kind, r, "%d bytes end within its btrfs_tree_block_info", r.Len())
		}
		level := ondisk.TreeBlockInfo{Region: info}.Level()
		if level >= ondisk.MaxLevel {
			return extentItemError(kind, r, "level is %d, at most %d", level, ondisk.MaxLevel-1)
		}
		d.num(ondisk.FieldLevel, uint64(level))
		off += ondisk.TreeBlockInfoSize
	}
	inline := inlineRefs{decoder: d, bytenr: k.ObjectID, treeBlock: treeBlock}
	if err := inline.decode(r, off); err != nil {
		return err
	}
	if inline.refs > v.Refs() {
		return extentItemError(kind, r, "refs is %d, the back references in the item are %d",
			v.Refs(), inline.refs)
	}
	return nil
}

func extentItemError(kind change.Kind, r disk.Region, format string, args ...any) error {
	return violatedAt(itemRule, r.Addr(), ondisk.ItemTypes[kind].Name+": "+format, args...)
}

// checkExtentItem follows check_extent_item, except for the back references. The generation must
// not exceed that of the superblock, as in btrfs check.
func (c *itemContext) checkExtentItem(kind change.Kind, k ondisk.Key, v ondisk.ExtentItem) error {
	bad := func(format string, args ...any) error {
		return extentItemError(kind, v.Region, format, args...)
	}
	const known = ondisk.ExtentFlagData | ondisk.ExtentFlagTreeBlock | ondisk.ExtentFlagFullBackref
	generation, flags := v.Generation(), v.Flags()
	data, treeBlock := flags&ondisk.ExtentFlagData != 0, flags&ondisk.ExtentFlagTreeBlock != 0
	hasLength := kind == ondisk.KindExtentItem // the key offset of a metadata_item is a level
	wraps := k.ObjectID+k.Offset < k.ObjectID
	switch {
	case !hasLength && c.incompat&ondisk.IncompatSkinnyMetadata == 0:
		return bad("the feature SKINNY_METADATA is off")
	case !c.aligned(k.ObjectID):
		return bad("its address %d is not a multiple of sectorsize", k.ObjectID)
	case !hasLength && k.Offset >= ondisk.MaxLevel:
		return bad("level is %d, at most %d", k.Offset, ondisk.MaxLevel-1)
	case generation > c.generation:
		return bad("generation is %d, the superblock's is %d", generation, c.generation)
	case flags&^known != 0:
		return bad("flags is %#x", flags)
	case data == treeBlock:
		return bad("flags is %#x: an extent is either of data or a tree block", flags)
	case !treeBlock && flags&ondisk.ExtentFlagFullBackref != 0:
		return bad("flags is %#x: full_backref is for tree blocks", flags)
	case !treeBlock && !hasLength:
		return bad("flags is %#x: it is of data", flags)
	case hasLength && (k.Offset == 0 || !c.aligned(k.Offset) || wraps):
		return bad("length is %d", k.Offset)
	case hasLength && treeBlock && k.Offset != uint64(c.nodeSize):
		return bad("length of a tree block is %d, nodesize is %d", k.Offset, c.nodeSize)
	}
	return nil
}

// keyedRef decodes a back reference that has an item of its own, as check_simple_keyed_refs and
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
		return violatedAt(itemRule, r.Addr(),
			"%s of an extent at %d, which is not a multiple of sectorsize",
			ondisk.ItemTypes[kind].Name, k.ObjectID)
	}
	switch kind {
	case ondisk.KindExtentDataRef:
		// After a collision of hashes, an item takes the next free key offset.
		if h := ondisk.ExtentDataRefHash(r.Bytes()); k.Offset-h > maxHashChain {
			return violatedAt(itemRule, r.Addr(),
				"the key offset of an extent_data_ref is %#x, its hash is %#x", k.Offset, h)
		}
		return d.extentDataRef(k.ObjectID, r)
	case ondisk.KindSharedDataRef:
		return d.sharedDataRef(k.ObjectID, k.Offset, r)
	default:
		return d.blockRef(kind, k.ObjectID, k.Offset, r)
	}
}

// maxHashChain bounds the distance from the hash of an extent_data_ref to its key offset.
const maxHashChain = 1 << 16

// blockRef puts a reference to a tree block: from a tree, or from the block at address from.
func (d *decoder) blockRef(kind change.Kind, bytenr, from uint64, r disk.Region) error {
	d.begin(kind, bytenr, from, 0)
	if kind == ondisk.KindTreeBlockRef {
		d.num(ondisk.FieldRoot, from)
		return nil
	}
	d.num(ondisk.FieldParent, from)
	return d.ctx.checkParent(kind, from, r)
}

// checkParent checks the address of the block or leaf that a shared back reference names.
func (c *itemContext) checkParent(kind change.Kind, parent uint64, r disk.Region) error {
	if !c.aligned(parent) {
		return violatedAt(itemRule, r.Addr(), "parent of a %s is %d, not a multiple of sectorsize",
			ondisk.ItemTypes[kind].Name, parent)
	}
	return nil
}

// extentDataRef puts a reference from a file to an extent of data. The object has the hash of the
// reference as its key offset, even if a collision moved the item to another key.
func (d *decoder) extentDataRef(bytenr uint64, r disk.Region) error {
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "extent_data_ref: "+format, args...)
	}
	ref := ondisk.ExtentDataRef{Region: r}
	root, inode, offset, count := ref.Root(), ref.ObjectID(), ref.Offset(), ref.Count()
	// A file tree, the data relocation tree of balance, or the root tree with the v1 space cache.
	holdsFiles := ondisk.IsFileTree(root) || root == ondisk.DataRelocTreeID ||
		root == ondisk.RootTreeID
	switch {
	case !holdsFiles:
		return bad(ondisk.ExtentDataRefRootAt, "root is %s", change.NumText(root))
	case !inodeID(inode) || inode == ondisk.RootTreeDirID:
		return bad(ondisk.ExtentDataRefObjectIDAt, "objectid is %s", change.NumText(inode))
	case !d.ctx.aligned(offset):
		return bad(ondisk.ExtentDataRefOffsetAt, "offset is %d, not a multiple of sectorsize", offset)
	case count == 0:
		return bad(ondisk.ExtentDataRefCountAt, "count is 0")
	}
	identity := r.Bytes()[:ondisk.ExtentDataRefCountAt] // root, objectid and offset
	hash := ondisk.ExtentDataRefHash(r.Bytes())
	d.begin(ondisk.KindExtentDataRef, bytenr, hash, nameID(identity))
	return d.structure(&ondisk.ExtentDataRefLayout, r, r.Len())
}

// sharedDataRef puts a reference from the leaf at address parent to an extent of data.
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

// nameID hashes a name with FNV-1a, to tell apart the names in one item. These share the hash in
// the item's key.
func nameID(name []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range name {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
