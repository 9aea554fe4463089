package ondisk

import "fsward/change"

// A Structure is the layout of a structure of linux/btrfs_tree.h. It drives decoding, differencing
// and the corrupter. A test compares it with the header.
type Structure struct {
	Name       string // in C
	Size       int
	Fields     []Member // in change records, or answered by the View
	Unrecorded []Member // neither in change records nor answered by the View
}

// A Member is a member of a structure. A member of DiskKeySize bytes is a btrfs_disk_key. A member
// of UUIDSize bytes is a UUID; its value is the key under which the uuid tree files the UUID.
type Member struct {
	Name       string // in C
	Off, Width int
	Field      change.Field // 0: no field of its own
	ViewOnly   bool         // the View answers it, change records omit it (thesis 4.3.1)
	Words      []change.WordID
	Parts      []BitField
	Kind       change.Kind // of a UUID: the kind of its key in the uuid tree
}

// A BitField is a group of bits of a member that is a field of its own.
type BitField struct {
	Field    change.Field
	Mask     uint64
	Shift    uint
	ViewOnly bool
	Words    []change.WordID
}
