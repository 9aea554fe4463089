package ondisk

// The index of a directory: struct dx_root and dx_node in the kernel's fs/ext4/namei.c.
const (
	IndexRootInfo    = 24 // after the entries . and .., each with 12 bytes
	IndexInfoLen     = 8
	IndexRootEntries = IndexRootInfo + IndexInfoLen
	IndexNodeEntries = DirentLen // after an empty entry that spans the block
	IndexMaxLevels   = 1         // more needs the feature large_dir
	IndexMaxHash     = 0xfffffffe
)
