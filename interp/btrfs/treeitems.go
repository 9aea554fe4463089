package btrfs

import (
	"fsward/change"
	"fsward/interp/disk"
)

// superBlock decodes the superblock as an object.
func (d *decoder) superBlock(s superblock) error {
	d.begin(superObject.Kind, superObject.ID, superObject.Sub, superObject.Aux)
	return d.structure(&superLayout, disk.NewRegion(s.b[:], s.bytenr()), superSize)
}

// chunkItem puts a chunk and its stripes.
func (d *decoder) chunkItem(k key, r disk.Region) error {
	if _, err := parseChunk(k, r, d.ctx.sectorSize, d.ctx.devs); err != nil {
		return err
	}
	if typ := r.U64(24); typ&groupTypes == groupData|groupMetadata && d.ctx.incompat&incompatMixedGroups == 0 {
		return violatedAt(chunkRule, r.Addr()+24, "chunk %d: type is %#x: data and metadata together, and the feature MIXED_GROUPS is off", k.offset, typ)
	}
	d.begin(kindChunkItem, k.objectid, k.offset, 0)
	if err := d.structure(&chunkLayout, r, chunkLayout.size); err != nil {
		return err
	}
	for i := range int(r.U16(44)) {
		d.begin(kindChunkStripe, k.objectid, k.offset, uint64(i))
		d.num(fieldDevID, r.U64(48+i*stripeSize))
		d.num(fieldOffset, r.U64(56+i*stripeSize))
	}
	return nil
}

// extentCsum follows check_csum_item.
func (d *decoder) extentCsum(k key, r disk.Region) error {
	size := d.ctx.csum.size()
	sums := uint64(r.Len() / size)
	switch {
	case k.objectid != extentCsumID:
		return violatedAt(itemRule, r.Addr(), "objectid of an extent_csum is %d, want -10", int64(k.objectid))
	case !d.ctx.aligned(k.offset):
		return violatedAt(itemRule, r.Addr(), "extent_csum at %d, which is not a multiple of sectorsize", k.offset)
	case sums == 0 || r.Len()%size != 0:
		return violatedAt(itemRule, r.Addr(), "extent_csum with %d bytes, of %d each", r.Len(), size)
	case k.offset+sums*uint64(d.ctx.sectorSize) < k.offset:
		return violatedAt(itemRule, r.Addr(), "extent_csum of %d sectors at %d", sums, k.offset)
	}
	d.begin(kindExtentCsum, k.objectid, k.offset, 0)
	d.num(fieldNSums, sums)
	return nil
}

// Flags of a root item (BTRFS_ROOT_SUBVOL_*).
const rootFlags = 1<<0 | 1<<48 // read-only; being deleted

// rootItem follows check_root_item and check_root_key.
func (d *decoder) rootItem(k key, r disk.Region) error {
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "root_item: "+format, args...)
	}
	if r.Len() != rootItemLayout.size && r.Len() != legacyRootItemSize {
		return bad(0, "%d bytes, want %d or %d", r.Len(), rootItemLayout.size, legacyRootItemSize)
	}
	generation, bytenr, lastSnapshot, flags := r.U64(160), r.U64(176), r.U64(200), r.U64(208)
	refs, dropped, dropLevel, level := r.U32(216), r.U64(220), r.U8(237), r.U8(238)
	switch {
	case k.objectid == 0:
		return bad(0, "there is no tree 0")
	case k.objectid == treeRelocID && !fileTree(k.offset) && k.offset != dataRelocTreeID:
		return bad(0, "balance moves tree %s, which is no file tree", change.NumText(k.offset))
	case k.offset != 0 && d.tree == rootTreeID && k.objectid != treeRelocID && (k.objectid == fsTreeID || !fileTree(k.objectid)):
		return bad(0, "the key offset of tree %s is %d, want 0", change.NumText(k.objectid), k.offset)
	case generation > d.ctx.generation:
		return bad(160, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case lastSnapshot > d.ctx.generation && !fileTree(k.objectid): // of file trees a rule asks
		return bad(200, "last_snapshot is %d, the superblock's generation is %d", lastSnapshot, d.ctx.generation)
	case !d.ctx.aligned(bytenr):
		return bad(176, "bytenr is %d, not a multiple of sectorsize", bytenr)
	case level >= maxLevel || dropLevel >= maxLevel:
		return bad(237, "level is %d, drop_level is %d, at most %d", level, dropLevel, maxLevel-1)
	case dropped != 0 && dropLevel == 0 && (refs == 0 || !fileTree(k.objectid)): // of a file tree that is in use a rule asks
		return bad(237, "drop_level is 0, and drop_progress has objectid %d: a tree is dropped from its nodes", dropped)
	case flags&^rootFlags != 0:
		return bad(208, "flags is %#x, unknown are %#x", flags, flags&^rootFlags)
	}
	if r.Len() == rootItemLayout.size {
		// A kernel that did not know generation_v2 leaves it behind when it writes the item. Those of a log are new (btrfs_insert_root).
		switch v2 := r.U64(239); {
		case v2 > d.ctx.generation:
			return bad(239, "generation_v2 is %d, the superblock's is %d", v2, d.ctx.generation)
		case v2 != generation && generation == d.ctx.generation && d.tree == treeLogID: // its block says whether the generation is right
			return bad(239, "generation_v2 is %d, generation is %d, in a log", v2, generation)
		}
	}
	d.begin(kindRootItem, k.objectid, k.offset, 0)
	return d.structure(&rootItemLayout, r, r.Len())
}

