package btrfs

import (
	"math/bits"

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
	if k.objectid != extentCsumID || k.offset%uint64(d.ctx.sectorSize) != 0 || r.Len() == 0 || r.Len()%size != 0 {
		return violatedAt(itemRule, r.Addr(), "extent_csum with %d bytes", r.Len())
	}
	d.begin(kindExtentCsum, k.objectid, k.offset, 0)
	d.num(fieldNSums, uint64(r.Len()/size))
	return nil
}

// rootItem follows check_root_item.
func (d *decoder) rootItem(k key, r disk.Region) error {
	if r.Len() != rootItemLayout.size && r.Len() != legacyRootItemSize {
		return sizeError(&itemTypes[kindRootItem], r, rootItemLayout.size)
	}
	generation, bytenr, level := r.U64(160), r.U64(176), r.U8(238)
	switch {
	case generation > d.ctx.generation:
		return violatedAt(itemRule, r.Addr()+160, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
	case bytenr%uint64(d.ctx.sectorSize) != 0:
		return violatedAt(itemRule, r.Addr()+176, "bytenr is %d, not a multiple of sectorsize", bytenr)
	case level >= maxLevel || r.U8(237) >= maxLevel:
		return violatedAt(itemRule, r.Addr()+237, "level is %d, drop_level is %d, at most %d", level, r.U8(237), maxLevel-1)
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
	d.put(fieldName, false, d.names.Intern(name))
	subvolume := k.objectid
	if kind == kindRootRef {
		subvolume = k.offset
	}
	d.link(subvolume, kindRootItem, name)
	return nil
}

// uuidItem reads the subvolumes of a UUID (btrfs_uuid_tree_add): each is an object.
func (d *decoder) uuidItem(kind change.Kind, k key, r disk.Region) error {
	if r.Len() == 0 || r.Len()%8 != 0 {
		return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want a multiple of 8", itemTypes[kind].name, r.Len())
	}
	for off := 0; off < r.Len(); off += 8 {
		d.begin(kind, k.objectid, k.offset, r.U64(off))
		d.num(fieldRoot, r.U64(off))
	}
	return nil
}

// blockGroup follows check_block_group_item.
func (d *decoder) blockGroup(k key, r disk.Region) error {
	if r.Len() != blockGroupLayout.size {
		return sizeError(&itemTypes[kindBlockGroupItem], r, blockGroupLayout.size)
	}
	used, flags := r.U64(0), r.U64(16)
	switch {
	case k.offset == 0 || k.objectid+k.offset < k.objectid:
		return violatedAt(itemRule, r.Addr(), "block_group_item has length %d", k.offset)
	case used > k.offset:
		return violatedAt(itemRule, r.Addr(), "used is %d in a block group of %d bytes", used, k.offset)
	case r.U64(8) != firstChunkTreeID:
		return violatedAt(itemRule, r.Addr()+8, "chunk_objectid is %d, want %d", r.U64(8), firstChunkTreeID)
	case flags&groupTypes == 0 || flags&^(groupTypes|groupProfiles) != 0:
		return violatedAt(itemRule, r.Addr()+16, "flags is %#x", flags)
	}
	d.begin(kindBlockGroupItem, k.objectid, k.offset, 0)
	return d.structure(&blockGroupLayout, r, r.Len())
}

// freeSpaceBitmap has a bit for each sector of the range in its key (free_space_bitmap_size).
func (d *decoder) freeSpaceBitmap(k key, r disk.Region) error {
	sectors := k.offset / uint64(d.ctx.sectorSize)
	if uint64(r.Len()) != (sectors+7)/8 {
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
