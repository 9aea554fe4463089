package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Flags that exist (BTRFS_QGROUP_STATUS_FLAG_*). Those of limits are not held to what exists:
// mkfs.btrfs -O squota leaves the item as its memory was (6.14), and the kernel takes and keeps it
// so.
const (
	qgroupStatusVersion = 1
	qgroupStatusFlags   = 0xf // on, rescan, inconsistent, simple mode
)

// quotaItem reads an item of the quota tree (btrfs_read_qgroup_config). The object id is 0 but for
// a relation, whose two keys name member and group, each in the place of the other.
func (d *decoder) quotaItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t := &ondisk.ItemTypes[kind]
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), t.Name+": "+format, args...)
	}
	size := 0
	if t.Layout != nil {
		size = t.Layout.Size
	}
	// The status has grown by enable_gen in Linux 6.7.
	if r.Len() != size && (kind != ondisk.KindQgroupStatus || r.Len() != size+8) {
		return sizeError(t, r, size)
	}
	if kind != ondisk.KindQgroupRelation && k.ObjectID != 0 {
		return bad(0, "objectid is %d, want 0", k.ObjectID)
	}
	switch kind {
	case ondisk.KindQgroupStatus:
		status, _ := ondisk.ViewQgroupStatus(r)
		version, generation, flags := status.Version(), status.Generation(), status.Flags()
		switch {
		case k.Offset != 0:
			return bad(0, "key offset is %d, want 0", k.Offset)
		case version != qgroupStatusVersion:
			return bad(ondisk.QgroupStatusVersionAt, "version is %d, want %d", version, qgroupStatusVersion)
		case generation > d.ctx.generation:
			return bad(ondisk.QgroupStatusGenerationAt, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
		case flags&^qgroupStatusFlags != 0:
			return bad(ondisk.QgroupStatusFlagsAt, "flags is %#x, unknown are %#x", flags, flags&^qgroupStatusFlags)
		}
	case ondisk.KindQgroupInfo:
		info, _ := ondisk.ViewQgroupInfo(r)
		if generation := info.Generation(); generation > d.ctx.generation {
			return bad(ondisk.QgroupInfoGenerationAt, "generation is %d, the superblock's is %d", generation, d.ctx.generation)
		}
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	if t.Layout == nil {
		return nil
	}
	return d.structure(t.Layout, r, size)
}
