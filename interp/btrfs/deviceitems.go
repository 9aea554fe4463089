package btrfs

import (
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// devItem follows check_dev_item, and open_seed_devices and btrfs_find_device of read_one_dev: the UUIDs are those of a
// device of this file system.
func (d *decoder) devItem(k ondisk.Key, r disk.Region) error {
	if r.Len() != ondisk.DevItemSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindDevItem], r, ondisk.DevItemSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "dev_item: "+format, args...)
	}
	id, total, used := r.U64(0), r.U64(8), r.U64(16)
	uuid, fsid := [16]byte(r.Bytes()[66:82]), [16]byte(r.Bytes()[82:98])
	dev := d.ctx.devs.find(id)
	switch {
	case k.ObjectID != ondisk.DevItemsID:
		return bad(0, "objectid is %d, want %d", k.ObjectID, ondisk.DevItemsID)
	case id != k.Offset:
		return bad(0, "devid is %d, its key says %d", id, k.Offset)
	case used > total: // total_bytes is 0 while the device is being removed
		return bad(16, "bytes_used is %d, total_bytes is %d", used, total)
	case dev != nil && uuid != dev.uuid:
		return bad(66, "uuid is %s, that of device %d is %s", uuidText(uuid), id, uuidText(dev.uuid))
	case !d.ctx.rewritten && fsid != d.ctx.fsid: // the seed's otherwise, and seeds are not supported
		return bad(82, "fsid is %s, want %s", uuidText(fsid), uuidText(d.ctx.fsid))
	}
	d.begin(ondisk.KindDevItem, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.DevItemLayout, r, r.Len())
}

// devExtent follows check_dev_extent_item.
func (d *decoder) devExtent(k ondisk.Key, r disk.Region) error {
	if r.Len() != ondisk.DevExtentSize {
		return sizeError(&ondisk.ItemTypes[ondisk.KindDevExtent], r, ondisk.DevExtentSize)
	}
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), "dev_extent: "+format, args...)
	}
	tree, objectid, offset, length := r.U64(0), r.U64(8), r.U64(16), r.U64(24)
	switch {
	case tree != ondisk.ChunkTreeID:
		return bad(0, "chunk_tree is %d, want %d", tree, ondisk.ChunkTreeID)
	case objectid != ondisk.FirstChunkTreeID:
		return bad(8, "chunk_objectid is %d, want %d", objectid, ondisk.FirstChunkTreeID)
	case !d.ctx.aligned(k.Offset):
		return bad(0, "it begins at %d, which is not a multiple of sectorsize", k.Offset)
	case !d.ctx.aligned(offset):
		return bad(16, "chunk_offset is %d, not a multiple of sectorsize", offset)
	case length == 0 || !d.ctx.aligned(length) || k.Offset+length < k.Offset:
		return bad(24, "length is %d", length)
	}
	d.begin(ondisk.KindDevExtent, k.ObjectID, k.Offset, 0)
	return d.structure(&ondisk.DevExtentLayout, r, r.Len())
}
