package ondisk

import "fsward/change"

// A Structure is the layout of a structure of linux/btrfs_tree.h. It drives decoding, differencing
// and the corrupter; a test holds it against the header.
type Structure struct {
	Name       string // in C
	Size       int
	Fields     []Member // change records have them, or the View answers them
	Unrecorded []Member // no change record has them
}

// A Member is a member of a structure. With width DiskKeySize it is a btrfs_disk_key, with width
// UUIDSize a UUID: its value is the key of the items of the uuid tree that are about it.
type Member struct {
	Name       string // in C
	Off, Width int
	Field      change.Field // 0: no field of its own
	ViewOnly   bool         // the View answers it, but its changes make no record (thesis 4.3.1)
	Words      []change.WordID
	Parts      []BitField
	Kind       change.Kind // of the key that stands for a UUID
}

// A BitField is a group of bits of a member that is a field by itself.
type BitField struct {
	Field    change.Field
	Mask     uint64
	Shift    uint
	ViewOnly bool
	Words    []change.WordID
}
