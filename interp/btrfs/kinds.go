package btrfs

import "fsward/change"

// The kinds of objects, in the order of the key types, so that objects sort as keys do.
const (
	kindFreeSpaceHeader change.Kind = iota + 1
	kindInodeItem
	kindInodeRef
	kindInodeExtref
	kindXattrItem
	kindVerityDesc
	kindVerityMerkle
	kindOrphanItem
	kindDirLogItem
	kindDirLogIndex
	kindDirItem
	kindDirIndex
	kindExtentData
	kindExtentCsum
	kindRootItem
	kindRootBackref
	kindRootRef
	kindExtentItem
	kindMetadataItem
	kindExtentOwnerRef
	kindTreeBlockRef
	kindExtentDataRef
	kindSharedBlockRef
	kindSharedDataRef
	kindBlockGroupItem
	kindFreeSpaceInfo
	kindFreeSpaceExtent
	kindFreeSpaceBitmap
	kindDevExtent
	kindDevItem
	kindChunkItem
	kindQgroupStatus
	kindQgroupInfo
	kindQgroupLimit
	kindQgroupRelation
	kindTemporaryItem
	kindPersistentItem
	kindDevReplace
	kindUUIDSubvol
	kindUUIDReceived
	kindSuperBlock // has no key: it is the one object of tree 0
	// What is no item of its own.
	kindChunkStripe  // in a chunk_item
	kindFreeSpaceRun // in a free_space_bitmap
	kindTreeBlock
	kindBlockPointers
	kindFreeSpace
	kindBlock
	kindCount
)

// treeSet is a set of the classes of trees.
type treeSet uint16

const (
	inRoot treeSet = 1 << iota
	inExtent
	inChunk
	inDev
	inFile // file trees, and those that balance uses
	inCsum
	inQuota
	inUUID
	inFreeSpace
	inBlockGroup
	inLog // the log root tree, and the logs of subvolumes
)

// classOf returns the class of a tree; 0 if it is none that is known.
func classOf(tree uint64) treeSet {
	switch tree {
	case rootTreeID:
		return inRoot
	case extentTreeID:
		return inExtent
	case chunkTreeID:
		return inChunk
	case devTreeID:
		return inDev
	case csumTreeID:
		return inCsum
	case quotaTreeID:
		return inQuota
	case uuidTreeID:
		return inUUID
	case freeSpaceTreeID:
		return inFreeSpace
	case blockGroupTreeID:
		return inBlockGroup
	case dataRelocTreeID, treeRelocID:
		return inFile
	case treeLogID:
		return inLog
	}
	if fileTree(tree) {
		return inFile
	}
	return 0
}

// itemType declares what items of a key type are: their objects, the structure at their start, and the
// trees in which they may stand.
type itemType struct {
	typ    uint8
	name   string
	shape  change.Shape
	trees  treeSet
	layout *structure // of the fixed part at the start of the item; nil if this version does not look inside
	extra  []change.Field
	doc    string
}

