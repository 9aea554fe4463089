package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// chunkItem decodes a chunk and its stripes.
func (d *decoder) chunkItem(k ondisk.Key, r disk.Region) error {
	if _, err := parseChunk(k, r, d.ctx.sectorSize, d.ctx.devs); err != nil {
		return err
	}
	c, _ := ondisk.ViewChunk(r) // parseChunk has checked its length
	typ, mayMix := c.Type(), d.ctx.incompat&ondisk.IncompatMixedGroups != 0
	if typ&ondisk.GroupTypes == ondisk.GroupData|ondisk.GroupMetadata && !mayMix {
		return violatedAt(chunkRule, r.Addr()+ondisk.ChunkTypeAt, "chunk %d: type is %#x: "+
			"data and metadata together, and the feature MIXED_GROUPS is off", k.Offset, typ)
	}
	d.begin(ondisk.KindChunkItem, k.ObjectID, k.Offset, 0)
	if err := d.structure(&ondisk.ChunkLayout, r, ondisk.ChunkSize); err != nil {
		return err
	}
	for i := range int(c.NumStripes()) {
		stripe := ondisk.ChunkStripe(c, i)
		d.begin(ondisk.KindChunkStripe, k.ObjectID, k.Offset, uint64(i))
		d.num(ondisk.FieldDevID, stripe.DevID())
		d.num(ondisk.FieldOffset, stripe.Offset())
	}
	return nil
}

// extentCsum decodes the checksums of a range of data. It follows check_csum_item.
func (d *decoder) extentCsum(k ondisk.Key, r disk.Region) error {
	size := d.ctx.csum.Size()
	sums := uint64(r.Len() / size)
	switch {
	case k.ObjectID != ondisk.ExtentCsumID:
		return violatedAt(itemRule, r.Addr(), "objectid of an extent_csum is %d, want -10",
			int64(k.ObjectID))
	case !d.ctx.aligned(k.Offset):
		return violatedAt(itemRule, r.Addr(),
			"extent_csum at %d, which is not a multiple of sectorsize", k.Offset)
	case sums == 0 || r.Len()%size != 0:
		return violatedAt(itemRule, r.Addr(), "extent_csum with %d bytes, a checksum has %d",
			r.Len(), size)
	case k.Offset+sums*uint64(d.ctx.sectorSize) < k.Offset:
		return violatedAt(itemRule, r.Addr(), "extent_csum of %d sectors at %d", sums, k.Offset)
	}
	d.begin(ondisk.KindExtentCsum, k.ObjectID, k.Offset, 0)
	d.num(ondisk.FieldNSums, sums)
	return nil
}

// rootFlags are the known flags of a root item (BTRFS_ROOT_SUBVOL_*).
const rootFlags = 1<<0 | 1<<48 // read-only; being deleted

// rootItem decodes the root of a tree. It follows check_root_item and check_root_key.
func (d *decoder) rootItem(k ondisk.Key, r disk.Region) error {
	if r.Len() != ondisk.RootItemSize && r.Len() != ondisk.LegacyRootItemSize {
		return rootItemError(r, 0, "%d bytes, want %d or %d",
			r.Len(), ondisk.RootItemSize, ondisk.LegacyRootItemSize)
	}
	v, _ := ondisk.ViewRootItem(r)
	if err := checkRootKey(d.tree, k, r); err != nil {
		return err
	}
	if err := d.ctx.checkRootItem(k, v); err != nil {
		return err
	}
	if err := d.ctx.checkRootV2(d.tree, v); err != nil {
		return err
	}
	d.begin(ondisk.KindRootItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.RootItemLayout, r, r.Len())
}

func rootItemError(r disk.Region, off int, format string, args ...any) error {
	return violatedAt(itemRule, r.Addr()+uint64(off), "root_item: "+format, args...)
}

// checkRootKey checks the key of a root item in a tree: the root tree or the log root tree. Only
// subvolumes, the trees of balance, and a data relocation tree that btrfs-convert made have a key
// offset. Linux finds the data relocation tree under any offset (btrfs_get_root_ref).
func checkRootKey(tree uint64, k ondisk.Key, r disk.Region) error {
	ofBalance := k.ObjectID == ondisk.TreeRelocID
	subvolume := k.ObjectID != ondisk.FSTreeID && ondisk.IsFileTree(k.ObjectID)
	switch {
	case k.ObjectID == 0:
		return rootItemError(r, 0, "there is no tree 0")
	case ofBalance && !ondisk.IsFileTree(k.Offset) && k.Offset != ondisk.DataRelocTreeID:
		return rootItemError(r, 0, "balance moves tree %s, which is no file tree",
			change.NumText(k.Offset))
	case k.Offset != 0 && tree == ondisk.RootTreeID && !ofBalance && !subvolume &&
		k.ObjectID != ondisk.DataRelocTreeID:
		return rootItemError(r, 0, "the key offset of tree %s is %d, want 0",
			change.NumText(k.ObjectID), k.Offset)
	}
	return nil
}

