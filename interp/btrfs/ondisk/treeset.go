package ondisk

// treeSet is a set of the classes of trees.
type treeSet uint16

const (
	InRoot treeSet = 1 << iota
	InExtent
	InChunk
	InDev
	InFile // file trees, and the trees that balance uses
	InCsum
	InQuota
	InUUID
	InFreeSpace
	InBlockGroup
	InLog // the log root tree, and the logs of subvolumes
)

// ClassOf returns the class of a tree, or 0 if the tree is unknown.
func ClassOf(tree uint64) treeSet {
	switch tree {
	case RootTreeID:
		return InRoot
	case ExtentTreeID:
		return InExtent
	case ChunkTreeID:
		return InChunk
	case DevTreeID:
		return InDev
	case CsumTreeID:
		return InCsum
	case QuotaTreeID:
		return InQuota
	case UUIDTreeID:
		return InUUID
	case FreeSpaceTreeID:
		return InFreeSpace
	case BlockGroupTreeID:
		return InBlockGroup
	case DataRelocTreeID, TreeRelocID:
		return InFile
	case TreeLogID:
		return InLog
	}
	if IsFileTree(tree) {
		return InFile
	}
	return 0
}

// IsFileTree reports whether a tree holds files and directories: the top level or a subvolume. An
// ID with a bit in the upper 16 belongs to a quota group (btrfs_is_fstree).
func IsFileTree(id uint64) bool {
	return id == FSTreeID || id >= FirstFreeID && id>>48 == 0
}
