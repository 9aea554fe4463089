package btrfs

import (
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// devItem decodes a device. It follows check_dev_item, and open_seed_devices and btrfs_find_device
// in read_one_dev: the UUIDs must be those of a device of this file system, or of its seed.
func (d *decoder) devItem(k ondisk.Key, r disk.Region) error {
	v, ok := ondisk.ViewDevItem(r)
	if !ok || r.Len() > ondisk.DevItemSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindDevItem], r, ondisk.DevItemSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "dev_item: "+format, args...)
	}
	id, total, used := v.DevID(), v.TotalBytes(), v.BytesUsed()
	uuid, fsid := v.UUID(), v.FSID()
	dev, seed := d.ctx.devs.find(id), d.ctx.devs.seed(id, uuid)
	ours := d.ctx.rewritten || fsid == d.ctx.fsid ||
		dev == nil && seed != nil && seed.sb.MetadataUUID() == fsid
	switch {
	case k.ObjectID != ondisk.DevItemsID:
		return bad(0, "objectid is %d, want %d", k.ObjectID, ondisk.DevItemsID)
	case id != k.Offset:
		return bad(ondisk.DevItemDevIDAt, "devid is %d, its key says %d", id, k.Offset)
	case used > total: // total_bytes is 0 while the device is being removed
		return bad(ondisk.DevItemBytesUsedAt, "bytes_used is %d, total_bytes is %d", used, total)
	case dev != nil && uuid != dev.uuid:
		return bad(ondisk.DevItemUUIDAt, "uuid is %s, that of device %d is %s",
			uuidText(uuid), id, uuidText(dev.uuid))
	case !ours:
		return bad(ondisk.DevItemFSIDAt, "fsid is %s, want %s", uuidText(fsid), uuidText(d.ctx.fsid))
	}
	d.begin(ondisk.KindDevItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.DevItemLayout, r, r.Len())
}

// devExtent decodes an allocated range of a device. It follows check_dev_extent_item.
func (d *decoder) devExtent(k ondisk.Key, r disk.Region) error {
	v, ok := ondisk.ViewDevExtent(r)
	if !ok || r.Len() > ondisk.DevExtentSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindDevExtent], r, ondisk.DevExtentSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "dev_extent: "+format, args...)
	}
	tree, objectid, offset, length := v.ChunkTree(), v.ChunkObjectID(), v.ChunkOffset(), v.Length()
	switch {
	case tree != ondisk.ChunkTreeID:
		return bad(ondisk.DevExtentChunkTreeAt, "chunk_tree is %d, want %d",
			tree, ondisk.ChunkTreeID)
	case objectid != ondisk.FirstChunkTreeID:
		return bad(ondisk.DevExtentChunkObjectIDAt, "chunk_objectid is %d, want %d",
			objectid, ondisk.FirstChunkTreeID)
	case !d.ctx.aligned(k.Offset):
		return bad(0, "it begins at %d, which is not a multiple of sectorsize", k.Offset)
	case !d.ctx.aligned(offset):
		return bad(ondisk.DevExtentChunkOffsetAt, "chunk_offset is %d, not a multiple of sectorsize",
			offset)
	case length == 0 || !d.ctx.aligned(length) || k.Offset+length < k.Offset:
		return bad(ondisk.DevExtentLengthAt, "length is %d", length)
	}
	d.begin(ondisk.KindDevExtent, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.DevExtentLayout, r, r.Len())
}