// checkRootItem checks the members of a root item. Rules check last_snapshot of a file tree, and
// drop_level of a file tree in use.
func (c *itemContext) checkRootItem(k ondisk.Key, v ondisk.RootItem) error {
	bad := func(off int, format string, args ...any) error {
		return rootItemError(v.Region, off, format, args...)
	}
	generation, bytenr, lastSnapshot := v.Generation(), v.Bytenr(), v.LastSnapshot()
	dropped, dropLevel, level := v.DropProgress().ObjectID, v.DropLevel(), v.Level()
	flags, ofFiles := v.Flags(), ondisk.IsFileTree(k.ObjectID)
	switch {
	case generation > c.generation:
		return bad(ondisk.RootItemGenerationAt, "generation is %d, the superblock's is %d",
			generation, c.generation)
	case lastSnapshot > c.generation && !ofFiles:
		return bad(ondisk.RootItemLastSnapshotAt,
			"last_snapshot is %d, the superblock's generation is %d", lastSnapshot, c.generation)
	case !c.aligned(bytenr):
		return bad(ondisk.RootItemBytenrAt, "bytenr is %d, not a multiple of sectorsize", bytenr)
	case level >= ondisk.MaxLevel || dropLevel >= ondisk.MaxLevel:
		return bad(ondisk.RootItemDropLevelAt, "level is %d, drop_level is %d, at most %d",
			level, dropLevel, ondisk.MaxLevel-1)
	case dropped != 0 && dropLevel == 0 && (v.Refs() == 0 || !ofFiles):
		return bad(ondisk.RootItemDropLevelAt, "drop_level is 0, and drop_progress has objectid %d: "+
			"a tree is dropped from its nodes", dropped)
	case flags&^rootFlags != 0:
		return bad(ondisk.RootItemFlagsAt, "flags is %#x, unknown are %#x", flags, flags&^rootFlags)
	}
	return nil
}

// checkRootV2 checks generation_v2 of a root item, if the item has it. An old kernel that does not
// know generation_v2 changes generation alone. In a log, items are always new (btrfs_insert_root),
// so that both agree; the root block shows whether the generation itself is right.
func (c *itemContext) checkRootV2(tree uint64, v ondisk.RootItem) error {
	if v.Len() != ondisk.RootItemSize {
		return nil
	}
	generation, v2 := v.Generation(), v.GenerationV2()
	switch {
	case v2 > c.generation:
		return rootItemError(v.Region, ondisk.RootItemGenerationV2At,
			"generation_v2 is %d, the superblock's is %d", v2, c.generation)
	case v2 != generation && generation == c.generation && tree == ondisk.TreeLogID:
		return rootItemError(v.Region, ondisk.RootItemGenerationV2At,
			"generation_v2 is %d, generation is %d, in a log", v2, generation)
	}
	return nil
}

// rootRef decodes the name of a subvolume in its parent. It follows check_root_ref.
func (d *decoder) rootRef(kind change.Kind, k ondisk.Key, r disk.Region) error {
	ref, ok := ondisk.ViewRootRef(r)
	if !ok {
		return sizeError(&ondisk.ItemTypes[kind], r, ondisk.RootRefSize)
	}
	name, err := nameIn(r, ondisk.RootRefSize, uint64(ref.NameLen()))
	if err != nil {
		return err
	}
	if r.Len() != ondisk.RootRefSize+len(name) {
		return sizeError(&ondisk.ItemTypes[kind], r, ondisk.RootRefSize+len(name))
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	if err := d.structure(&ondisk.RootRefLayout, r, r.Len()); err != nil {
		return err
	}
	d.name(name)
	subvolume := k.ObjectID
	if kind == ondisk.KindRootRef {
		subvolume = k.Offset
	}
	d.link(subvolume, ondisk.KindRootItem, name)
	return nil
}

// uuidItem decodes the subvolumes of a UUID (btrfs_uuid_tree_add): each is an object. The item may
// name a subvolume twice, if the subvolume is made while btrfs_uuid_scan_kthread fills the tree:
// both add it, and neither sees the other.
func (d *decoder) uuidItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	const size = 8 // of the number of a subvolume
	if r.Len() == 0 || r.Len()%size != 0 {
		return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want a multiple of %d",
			ondisk.ItemTypes[kind].Name, r.Len(), size)
	}
	var seen map[uint64]bool
	if r.Len() > size {
		seen = make(map[uint64]bool)
	}
	for off := 0; off < r.Len(); off += size {
		subvolume := r.U64(off)
		if seen[subvolume] {
			continue
		}
		if seen != nil {
			seen[subvolume] = true
		}
		d.begin(kind, k.ObjectID, k.Offset, subvolume)
		d.num(ondisk.FieldRoot, subvolume)
	}
	return nil
}

// blockGroup decodes a block group. It follows check_block_group_item.
func (d *decoder) blockGroup(k ondisk.Key, r disk.Region) error {
	group, ok := ondisk.ViewBlockGroup(r)
	if !ok || r.Len() > ondisk.BlockGroupSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindBlockGroupItem], r, ondisk.BlockGroupSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "block_group_item: "+format, args...)
	}
	used, flags := group.Used(), group.Flags()
	types, profile := flags&ondisk.GroupTypes, flags&ondisk.GroupProfiles
	switch {
	case k.Offset == 0 || k.ObjectID+k.Offset < k.ObjectID:
		return bad(0, "length is %d", k.Offset)
	case group.ChunkObjectID() != ondisk.FirstChunkTreeID:
		return bad(ondisk.BlockGroupChunkObjectIDAt, "chunk_objectid is %d, want %d",
			group.ChunkObjectID(), ondisk.FirstChunkTreeID)
	case used > k.Offset:
		return bad(ondisk.BlockGroupUsedAt, "used is %d in a block group of %d bytes", used, k.Offset)
	case profile&(profile-1) != 0:
		return bad(ondisk.BlockGroupFlagsAt, "flags is %#x: more than one profile", flags)
	case types == 0 || types&ondisk.GroupSystem != 0 && types != ondisk.GroupSystem ||
		flags&^(ondisk.GroupTypes|ondisk.GroupProfiles) != 0:
		return bad(ondisk.BlockGroupFlagsAt, "flags is %#x: not data, metadata, both, or system",
			flags)
	}
	d.begin(ondisk.KindBlockGroupItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.BlockGroupLayout, r, r.Len())
}
