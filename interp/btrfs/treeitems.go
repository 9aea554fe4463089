package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// chunkItem puts a chunk and its stripes.
func (d *decoder) chunkItem(k ondisk.Key, r disk.Region) error {
	if _, err := parseChunk(k, r, d.ctx.sectorSize, d.ctx.devs); err != nil {
		return err
	}
	c, _ := ondisk.ViewChunk(r) // parseChunk has checked its length
	if typ := c.Type(); typ&ondisk.GroupTypes == ondisk.GroupData|ondisk.GroupMetadata && d.ctx.incompat&ondisk.IncompatMixedGroups == 0 {
		return violatedAt(chunkRule, r.Addr()+ondisk.ChunkTypeAt, "chunk %d: type is %#x: data and metadata together, and the feature MIXED_GROUPS is off", k.Offset, typ)
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

// extentCsum follows check_csum_item.
func (d *decoder) extentCsum(k ondisk.Key, r disk.Region) error {
	size := d.ctx.csum.Size()
	sums := uint64(r.Len() / size)
	switch {
	case k.ObjectID != ondisk.ExtentCsumID:
		return violatedAt(itemRule, r.Addr(), "objectid of an extent_csum is %d, want -10", int64(k.ObjectID))
	case !d.ctx.aligned(k.Offset):
		return violatedAt(itemRule, r.Addr(), "extent_csum at %d, which is not a multiple of sectorsize", k.Offset)
	case sums == 0 || r.Len()%size != 0:
		return violatedAt(itemRule, r.Addr(), "extent_csum with %d bytes, of %d each", r.Len(), size)
	case k.Offset+sums*uint64(d.ctx.sectorSize) < k.Offset:
		return violatedAt(itemRule, r.Addr(), "extent_csum of %d sectors at %d", sums, k.Offset)
	}
	d.begin(ondisk.KindExtentCsum, k.ObjectID, k.Offset, 0)
	d.num(ondisk.FieldNSums, sums)
	return nil
}

// Flags of a root item (BTRFS_ROOT_SUBVOL_*).
const rootFlags = 1<<0 | 1<<48 // read-only; being deleted

// rootItem follows check_root_item and check_root_key.
func (d *decoder) rootItem(k ondisk.Key, r disk.Region) error {
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "root_item: "+format, args...)
	}
	if r.Len() != ondisk.RootItemSize && r.Len() != ondisk.LegacyRootItemSize {
		return bad(0, "%d bytes, want %d or %d", r.Len(), ondisk.RootItemSize, ondisk.LegacyRootItemSize)
	}
	v, _ := ondisk.ViewRootItem(r)
	generation, bytenr, lastSnapshot, flags := v.Generation(), v.Bytenr(), v.LastSnapshot(), v.Flags()
	refs, dropped, dropLevel, level := v.Refs(), v.DropProgress().ObjectID, v.DropLevel(), v.Level()
	switch {
	case k.ObjectID == 0:
		return bad(0, "there is no tree 0")
	case k.ObjectID == ondisk.TreeRelocID && !ondisk.IsFileTree(k.Offset) && k.Offset != ondisk.DataRelocTreeID:
		return bad(0, "balance moves tree %s, which is no file tree", change.NumText(k.Offset))
	case k.Offset != 0 && d.tree == ondisk.RootTreeID && k.ObjectID != ondisk.TreeRelocID && (k.ObjectID == ondisk.FSTreeID || !ondisk.IsFileTree(k.ObjectID)):
		return bad(0, "the key offset of tree %s is %d, want 0", change.NumText(k.ObjectID), k.Offset)
	case generation > d.ctx.generation:
		return bad(ondisk.RootItemGenerationAt, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case lastSnapshot > d.ctx.generation && !ondisk.IsFileTree(k.ObjectID): // of file trees a rule asks
		return bad(ondisk.RootItemLastSnapshotAt, "last_snapshot is %d, the superblock's generation is %d", lastSnapshot, d.ctx.generation)
	case !d.ctx.aligned(bytenr):
		return bad(ondisk.RootItemBytenrAt, "bytenr is %d, not a multiple of sectorsize", bytenr)
	case level >= ondisk.MaxLevel || dropLevel >= ondisk.MaxLevel:
		return bad(ondisk.RootItemDropLevelAt, "level is %d, drop_level is %d, at most %d", level, dropLevel, ondisk.MaxLevel-1)
	case dropped != 0 && dropLevel == 0 && (refs == 0 || !ondisk.IsFileTree(k.ObjectID)): // of a file tree that is in use a rule asks
		return bad(ondisk.RootItemDropLevelAt, "drop_level is 0, and drop_progress has objectid %d: a tree is dropped from its nodes", dropped)
	case flags&^rootFlags != 0:
		return bad(ondisk.RootItemFlagsAt, "flags is %#x, unknown are %#x", flags, flags&^rootFlags)
	}
	if r.Len() == ondisk.RootItemSize {
		// A kernel that did not know generation_v2 leaves it behind when it writes the item. Those
		// of a log are new (btrfs_insert_root).
		switch v2 := v.GenerationV2(); {
		case v2 > d.ctx.generation:
			return bad(ondisk.RootItemGenerationV2At, "generation_v2 is %d, the superblock's is %d", v2, d.ctx.generation)
		case v2 != generation && generation == d.ctx.generation && d.tree == ondisk.TreeLogID: // its block says whether the generation is right
			return bad(ondisk.RootItemGenerationV2At, "generation_v2 is %d, generation is %d, in a log", v2, generation)
		}
	}
	d.begin(ondisk.KindRootItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.RootItemLayout, r, r.Len())
}

// rootRef follows check_root_ref.
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

// uuidItem reads the subvolumes of a UUID (btrfs_uuid_tree_add): each is an object. One can be
// there twice: of a subvolume that is made while the tree is filled (btrfs_uuid_scan_kthread) both
// find that it is not there yet.
func (d *decoder) uuidItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	if r.Len() == 0 || r.Len()%8 != 0 {
		return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want a multiple of 8", ondisk.ItemTypes[kind].Name, r.Len())
	}
	var seen map[uint64]bool
	if r.Len() > 8 {
		seen = make(map[uint64]bool)
	}
	for off := 0; off < r.Len(); off += 8 {
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

// blockGroup follows check_block_group_item.
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
		return bad(ondisk.BlockGroupChunkObjectIDAt, "chunk_objectid is %d, want %d", group.ChunkObjectID(), ondisk.FirstChunkTreeID)
	case used > k.Offset:
		return bad(ondisk.BlockGroupUsedAt, "used is %d in a block group of %d bytes", used, k.Offset)
	case profile&(profile-1) != 0:
		return bad(ondisk.BlockGroupFlagsAt, "flags is %#x: more than one profile", flags)
	case types == 0 || types&ondisk.GroupSystem != 0 && types != ondisk.GroupSystem || flags&^(ondisk.GroupTypes|ondisk.GroupProfiles) != 0:
		return bad(ondisk.BlockGroupFlagsAt, "flags is %#x: not data, metadata, both, or system", flags)
	}
	d.begin(ondisk.KindBlockGroupItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.BlockGroupLayout, r, r.Len())
}