// itemTypes is indexed by Kind. Some versions of mkfs gave the uuid tree a root directory of its own.
var itemTypes = [kindCount]itemType{
	kindFreeSpaceHeader: {freeSpaceHeaderKey, "free_space_header", change.ShapeKey, inRoot | inFile, &freeSpaceHeaderLayout, nil, "header of a v1 free space cache"},
	kindInodeItem:       {inodeItemKey, "inode_item", change.ShapeKey, inRoot | inFile | inUUID | inLog, &inodeItemLayout, nil, "an inode"},
	kindInodeRef: {inodeRefKey, "inode_ref", change.ShapePair, inRoot | inFile | inUUID | inLog, &inodeRefLayout, []change.Field{fieldName, fieldLink},
		"a name of an inode: k(INODE, inode_ref, a(PARENT, INDEX))"},
	kindInodeExtref: {inodeExtrefKey, "inode_extref", change.ShapePair, inFile | inLog, &inodeExtrefLayout, []change.Field{fieldName, fieldLink},
		"a name of an inode with many names: k(INODE, inode_extref, a(PARENT, INDEX))"},
	kindXattrItem:    {xattrItemKey, "xattr_item", change.ShapeKey, inRoot | inFile | inLog, &dirItemLayout, []change.Field{fieldName}, "an extended attribute: k(INODE, xattr_item, HASH)"},
	kindVerityDesc:   {verityDescKey, "verity_desc_item", change.ShapeKey, inFile, nil, sizeOnly, "fs-verity descriptor"},
	kindVerityMerkle: {verityMerkleKey, "verity_merkle_item", change.ShapeKey, inFile, nil, sizeOnly, "fs-verity Merkle tree"},
	kindOrphanItem:   {orphanItemKey, "orphan_item", change.ShapeKey, inRoot | inFile, nil, nil, "an inode or tree without a name: k(-5, orphan_item, ID)"},
	kindDirLogItem:   {dirLogItemKey, "dir_log_item", change.ShapeKey, inLog, &dirLogLayout, nil, "hashes of a directory that a log has all entries of: k(DIR, dir_log_item, FIRST)"},
	kindDirLogIndex:  {dirLogIndexKey, "dir_log_index", change.ShapeKey, inLog, &dirLogLayout, nil, "indexes of a directory that a log has all entries of: k(DIR, dir_log_index, FIRST)"},
	kindDirItem:      {dirItemKey, "dir_item", change.ShapeKey, inRoot | inFile | inLog, &dirItemLayout, []change.Field{fieldName, fieldLink}, "a directory entry by hash: k(DIR, dir_item, HASH)"},
	kindDirIndex:     {dirIndexKey, "dir_index", change.ShapeKey, inRoot | inFile | inLog, &dirItemLayout, []change.Field{fieldName, fieldLink}, "a directory entry by index: k(DIR, dir_index, INDEX)"},
	kindExtentData:   {extentDataKey, "extent_data", change.ShapeKey, inRoot | inFile | inLog, &fileExtentLayout, []change.Field{fieldNBytes, fieldEndOffset, fieldBackref, fieldLeaf}, "data of a file: k(INODE, extent_data, OFFSET)"},
	kindExtentCsum:   {extentCsumKey, "extent_csum", change.ShapeKey, inCsum | inLog, nil, []change.Field{fieldNSums}, "checksums of data: k(-10, extent_csum, BYTENR)"},
	kindRootItem:     {rootItemKey, "root_item", change.ShapeKey, inRoot | inLog, &rootItemLayout, nil, "a tree: k(TREE, root_item, OFFSET)"},
	kindRootBackref:  {rootBackrefKey, "root_backref", change.ShapeKey, inRoot, &rootRefLayout, []change.Field{fieldName, fieldLink}, "a subvolume's parent: k(TREE, root_backref, PARENT)"},
	kindRootRef:      {rootRefKey, "root_ref", change.ShapeKey, inRoot, &rootRefLayout, []change.Field{fieldName, fieldLink}, "a tree's subvolume: k(PARENT, root_ref, TREE)"},
	kindExtentItem:   {extentItemKey, "extent_item", change.ShapeKey, inExtent, &extentItemLayout, []change.Field{fieldFullBackref, fieldLevel, fieldChunk}, "an extent in use: k(BYTENR, extent_item, LENGTH)"},
	kindMetadataItem: {metadataItemKey, "metadata_item", change.ShapeKey, inExtent, &extentItemLayout, []change.Field{fieldFullBackref, fieldLevel, fieldChunk}, "a metadata block in use, nodesize long: k(BYTENR, metadata_item, LEVEL)"},
	kindExtentOwnerRef: {extentOwnerRefKey, "extent_owner_ref", change.ShapeKey, 0, nil, []change.Field{fieldRoot},
		"the tree that made an extent, kept by simple quotas: k(BYTENR, extent_owner_ref, ROOT)"},
	kindTreeBlockRef: {treeBlockRefKey, "tree_block_ref", change.ShapeKey, inExtent, nil, []change.Field{fieldRoot}, "a tree that owns a block: k(BYTENR, tree_block_ref, ROOT)"},
	kindExtentDataRef: {extentDataRefKey, "extent_data_ref", change.ShapeKey, inExtent, &extentDataRefLayout, nil,
		"a file that uses an extent: k(BYTENR, extent_data_ref, HASH)"},
	kindSharedBlockRef:  {sharedBlockRefKey, "shared_block_ref", change.ShapeKey, inExtent, nil, []change.Field{fieldParent}, "a block that points to a block: k(BYTENR, shared_block_ref, PARENT)"},
	kindSharedDataRef:   {sharedDataRefKey, "shared_data_ref", change.ShapeKey, inExtent, &sharedDataRefLayout, []change.Field{fieldParent}, "a leaf that uses an extent: k(BYTENR, shared_data_ref, PARENT)"},
	kindBlockGroupItem:  {blockGroupItemKey, "block_group_item", change.ShapeKey, inExtent | inBlockGroup, &blockGroupLayout, nil, "a block group: k(START, block_group_item, LENGTH)"},
	kindFreeSpaceInfo:   {freeSpaceInfoKey, "free_space_info", change.ShapeKey, inFreeSpace, &freeSpaceInfoLayout, nil, "free space of a block group: k(START, free_space_info, LENGTH)"},
	kindFreeSpaceExtent: {freeSpaceExtentKey, "free_space_extent", change.ShapeKey, inFreeSpace, nil, []change.Field{fieldChunk}, "free space: k(START, free_space_extent, LENGTH)"},
	kindFreeSpaceBitmap: {freeSpaceBitmapKey, "free_space_bitmap", change.ShapeKey, inFreeSpace, nil, []change.Field{fieldSize, fieldFree, fieldFirst, fieldLast, fieldChunk},
		"free space as bits: k(START, free_space_bitmap, LENGTH); free is how many are set, first and last are the outermost"},
	kindDevExtent:      {devExtentKey, "dev_extent", change.ShapeKey, inDev, &devExtentLayout, nil, "space of a device in use: k(DEVICE, dev_extent, START)"},
	kindDevItem:        {devItemKey, "dev_item", change.ShapeKey, inChunk, &devItemLayout, nil, "a device: k(1, dev_item, DEVICE)"},
	kindChunkItem:      {chunkItemKey, "chunk_item", change.ShapeKey, inChunk, &chunkLayout, nil, "a chunk: k(256, chunk_item, LOGICAL)"},
	kindQgroupStatus:   {qgroupStatusKey, "qgroup_status", change.ShapeKey, inQuota, &qgroupStatusLayout, nil, "state of quota: k(0, qgroup_status, 0)"},
	kindQgroupInfo:     {qgroupInfoKey, "qgroup_info", change.ShapeKey, inQuota, &qgroupInfoLayout, nil, "use of a quota group: k(0, qgroup_info, QGROUP)"},
	kindQgroupLimit:    {qgroupLimitKey, "qgroup_limit", change.ShapeKey, inQuota, &qgroupLimitLayout, nil, "limits of a quota group: k(0, qgroup_limit, QGROUP)"},
	kindQgroupRelation: {qgroupRelationKey, "qgroup_relation", change.ShapeKey, inQuota, nil, nil, "a quota group and a member of it, written both ways: k(QGROUP, qgroup_relation, QGROUP)"},
	kindTemporaryItem:  {temporaryItemKey, "temporary_item", change.ShapeKey, inRoot, nil, sizeOnly, "state of a running balance"},
	kindPersistentItem: {persistentItemKey, "persistent_item", change.ShapeKey, inDev, nil, sizeOnly, "device statistics"},
	kindDevReplace:     {devReplaceKey, "dev_replace", change.ShapeKey, inDev, nil, sizeOnly, "state of a device replacement"},
	kindUUIDSubvol:     {uuidSubvolKey, "uuid_key_subvol", change.ShapeKey, inUUID, nil, []change.Field{fieldRoot}, "a subvolume with a UUID: k(FIRST, uuid_key_subvol, SECOND), the halves of the UUID"},
	kindUUIDReceived:   {uuidReceivedKey, "uuid_key_received_subvol", change.ShapeKey, inUUID, nil, []change.Field{fieldRoot}, "a received subvolume with a UUID of where it came from"},
	kindSuperBlock: {0, "super_block", change.ShapeKey, 0, &superLayout, []change.Field{fieldLogOf},
		"the superblock: k(0, super_block, 0) of tree 0; while a log is judged, log_of is the subvolume that it is of"},
	kindTreeBlock: {0, "tree_block", change.ShapeKey, 0, nil, []change.Field{fieldParent, fieldOwner, fieldLevel},
		"a tree leads to a block: k(BLOCK, tree_block, TREE) of tree -1, with the block that points to it (0: none) and that one's owner; only where all is known"},
	kindBlockPointers: {0, "block_pointers", change.ShapeKey, 0, nil, []change.Field{fieldCount},
		"how often a block points to a block or extent: k(BLOCK, block_pointers, BYTENR) of tree -1, where BLOCK is known"},
	kindChunkStripe: {chunkItemKey, "chunk_stripe", change.ShapePair, inChunk, nil, []change.Field{fieldDevID, fieldOffset},
		"where a copy or part of a chunk lies: k(256, chunk_stripe, a(LOGICAL, N)) of tree 3, N from 0"},
	kindFreeSpaceRun: {freeSpaceBitmapKey, "free_space_run", change.ShapePair, inFreeSpace, nil, []change.Field{fieldEndOffset, fieldChunk},
		"bits of a free_space_bitmap that are set and next to each other: k(BITMAP, free_space_run, a(LENGTH, FROM)), with the key of the bitmap, FROM and end as addresses"},
	kindBlock: {0, "block", change.ShapeKey, 0, nil, []change.Field{fieldLevel, fieldOwner, fieldGeneration, fieldReloc},
		"a block of metadata that can be read, and what its header says: k(BLOCK, block, 0) of tree -1"},
	kindFreeSpace: {0, "free_space", change.ShapeKey, 0, nil, nil,
		"a part of LENGTH bytes from START is free: k(START, free_space, LENGTH) of tree -1, by the tree of free space"},
}

