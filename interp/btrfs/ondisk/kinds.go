package ondisk

import "fsward/change"

// The kinds of objects, in the order of the key types, so that objects sort as keys do.
const (
	KindFreeSpaceHeader change.Kind = iota + 1
	KindInodeItem
	KindInodeRef
	KindInodeExtref
	KindXattrItem
	KindVerityDesc
	KindVerityMerkle
	KindOrphanItem
	KindDirLogItem
	KindDirLogIndex
	KindDirItem
	KindDirIndex
	KindExtentData
	KindExtentCsum
	KindRootItem
	KindRootBackref
	KindRootRef
	KindExtentItem
	KindMetadataItem
	KindExtentOwnerRef
	KindTreeBlockRef
	KindExtentDataRef
	KindSharedBlockRef
	KindSharedDataRef
	KindBlockGroupItem
	KindFreeSpaceInfo
	KindFreeSpaceExtent
	KindFreeSpaceBitmap
	KindDevExtent
	KindDevItem
	KindChunkItem
	KindQgroupStatus
	KindQgroupInfo
	KindQgroupLimit
	KindQgroupRelation
	KindTemporaryItem
	KindPersistentItem
	KindDevReplace
	KindUUIDSubvol
	KindUUIDReceived
	KindSuperBlock // has no key: it is the only object of tree 0
	// The kinds below are not items.
	KindChunkStripe  // part of a chunk_item
	KindFreeSpaceRun // part of a free_space_bitmap
	KindTreeBlock
	KindBlockPointers
	KindFreeSpace
	KindBlock
	KindCount
)
