package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// The known version and flags of a quota status (BTRFS_QGROUP_STATUS_FLAG_*). The flags of limits
// are not checked: mkfs.btrfs -O squota (6.14) writes them uninitialized, and the kernel accepts
// and keeps them.
const (
	qgroupStatusVersion = 1
	qgroupStatusFlags   = 0xf // on, rescan, inconsistent, simple mode
)

// quotaItem decodes an item of the quota tree (btrfs_read_qgroup_config). The objectid is 0, except
// for a relation. A relation has two items: the objectid of each is the offset of the other.
func (d *decoder) quotaItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t := &ondisk.ItemTypes[kind]
	bad := func(off int, format string, args ...any) error {
		return violatedAt(itemRule, r.Addr()+uint64(off), t.Name+": "+format, args...)
	}
	size := 0
	if t.Layout != nil {
		size = t.Layout.Size
	}
	// Linux 6.7 added enable_gen to the status.
	const enableGenSize = 8
	if r.Len() != size && (kind != ondisk.KindQgroupStatus || r.Len() != size+enableGenSize) {
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
			return bad(ondisk.QgroupStatusVersionAt, "version is %d, want %d",
				version, qgroupStatusVersion)
		case generation > d.ctx.generation:
			return bad(ondisk.QgroupStatusGenerationAt, "generation is %d, the superblock's is %d",
				generation, d.ctx.generation)
		case flags&^qgroupStatusFlags != 0:
			return bad(ondisk.QgroupStatusFlagsAt, "flags is %#x, unknown are %#x",
				flags, flags&^qgroupStatusFlags)
		}
	case ondisk.KindQgroupInfo:
		info, _ := ondisk.ViewQgroupInfo(r)
		if generation := info.Generation(); generation > d.ctx.generation {
			return bad(ondisk.QgroupInfoGenerationAt, "generation is %d, the superblock's is %d",
				generation, d.ctx.generation)
		}
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	if t.Layout == nil {
		return nil
	}
	return d.structure(t.Layout, r, size)
}