var sizeOnly = []change.Field{fieldSize}

// sharesKey tells whether objects of a kind can have a key in common.
func sharesKey(k change.Kind) bool {
	switch k {
	case kindXattrItem, kindDirItem, kindExtentDataRef, kindUUIDSubvol, kindUUIDReceived:
		return true
	}
	return false
}

// superObject is the superblock.
var superObject = change.Object{Kind: kindSuperBlock}

// kindByType maps a key type to its kind; 0 for types that are not known.
var kindByType = func() (m [256]change.Kind) {
	for k := kindFreeSpaceHeader; k < kindSuperBlock; k++ {
		m[itemTypes[k].typ] = k
	}
	return m
}()

// itemTypeOf returns the declaration of a key type, or nil.
func itemTypeOf(typ uint8) *itemType {
	if k := kindByType[typ]; k != 0 {
		return &itemTypes[k]
	}
	return nil
}

// Schema declares the objects and fields in the records of Btrfs.
func Schema() *change.Schema { return schema }

var schema = func() *change.Schema {
	s := &change.Schema{FS: fsName, Kinds: make([]change.KindInfo, kindCount), Fields: fieldNames[:], Words: words[:]}
	for k := kindFreeSpaceHeader; k < kindCount; k++ {
		t := &itemTypes[k]
		info := change.KindInfo{Name: t.name, Shape: t.shape, Unique: t.shape == change.ShapeKey && !sharesKey(k), Doc: t.doc}
		if t.layout != nil {
			for _, f := range t.layout.fields {
				if f.field != 0 {
					info.Fields = append(info.Fields, f.field)
				}
				for _, p := range f.parts {
					info.Fields = append(info.Fields, p.field)
				}
			}
		}
		info.Fields = append(info.Fields, t.extra...)
		s.Kinds[k] = info
	}
	return s
}()