// rootRef follows check_root_ref.
func (d *decoder) rootRef(kind change.Kind, k key, r disk.Region) error {
	if r.Len() < rootRefLayout.size {
		return sizeError(&itemTypes[kind], r, rootRefLayout.size)
	}
	name, err := nameIn(r, uint64(rootRefLayout.size), uint64(r.U16(16)))
	if err != nil {
		return err
	}
	if r.Len() != rootRefLayout.size+len(name) {
		return sizeError(&itemTypes[kind], r, rootRefLayout.size+len(name))
	}
	d.begin(kind, k.objectid, k.offset, 0)
	if err := d.structure(&rootRefLayout, r, r.Len()); err != nil {
		return err
	}
	d.name(name)
	subvolume := k.objectid
	if kind == kindRootRef {
		subvolume = k.offset
	}
	d.link(subvolume, kindRootItem, name)
	return nil
}

// uuidItem reads the subvolumes of a UUID (btrfs_uuid_tree_add): each is an object. One can be there twice: of a
// subvolume that is made while the tree is filled (btrfs_uuid_scan_kthread) both find that it is not there yet.
func (d *decoder) uuidItem(kind change.Kind, k key, r disk.Region) error {
	if r.Len() == 0 || r.Len()%8 != 0 {
		return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want a multiple of 8", itemTypes[kind].name, r.Len())
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
		d.begin(kind, k.objectid, k.offset, subvolume)
		d.num(fieldRoot, subvolume)
	}
	return nil
}

// blockGroup follows check_block_group_item.
func (d *decoder) blockGroup(k key, r disk.Region) error {
	if r.Len() != blockGroupLayout.size {
		return sizeError(&itemTypes[kindBlockGroupItem], r, blockGroupLayout.size)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "block_group_item: "+format, args...)
	}
	used, flags := r.U64(0), r.U64(16)
	types, profile := flags&groupTypes, flags&groupProfiles
	switch {
	case k.offset == 0 || k.objectid+k.offset < k.objectid:
		return bad(0, "length is %d", k.offset)
	case r.U64(8) != firstChunkTreeID:
		return bad(8, "chunk_objectid is %d, want %d", r.U64(8), firstChunkTreeID)
	case used > k.offset:
		return bad(0, "used is %d in a block group of %d bytes", used, k.offset)
	case profile&(profile-1) != 0:
		return bad(16, "flags is %#x: more than one profile", flags)
	case types == 0 || types&groupSystem != 0 && types != groupSystem || flags&^(groupTypes|groupProfiles) != 0:
		return bad(16, "flags is %#x: not data, metadata, both, or system", flags)
	}
	d.begin(kindBlockGroupItem, k.objectid, k.offset, 0)
	return d.structure(&blockGroupLayout, r, r.Len())
}
